import { useEffect, useMemo, useState } from "preact/hooks";
import { fetchOnce } from "../../data/api.ts";
import type { Spans } from "../spans.ts";
import { type AttributeMatches, findSpans, readMatches } from "./find.ts";

/**
 * The matches of a search: those that the page knows immediately, those in attributes as soon as the server has searched them.
 *
 * @returns `undefined` without a search
 */
export function useSearch(source: string, id: string, spans: Spans, search: string): Uint8Array | undefined {
  const [matches, setMatches] = useState<AttributeMatches>(NONE);
  useEffect(() => {
    if (search === "") return setMatches(NONE);
    const control = new AbortController();
    const timer = setTimeout(() => {
      void fetchOnce("search", { source, id, text: search }, control.signal).then((fetched) => {
        if (fetched?.data !== undefined) setMatches(readMatches(fetched.data, spans));
      });
    }, DEBOUNCE_MS);
    return () => {
      clearTimeout(timer);
      control.abort();
    };
  }, [source, id, spans, search]);
  return useMemo(() => (search === "" ? undefined : findSpans(spans, search, matches)), [spans, search, matches]);
}

// --- internal ---

const NONE: AttributeMatches = new Map();
const DEBOUNCE_MS = 200;
