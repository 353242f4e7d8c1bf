import { termsOf } from "../../../match.ts";
import { type SearchDocument, SPAN_ID_LENGTH, SPAN_KINDS } from "../../../wire/spans.ts";
import type { Spans } from "../spans.ts";

/** Matches in the attributes, which the server searches; one set of ids per term. */
export type AttributeMatches = ReadonlyMap<string, ReadonlySet<number>>;

/** The server's response as indexes of spans. */
export const readMatches = ({ terms }: SearchDocument, spans: Spans): AttributeMatches =>
  new Map(
    terms.map(({ term, ids }) => {
      const found = new Set<number>();
      for (let at = 0; at < ids.length; at += SPAN_ID_LENGTH) {
        found.add(spans.indexOf(ids.slice(at, at + SPAN_ID_LENGTH)));
      }
      return [term, found];
    }),
  );

/**
 * For each span whether it matches every term of a search: by its state (`error`, `failed`, `denied`, `unfinished`, `running`), its label,
 * its detail, its kind or its attributes.
 */
export function findSpans(spans: Spans, search: string, attributes: AttributeMatches): Uint8Array {
  const hits = new Uint8Array(spans.count).fill(1);
  for (const term of termsOf(search)) {
    const isState = STATES[term];
    const texts = spans.strings.map((text) => text.toLowerCase().includes(term));
    const kinds = SPAN_KINDS.map((kind) => kind.replace("_", " ").includes(term));
    const others = attributes.get(term);
    for (let i = 0; i < spans.count; i++) {
      if (hits[i] === 0) continue;
      const isHit =
        isState?.(spans, i) === true ||
        spans.hasText(i, texts) ||
        kinds[SPAN_KINDS.indexOf(spans.kindOf(i))] === true ||
        others?.has(i) === true;
      if (!isHit) hits[i] = 0;
    }
  }
  return hits;
}

// --- internal ---

const isFailed = (spans: Spans, i: number): boolean => spans.isFailed(i);

const STATES: Readonly<Record<string, (spans: Spans, i: number) => boolean>> = {
  error: isFailed,
  errors: isFailed,
  failed: isFailed,
  failure: isFailed,
  failures: isFailed,
  denied: (spans, i) => spans.has(i, "denied"),
  unfinished: (spans, i) => spans.has(i, "unfinished"),
  running: (spans, i) => spans.has(i, "open"),
  open: (spans, i) => spans.has(i, "open"),
};
