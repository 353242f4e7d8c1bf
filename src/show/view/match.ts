import type { SpanDocument } from "./wire/spans.ts";

/** The parts of a span that a search reads. */
type SearchedSpan = Pick<SpanDocument, "traceId" | "spanId" | "attributes" | "events">;

/**
 * Whether a span has an attribute whose name or value contains the term, case-insensitively; `name=value` compares both parts. Its own id
 * and its trace's id match too.
 *
 * @param term in lower case
 */
export function matchesTerm({ traceId, spanId, attributes, events }: SearchedSpan, term: string): boolean {
  if (term === spanId || term === traceId) return true;
  return [attributes, ...events.map((event) => event.attributes)].some((all) => hasMatch(all, term));
}

/** The words of a search; each must match. In lower case. */
export const termsOf = (search: string): readonly string[] => [
  ...new Set(
    search
      .toLowerCase()
      .split(/\s+/)
      .filter((word) => word !== ""),
  ),
];

// --- internal ---

function hasMatch(attributes: SearchedSpan["attributes"], term: string): boolean {
  const equals = term.indexOf("=");
  const [name, value] = [term.slice(0, equals), term.slice(equals + 1)];
  for (const [key, content] of Object.entries(attributes)) {
    const text = String(content).toLowerCase();
    if (text.includes(term) || key.toLowerCase().includes(term)) return true;
    if (equals > 0 && key.toLowerCase().includes(name) && text.includes(value)) return true;
  }
  return false;
}
