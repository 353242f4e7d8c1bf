import type { ComponentChildren } from "preact";
import type { SessionRow, Sums } from "../wire.ts";
import { dollars, exact, leastDollars, preciseDollars, shortCount } from "./format.ts";
import { safeText } from "./safe-text.ts";

/** A number of tokens; `null` is shown as “unknown”, a lower bound with “≥”. */
export function Tokens({ n, isLowerBound = false }: { n: number | null; isLowerBound?: boolean }) {
  if (n === null) return <Unknown />;
  return (
    <span title={`${isLowerBound ? "at least " : ""}${exact(n)}`}>
      {isLowerBound ? "≥ " : ""}
      {shortCount(n)}
    </span>
  );
}

/** Cost at list price; `null` is shown as “unknown”, a lower bound with “≥”. */
export function Cost({ nanoUsd, isLowerBound = false }: { nanoUsd: number | null; isLowerBound?: boolean }) {
  if (nanoUsd === null) return <Unknown />;
  return <span title={preciseDollars(nanoUsd)}>{isLowerBound ? leastDollars(nanoUsd, " ") : dollars(nanoUsd)}</span>;
}

/** Tokens in and out, as one figure. */
export function InOut({ sums }: { sums: Sums }) {
  if (sums.input === null && sums.output === null) return <Unknown />;
  return (
    <span class="inout">
      <Tokens n={sums.input} isLowerBound={sums.inputIsLowerBound} />
      <span class="arrow" aria-hidden="true">
        →
      </span>
      <span class="sr"> in, </span>
      <Tokens n={sums.output} isLowerBound={sums.outputIsLowerBound} />
      <span class="sr"> out</span>
    </span>
  );
}

/** Marks sessions that are open, failed, or have no record of their end. */
export function EndBadge({ end: { state, text } }: { end: SessionRow["end"] }) {
  if (state === "ended") return null;
  return <span class={`badge ${state}`}>{state === "unreported" ? "no end record" : safeText(text)}</span>;
}

/** A large figure with its name and a note below. */
export function Tile({
  name,
  children,
  note,
}: {
  name: string;
  children: ComponentChildren;
  note?: ComponentChildren;
}) {
  return (
    <div class="tile">
      <dt>{name}</dt>
      <dd>
        <span class="figure">{children}</span>
        {note === undefined || note === null ? null : <span class="note">{note}</span>}
      </dd>
    </div>
  );
}

export const Unknown = () => <span class="unknown">unknown</span>;
