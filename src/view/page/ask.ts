import { useEffect, useRef, useState } from "preact/hooks";
import type { Answer, Trouble } from "../wire.ts";
import { useLive } from "./live.ts";

export type Params = Readonly<Record<string, string | undefined>>;

/** An answer as it stands; the last one stays while the next is on its way. */
export interface Asked<T> {
  readonly answer: Answer<T> | undefined;
  /** What the answer was asked with. */
  readonly of: string;
}

/** Asks the server, and again whenever the store has changed. */
export function useAsked<T extends { readonly kind: string }>(path: string, params: Params): Asked<T> {
  const address = addressOf(path, params);
  const [state, setState] = useState<Asked<T>>({ answer: undefined, of: address });
  const tag = useRef<{ readonly address: string; readonly etag: string } | undefined>(undefined);
  const nextMs = useRef(0);
  const change = useLive();

  useEffect(() => {
    const control = new AbortController();
    const isNew = state.of !== address || state.answer === undefined;
    // A store that changes all the time is asked as often as answering leaves most of the time for other work
    const waitMs = isNew ? 0 : Math.max(0, nextMs.current - performance.now());
    const timer = setTimeout(async () => {
      const startMs = performance.now();
      const etag = tag.current?.address === address ? tag.current.etag : undefined;
      const found = await ask<T>(address, control.signal, etag);
      if (control.signal.aborted || found === undefined) return;
      nextMs.current = performance.now() + Math.max(MIN_PAUSE_MS, (performance.now() - startMs) * PAUSES);
      if (found === "as it was") return;
      tag.current = found.etag === null ? undefined : { address, etag: found.etag };
      setState({ answer: found.answer, of: address });
    }, waitMs);
    return () => {
      clearTimeout(timer);
      control.abort();
    };
  }, [address, change]);

  return state;
}

/** Asks once. @returns `undefined` when `signal` was aborted */
export async function askOnce<T>(path: string, params: Params, signal: AbortSignal): Promise<Answer<T> | undefined> {
  const found = await ask<T>(addressOf(path, params), signal);
  return found === undefined || found === "as it was" ? undefined : found.answer;
}

// --- internal ---

const MIN_PAUSE_MS = 1000;
const PAUSES = 5;

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
  message: "The program behind this page has ended. Run openhook-otel view and open the link it prints.",
};
