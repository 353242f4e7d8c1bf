import type { ComponentChildren } from "preact";
import { shortModel } from "#kit/text/model-name.ts";
import type { SessionRow, UsageFigures } from "../../wire/documents.ts";
import {
  dateTime,
  dateTimeExact,
  dollars,
  duration,
  exact,
  leastDollars,
  preciseDollars,
  shortCount,
  timeOfDay,
} from "../text/format.ts";
import { safeText } from "../text/safe-text.ts";

/** What tokens and cost are shown of: figures, or the totals of a session. */
type Amounts = Pick<
  UsageFigures,
  "input" | "output" | "cost_usd" | "inputIsLowerBound" | "outputIsLowerBound" | "costIsLowerBound"
>;

/** Tokens; `null` is shown as “unknown”, a lower bound with “≥”. */
export function Tokens({ n, isLowerBound = false }: { n: number | null; isLowerBound?: boolean }) {
  if (n === null) return <Unknown />;
  return (
    <span title={`${isLowerBound ? "at least " : ""}${exact(n)}`}>
      {isLowerBound ? "≥ " : ""}
      {shortCount(n)}
    </span>
  );
}

export const Input = ({ of }: { of: Amounts }) => <Tokens n={of.input} isLowerBound={of.inputIsLowerBound} />;

export const Output = ({ of }: { of: Amounts }) => <Tokens n={of.output} isLowerBound={of.outputIsLowerBound} />;

/** Tokens in and out, as one figure. */
export function InOut({ of }: { of: Amounts }) {
  if (of.input === null && of.output === null) return <Unknown />;
  return (
    <span class="inout">
      <Input of={of} />
      <span class="arrow" aria-hidden="true">
        →
      </span>
      <span class="sr"> in, </span>
      <Output of={of} />
      <span class="sr"> out</span>
    </span>
  );
}

/** Cost at list price; `null` is shown as “unknown”, a lower bound with “≥”. */
export function Cost({ of }: { of: Pick<Amounts, "cost_usd" | "costIsLowerBound"> }) {
  const { cost_usd, costIsLowerBound } = of;
  if (cost_usd === null) return <Unknown />;
  return (
    <span title={preciseDollars(cost_usd)}>{costIsLowerBound ? leastDollars(cost_usd, " ") : dollars(cost_usd)}</span>
  );
}

/** What limits the figures above, or belongs to them, in sentences. */
export const Notes = ({ of }: { of: readonly string[] }) => (
  <>
    {of.map((text) => (
      <p key={text} class="muted">
        {safeText(text)}
      </p>
    ))}
  </>
);

/** A time, to the minute; the second appears under the pointer. @param isClock without the day */
export const Time = ({ ms, isClock = false }: { ms: number; isClock?: boolean }) => (
  <time dateTime={new Date(ms).toISOString()} title={dateTimeExact(ms)}>
    {isClock ? timeOfDay(ms) : dateTime(ms)}
  </time>
);

/** How long turns and subagents ran; how long the session was open appears under the pointer. @param runningMs since its last activity */
export function AtWork({ row: { work_ms, active_ms }, runningMs = 0 }: { row: SessionRow; runningMs?: number }) {
  return <span title={`open ${duration(active_ms + runningMs)}`}>{duration(work_ms + runningMs)}</span>;
}

/** Marks sessions that are open or failed. Not those without a record of their end: most imported ones have none. */
export function EndBadge({ ending: { state, text } }: Pick<SessionRow, "ending">) {
  if (state === "ended" || state === "unreported") return null;
  return <span class={`badge ${state}`}>{safeText(text)}</span>;
}

/** A large figure with its name and a note below. @param href where the figure leads */
export function Tile({
  name,
  children,
  note,
  href,
}: {
  name: string;
  children: ComponentChildren;
  note?: ComponentChildren;
  href?: string | undefined;
}) {
  return (
    <div class="tile">
      <dt>{name}</dt>
      <dd>
        <span class="figure">{href === undefined ? children : <a href={href}>{children}</a>}</span>
        {note === undefined || note === null ? null : <span class="note">{note}</span>}
      </dd>
    </div>
  );
}

export const Unknown = () => <span class="unknown">unknown</span>;

/** A model without the date in its name, which appears under the pointer. */
export const Model = ({ name }: { name: string }) => (
  <span class="model" title={safeText(name)}>
    {safeText(shortModel(name))}
  </span>
);

/** A name and its value, in a `dl`. */
export const Pair = ({ name, children }: { name: string; children: ComponentChildren }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);

/** The repository of a session, or the name of its folder. */
export const placeOf = ({ repositoryName, folder }: Pick<SessionRow, "repositoryName" | "folder">): string =>
  repositoryName ?? lastPart(folder) ?? "no folder";

/** The branch that a session worked on, if it is known. */
export function Branch({ of: { repository } }: { of: Pick<SessionRow, "repository"> }) {
  return repository?.branch === undefined ? null : <span class="branch">{safeText(repository.branch)}</span>;
}

// --- internal ---

const lastPart = (path: string | null): string | undefined => path?.split(/[/\\]/).findLast((part) => part !== "");
