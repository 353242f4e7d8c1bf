import { shortCount } from "#kit/text/amounts.ts";
import type { ExplanationDocument } from "../../wire/documents.ts";
import { dollars } from "../text/format.ts";
import { type Spans, spanAt } from "./spans.ts";

type Miss = ExplanationDocument["cacheMisses"][number];

/** The tokens, what they cost more than from the cache, and why. */
export const missText = ({ cause, tokens, cost_usd }: Miss): string =>
  `${shortCount(tokens)} tokens${cost_usd === null ? "" : `, ${dollars(cost_usd)} more`}: ${cause}`;

/** The calls that did not read the beginning of their prompt from the cache, each with its turn and a link to its row. */
export function CacheMisses({
  of,
  spans,
  onSelect,
}: {
  readonly of: readonly Miss[];
  readonly spans: Spans;
  readonly onSelect: (span: string) => void;
}) {
  if (of.length === 0) return null;
  return (
    <section class="cache-misses">
      <h3>Not read from the cache</h3>
      <ol>
        {of.slice(0, MAX_SHOWN).map((miss) => {
          const span = spanAt(spans, "model_call", miss);
          const text = `${miss.turn > 0 ? `Turn ${miss.turn}: ` : ""}${missText(miss)}`;
          return (
            <li key={`${miss.startMs} ${miss.ms} ${miss.tokens}`}>
              {span < 0 ? (
                text
              ) : (
                <button type="button" class="link" onClick={() => onSelect(spans.idOf(span))}>
                  {text}
                </button>
              )}
              {miss.evidence === "" ? null : <span class="muted">, {miss.evidence}</span>}
            </li>
          );
        })}
      </ol>
      {of.length > MAX_SHOWN ? <p class="muted">and more</p> : null}
    </section>
  );
}

// --- internal ---

const MAX_SHOWN = 10;
