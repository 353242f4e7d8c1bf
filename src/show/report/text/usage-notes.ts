import type { Agent } from "#core/model/agent.ts";
import { describePrices } from "#core/telemetry/cost.ts";
import { localTime, plural } from "#kit/text/figures.ts";
import { printable } from "#kit/text/terminal.ts";
import type { Database } from "#store/database.ts";
import { startOfBucket } from "../buckets.ts";
import { chargeNotes } from "../charges.ts";
import { coveredNotes } from "../covered.ts";
import { missingNotes } from "../missing.ts";
import { listPriceNote } from "../prices.ts";
import type { Question } from "../question.ts";
import { usage } from "../usage.ts";
import type { UsageReport } from "../usage-report.ts";
import { unknownNameText } from "./unknown-name.ts";

/** What limits the figures, one sentence each: rows left out, prices, unknown tokens. @param prices where they come from */
export function notesOf(
  { total, unpriced, unseen = [], leftOut, rows, subscribed = [], covered = [], read }: UsageReport,
  prices: string = describePrices(),
): readonly string[] {
  const calls = total?.calls;
  const notes: string[] = [];
  if (read !== undefined && total?.after?.modelCalls) {
    notes.push(
      `cost after: of the model calls that read the results of one tool alone, in the same turn${ofLatest(read)}`,
    );
  }
  if (read !== undefined && total?.runs !== undefined) {
    notes.push(`failed: the tool call that started the run failed${ofLatest(read)}`);
    const unknown = total.runs.runsWithoutOutcome;
    if (unknown > 0) notes.push(`how ${plural(unknown, "run")} ended is unknown`);
  }
  const unused = rows.filter((row) => (row.configured?.length ?? 0) > 0 && !row.tools?.calls);
  if (unused.some(({ tools }) => tools !== undefined))
    notes.push("0 calls: configured, and no call in this time; --json has the files");
  if (unused.some(({ tools }) => tools === undefined))
    notes.push("? calls: configured, but its agent did not work in this time, or its calls do not name it");
  if (leftOut > 0) notes.push(`${plural(leftOut, "row")} more: --limit ${rows.length + leftOut}`);
  if (calls?.costNanoUsd !== undefined) {
    if (subscribed.length > 0) notes.push(listPriceNote(subscribed.map(printable)));
    notes.push(...coveredNotes(covered));
    notes.push(`cost: ${prices}; a call keeps the price with which it was recorded`);
  }
  if (total !== undefined) notes.push(...chargeNotes(total));
  notes.push(...missingNotes({ ...total, unpriced, unseen }));
  if (calls?.cacheReportedInput !== undefined) {
    notes.push(
      calls.cacheReportedInput === calls.input
        ? "cached: share of input tokens read from a cache"
        : "cached: share of input tokens read from a cache, over the calls that report it",
    );
  }
  if (calls !== undefined && calls.incompleteCalls > 0) {
    notes.push(`output is a lower bound: ${plural(calls.incompleteCalls, "answer was", "answers were")} cut short`);
  }
  return notes;
}

const ofLatest = ({ sessions, of }: NonNullable<UsageReport["read"]>): string =>
  sessions < of ? `; of the latest ${sessions} of ${of} sessions` : "";

/** The title of a usage report: `usage since 2026-10-23 · claude-code`. */
export function titleOf({ query }: Pick<Question, "query">): string {
  const since = localTime(query.sinceMs);
  const shortened = (time: string): string => (time.endsWith("00:00:00") ? time.slice(0, 10) : time.slice(0, 16));
  const filters = [query.agent, query.model, query.repository, query.timeZone].flatMap((name) =>
    name === undefined ? [] : [printable(name)],
  );
  const until = query.untilMs === undefined ? "" : ` until ${shortened(localTime(query.untilMs))}`;
  return [`usage since ${shortened(since)}${until}`, ...filters].join(" · ");
}

/** One line for a question without any usage: the names or the days that the store has instead. */
export function noUsageText(db: Database, agents: readonly Agent[], { query }: Pick<Question, "query">): string {
  const unknown = unknownNameText(db, agents, query);
  if (unknown !== undefined) return unknown;
  const { sinceMs, untilMs = Infinity, ...filters } = query;
  const days = usage(db, { agents }, { ...filters, by: ["day"] }).flatMap(({ key }) => key.day ?? []);
  const last = days.findLast((day) => startOfBucket(day) < sinceMs);
  const next = days.find((day) => startOfBucket(day) >= untilMs);
  const when =
    last !== undefined
      ? `; the last was on ${last}: --since ${last}`
      : next !== undefined
        ? `; the first was on ${next}`
        : "";
  return `no ${titleOf({ query })}${when}`;
}
