import type { HomeDocument, UsageFigures } from "../../wire/documents.ts";
import { Cost, InOut, Notes, Tile } from "../figures/figures.tsx";
import type { Range } from "../filters/range.ts";
import { hrefOf, type Params } from "../route.ts";
import { dollars, exact, plural } from "../text/format.ts";
import { safeText } from "../text/safe-text.ts";
import { Limits, Outlook } from "./limits.tsx";

interface Props {
  readonly home: HomeDocument;
  /** What the period is called. */
  readonly period: string;
  /** The chosen period, for links to the sessions. */
  readonly filters: Params & { readonly range: Range };
}

/** The figures of today, the month and the period, each with the change against the period before. */
export function Summary({ home, period, filters }: Props) {
  const { figures, before } = home.period;
  const { range } = filters;
  const subscribed = home.subscribed.map(safeText);
  const to = (more: Params = {}): string => hrefOf("sessions", { ...filters, ...more });
  const sorted = { sort: "cost" } as const;
  return (
    <>
      <dl class="tiles home">
        <Tile
          name="Today"
          href={to({ range: "today", ...sorted })}
          note={<Change of={home.today} against="yesterday by this time" />}
        >
          <CostOf figures={home.today.figures} />
        </Tile>
        <Tile
          name="This month"
          href={to({ range: "month", ...sorted })}
          note={
            <>
              <Change of={home.month} against="last month by this day" />
              <Outlook home={home} />
            </>
          }
        >
          <CostOf figures={home.month.figures} />
        </Tile>
        {range === "month" || range === "today" ? null : (
          <Tile
            name={period}
            href={to(sorted)}
            note={
              range === "all" ? (
                "at list prices"
              ) : (
                <Change of={home.period} against={BEFORE[range] ?? "the days before"} />
              )
            }
          >
            <CostOf figures={figures} />
          </Tile>
        )}
        <Tile
          name="Sessions"
          href={to()}
          note={before === null ? null : `${exact(before.sessions)} in the period before`}
        >
          {exact(figures?.sessions ?? 0)}
        </Tile>
        <Tile name="Tokens in → out" href={to({ sort: "tokens" })} note={figures === null ? null : turnsNote(figures)}>
          {figures === null ? "0" : <InOut of={figures} />}
        </Tile>
        <Tile name="Tool failures" href={to({ sort: "errors" })} note={failuresNote(home.period)}>
          {figures?.tool_calls ? percentExact(figures.tool_errors ?? 0, figures.tool_calls) : "–"}
        </Tile>
      </dl>
      <Limits home={home} />
      <Notes of={[...home.charges, ...home.missing]} />
      {subscribed.length === 0 ? null : (
        <p class="muted">
          List price, not your bill: {subscribed.join(", ")} {subscribed.length === 1 ? "runs" : "run"} on a
          subscription
        </p>
      )}
    </>
  );
}

// --- internal ---

const BEFORE: Readonly<Record<string, string>> = {
  "1": "the 24 hours before",
  "7": "the 7 days before",
  "30": "the 30 days before",
  "90": "the 90 days before",
  "365": "the year before",
};

function CostOf({ figures }: { figures: UsageFigures | null }) {
  if (figures === null) return <>$0</>;
  return <Cost of={figures} />;
}

/** How the cost differs from the period before, e.g. `▲ 12% on the 7 days before`. */
function Change({ of: { figures, before }, against }: { of: HomeDocument["period"]; against: string }) {
  const [now, then] = [figures === null ? 0 : figures.cost_usd, before?.cost_usd];
  if (before === null) return <>nothing {against.startsWith("the") ? `in ${against}` : against}</>;
  if (now === null || then === null || then === undefined) return <>unknown {against}</>;
  if (then === 0) return <>$0 {against}</>;
  const ratio = now / then;
  // A multiple is easier to read than 1,240%
  const size = ratio >= 3 ? `${ratio.toFixed(1)}×` : `${Math.round(Math.abs(ratio - 1) * 100)}%`;
  return (
    <span title={`${dollars(then)} ${against}`}>
      <b>
        <span aria-hidden="true">{ratio >= 1 ? "▲" : "▼"} </span>
        <span class="sr">{ratio >= 1 ? "up" : "down"} </span>
        {size}
      </b>{" "}
      {ratio >= 3 ? "of" : "on"} {against}
    </span>
  );
}

const turnsNote = ({ turns }: UsageFigures): string | null => (turns === undefined ? null : plural(turns, "turn"));

function failuresNote({ figures, before }: HomeDocument["period"]): string | null {
  if (!figures?.tool_calls) return null;
  const share = before?.tool_calls ? `, ${percentExact(before.tool_errors ?? 0, before.tool_calls)} before` : "";
  return `${exact(figures.tool_errors ?? 0)} of ${plural(figures.tool_calls, "call")}${share}`;
}

/** With one decimal, because failures are usually few. */
const percentExact = (part: number, whole: number): string => `${((part / whole) * 100).toFixed(1)}%`;
