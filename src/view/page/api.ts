import { useEffect, useState } from "preact/hooks";
import { type ApiError, type ApiResponse, HAS_MORE } from "../wire.ts";
import { command } from "./command.ts";
import { EXPORTED, exportedResponse } from "./exported.ts";
import { onChange } from "./live.ts";

export type Params = Readonly<Record<string, string | undefined>>;

/**
 * Fetches data, and again whenever the store has changed. One request at a time: a change during a request triggers another one after it.
 * Aborting instead would show nothing of a store that changes faster than it can be read.
 *
 * @returns the latest response, also while the next request is running; `undefined` before the first one
 */
export function useApi<T extends { readonly kind: string }>(path: string, params: Params): ApiResponse<T> | undefined {
  const url = urlOf(path, params);
  const [response, setResponse] = useState<ApiResponse<T> | undefined>(undefined);

  useEffect(() => {
    const control = new AbortController();
    const { signal } = control;
    let etag: string | undefined;
    let isStale = true;
    let isFetching = false;
    const refresh = async (): Promise<void> => {
      isFetching = true;
      while (isStale && !signal.aborted) {
        isStale = false;
        const startMs = performance.now();
        const result = await fetchJson<T>(url, signal, etag);
        if (signal.aborted || result === undefined) return;
        if (result !== "not modified") {
          etag = result.etag ?? undefined;
          setResponse(result.response);
        }
        if (result !== "not modified" && result.hasMore) {
          isStale = true;
          continue;
        }
        // If the store changes all the time, leave most of the time for other work
        await pause(Math.max(MIN_PAUSE_MS, (performance.now() - startMs) * PAUSE_FACTOR));
      }
      isFetching = false;
    };
    const unsubscribe = onChange(() => {
      isStale = true;
      if (!isFetching) void refresh();
    });
    void refresh();
    return () => {
      unsubscribe();
      control.abort();
    };
  }, [url]);

  return response;
}

/** The address of data below the page's. */
export const urlOf = (path: string, params: Params): string => {
  const query = new URLSearchParams(
    Object.entries(params).filter((pair): pair is [string, string] => pair[1] !== undefined && pair[1] !== ""),
  );
  return `api/${path}?${query}`;
};

/** Fetches once. @returns `undefined` if `signal` was aborted */
export async function fetchOnce<T>(
  path: string,
  params: Params,
  signal: AbortSignal,
): Promise<ApiResponse<T> | undefined> {
  const result = await fetchJson<T>(urlOf(path, params), signal);
  return result === undefined || result === "not modified" ? undefined : result.response;
}

// --- internal ---

const MIN_PAUSE_MS = 1000;
/** A pause lasts this many times as long as the request before it. */
const PAUSE_FACTOR = 5;

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

interface Fetched<T> {
  readonly response: ApiResponse<T>;
  readonly etag: string | null;
  /** The next response has titles that are missing in this one. */
  readonly hasMore: boolean;
}

const LAST = { etag: null, hasMore: false } as const;

async function fetchJson<T>(
  url: string,
  signal: AbortSignal,
  etag?: string,
): Promise<Fetched<T> | "not modified" | undefined> {
  if (EXPORTED !== undefined) return { ...LAST, response: exportedResponse(EXPORTED, url) as ApiResponse<T> };
  try {
    const response = await fetch(url, { signal, headers: etag === undefined ? {} : { "if-none-match": etag } });
    if (response.status === 304) return "not modified";
    if (response.status === 401) return { ...LAST, response: STOPPED };
    const { headers } = response;
    const hasMore = headers.has(HAS_MORE);
    return { response: (await response.json()) as ApiResponse<T>, etag: headers.get("etag"), hasMore };
  } catch {
    return signal.aborted ? undefined : { ...LAST, response: STOPPED };
  }
}

const STOPPED: ApiError = {
  kind: "error",
  code: "E_STOPPED",
  message: `The server of this page has stopped. Run ${command("view")} and open the link that it prints.`,
};
