import { PRICE_TABLE } from "../../telemetry/cost.ts";
import { localTime, plural, pricelessOf } from "../../text/figures.ts";
import { printable } from "../../text/terminal.ts";
import type { Question } from "../question.ts";
import type { UsageRow } from "../usage.ts";
import { unnamed } from "./usage-keys.ts";

/** What the store says to a question. */
export interface Answer {
  readonly rows: readonly UsageRow[];
  /** Rows beyond the limit; the total has them. */
  readonly leftOut: number;
  readonly agents?: readonly UsageRow[];
  readonly models?: readonly UsageRow[];
  /** Absent: nothing happened in that time. */
  readonly total: UsageRow | undefined;
  /** By model, those with calls whose price is not known, most first. */
  readonly unpriced: readonly UsageRow[];
}

/** What is shown, in one line: `usage since 2026-10-23 · claude-code`. */
export function titleOf({ query }: Question): string {
  const since = localTime(query.sinceMs);
  const shortened = (time: string): string => (time.endsWith("00:00:00") ? time.slice(0, 10) : time.slice(0, 16));
  const filters = [query.agent, query.model, query.repository].flatMap((name) =>
    name === undefined ? [] : [printable(name)],
  );
  const until = query.untilMs === undefined ? "" : ` until ${shortened(localTime(query.untilMs))}`;
  return [`usage since ${shortened(since)}${until}`, ...filters].join(" · ");
}

/** What a reader must know to believe the figures, one sentence each. */
export function notesOf({ total, unpriced, leftOut, rows }: Answer): readonly string[] {
  const calls = total?.calls;
  const notes: string[] = [];
  if (leftOut > 0) notes.push(`${plural(leftOut, "row")} more: --limit ${rows.length + leftOut}`);
  if (calls?.costNanoUsd !== undefined) {
    notes.push(`cost: list prices of ${PRICE_TABLE}, or of the version that first saw the call`);
  }
  if (calls !== undefined && pricelessOf(calls) > 0) {
    notes.push(`no price known: ${plural(pricelessOf(calls), "call")}, ${namesOf(unpriced)}`);
  }
  if (calls?.cacheToldInput !== undefined) {
    notes.push(
      calls.cacheToldInput === calls.input
        ? "cached: input tokens read from a cache, of all input tokens"
        : "cached: input tokens read from a cache, of the input of calls that tell",
    );
  }
  if (calls !== undefined && calls.incompleteCalls > 0) {
    notes.push(`output is a lower bound: ${plural(calls.incompleteCalls, "answer was", "answers were")} cut short`);
  }
  if (calls?.input !== undefined && calls.callsWithoutUsage > 0) {
    const told = plural(calls.callsWithoutUsage, "call or turn", "calls or turns");
    notes.push(`tokens and cost are a lower bound: ${told} told none`);
  }
  if (total !== undefined && total.untoldSessions > 0) {
    const agents = total.untold.map(printable).join(", ");
    notes.push(`tokens not known: ${plural(total.untoldSessions, "session")} of ${agents} told none`);
  }
  return notes;
}

// --- internal ---

const MAX_NAMES = 5;

function namesOf(unpriced: readonly UsageRow[]): string {
  const priceless = unpriced
    .map(({ key, calls }) => ({ name: key.model ?? unnamed("model"), n: calls === undefined ? 0 : pricelessOf(calls) }))
    .filter(({ n }) => n > 0)
    .sort((a, b) => b.n - a.n);
  const names = priceless.slice(0, MAX_NAMES).map(({ name, n }) => `${printable(name)} (${n})`);
  const more = priceless.length > MAX_NAMES ? ` and ${priceless.length - MAX_NAMES} more models` : "";
  return `${names.join(", ")}${more}`;
}
