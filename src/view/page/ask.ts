import { useEffect, useState } from "preact/hooks";
import type { Answer, Trouble } from "../wire.ts";
import { command } from "./command.ts";
import { onChange } from "./live.ts";

export type Params = Readonly<Record<string, string | undefined>>;

/** The latest answer; it stays while the next request is running. */
export interface Asked<T> {
  readonly answer: Answer<T> | undefined;
  /** The request that was answered. */
  readonly of: string;
}

/**
 * Fetches data, and again whenever the store has changed. One request at a time: a change during a request is handled after it, otherwise
 * a store that changes faster than it can be read would never be shown.
 */
export function useAsked<T extends { readonly kind: string }>(path: string, params: Params): Asked<T> {
  const address = addressOf(path, params);
  const [state, setState] = useState<Asked<T>>({ answer: undefined, of: address });

  useEffect(() => {
    const control = new AbortController();
    const { signal } = control;
    let etag: string | undefined;
    let isWanted = true;
    let isAsking = false;
    const work = async (): Promise<void> => {
      isAsking = true;
      while (isWanted && !signal.aborted) {
        isWanted = false;
        const startMs = performance.now();
        const found = await ask<T>(address, signal, etag);
        if (signal.aborted || found === undefined) return;
        if (found !== "as it was") {
          etag = found.etag ?? undefined;
          setState({ answer: found.answer, of: address });
        }
        // For a store that changes all the time, most of the time is left for other work
        await pause(Math.max(MIN_PAUSE_MS, (performance.now() - startMs) * PAUSES));
      }
      isAsking = false;
    };
    const stop = onChange(() => {
      isWanted = true;
      if (!isAsking) void work();
    });
    void work();
    return () => {
      stop();
      control.abort();
    };
  }, [address]);

  return state;
}

/** Fetches once. @returns `undefined` if `signal` was aborted */
export async function askOnce<T>(path: string, params: Params, signal: AbortSignal): Promise<Answer<T> | undefined> {
  const found = await ask<T>(addressOf(path, params), signal);
  return found === undefined || found === "as it was" ? undefined : found.answer;
}

// --- internal ---

const MIN_PAUSE_MS = 1000;
const PAUSES = 5;

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

const addressOf = (path: string, params: Params): string => {
  const query = new URLSearchParams(
    Object.entries(params).filter((pair): pair is [string, string] => pair[1] !== undefined && pair[1] !== ""),
  );
  return `api/${path}?${query}`;
};

async function ask<T>(
  address: string,
  signal: AbortSignal,
  etag?: string,
): Promise<{ readonly answer: Answer<T>; readonly etag: string | null } | "as it was" | undefined> {
  try {
    const response = await fetch(address, { signal, headers: etag === undefined ? {} : { "if-none-match": etag } });
    if (response.status === 304) return "as it was";
    if (response.status === 401) return { answer: ENDED, etag: null };
    return { answer: (await response.json()) as Answer<T>, etag: response.headers.get("etag") };
  } catch {
    return signal.aborted ? undefined : { answer: ENDED, etag: null };
  }
}

const ENDED: Trouble = {
  kind: "trouble",
  code: "E_ENDED",
  message: `The program that served this page has ended. Run ${command("view")} and open the link that it prints.`,
};
