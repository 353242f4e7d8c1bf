import { useEffect, useState } from "preact/hooks";
import { type ApiError, type ApiResponse, HAS_MORE, type NoStore } from "../../wire/api.ts";
import type { Documents } from "../../wire/documents.ts";
import { type Params, queryOf } from "../route.ts";
import { command, EXPORTED, exportedResponse } from "./exported.ts";
import { onChange } from "./live.ts";

/**
 * Fetches data, and again whenever the store has changed. One request at a time: a change during a request triggers another one after it.
 * Aborting instead would show nothing of a store that changes faster than it can be read.
 *
 * @param params `undefined`: not yet
 * @returns the latest response, also while the next request is running
 */
export function useApi<P extends keyof Documents>(path: P, params: Params | undefined): Fetched<Documents[P]> {
  const url = params && urlOf(path, params);
  const [fetched, setFetched] = useState<Fetched<Documents[P]>>({});

  useEffect(() => {
    if (url === undefined) return;
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
        const reply = await fetchJson<Documents[P]>(url, signal, etag);
        if (signal.aborted || reply === undefined) return;
        if (reply !== "not modified") {
          etag = reply.etag ?? undefined;
          setFetched(dataOrProblem(reply.body));
          if (reply.hasMore) {
            isStale = true;
            continue;
          }
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

  return fetched;
}

/** The address of data below the page's. */
export const urlOf = (path: string, params: Params): string => `api/${path}?${queryOf(params)}`;

/** Fetches once. @returns `undefined` if `signal` was aborted */
export async function fetchOnce<P extends keyof Documents>(
  path: P,
  params: Params,
  signal: AbortSignal,
): Promise<Fetched<Documents[P]> | undefined> {
  const reply = await fetchJson<Documents[P]>(urlOf(path, params), signal);
  return reply === undefined || reply === "not modified" ? undefined : dataOrProblem(reply.body);
}

/** A document, or why there is none; neither before the first response. */
export interface Fetched<T> {
  readonly data?: T;
  readonly problem?: NoStore | ApiError;
}

const dataOrProblem = <T extends { readonly kind: string }>(response: ApiResponse<T>): Fetched<T> =>
  isProblem(response) ? { problem: response } : { data: response };

// --- internal ---

const MIN_PAUSE_MS = 1000;
/** A pause lasts this many times as long as the request before it. */
const PAUSE_FACTOR = 5;

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

interface Reply<T> {
  readonly body: ApiResponse<T>;
  readonly etag: string | null;
  /** The next response has titles or figures that are missing in this one. */
  readonly hasMore: boolean;
}

/** A reply that nothing follows, unless the store changes. */
const LAST = { etag: null, hasMore: false } as const;

async function fetchJson<T>(
  url: string,
  signal: AbortSignal,
  etag?: string,
): Promise<Reply<T> | "not modified" | undefined> {
  if (EXPORTED !== undefined) return { ...LAST, body: exportedResponse(EXPORTED, url) as ApiResponse<T> };
  try {
    const response = await fetch(url, { signal, headers: etag === undefined ? {} : { "if-none-match": etag } });
    if (response.status === 304) return "not modified";
    if (response.status === 401) return { ...LAST, body: STOPPED };
    const { headers } = response;
    const body = (await response.json()) as ApiResponse<T>;
    return { body, etag: headers.get("etag"), hasMore: headers.has(HAS_MORE) };
  } catch {
    return signal.aborted ? undefined : { ...LAST, body: STOPPED };
  }
}

const STOPPED: ApiError = {
  kind: "error",
  code: "E_STOPPED",
  message: `The server of this page has stopped. Run ${command("view")} and open the link that it prints.`,
};

const isProblem = (response: { readonly kind: string }): response is NoStore | ApiError =>
  response.kind === "no-store" || response.kind === "error";
