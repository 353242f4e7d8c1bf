import { allAgents } from "../agents/registry.ts";
import { type Context, UserError } from "../context.ts";
import type { Agent } from "../model/agent.ts";
import { suggest } from "../model/suggest.ts";
import { bucketsBetween, compareBuckets, startOfBucket, TIME_UNITS } from "../report/buckets.ts";
import type { Dimension } from "../report/query.ts";
import { type Question, type QuestionOptions, questionOf } from "../report/question.ts";
import { type Answer, notesOf, titleOf } from "../report/text/usage-notes.ts";
import { inReadingOrder } from "../report/text/usage-order.ts";
import { usageTable } from "../report/text/usage-table.ts";
import { type UsageRow, usage, usageInWays } from "../report/usage.ts";
import { csvLines } from "../report/usage-csv.ts";
import { reportJson } from "../report/usage-json.ts";
import { noStoreMessage, withOpenStore } from "../sessions/open-store.ts";
import type { Database } from "../store/database.ts";
import { sessionCounts } from "../store/queries.ts";
import { printLines } from "../text/ascii.ts";
import { flow, printable, type Terminal, terminalOf, wrapped, writeLines } from "../text/terminal.ts";

export type ReportOptions = QuestionOptions;

/**
 * `openhook-otel report`: what was used, summed up by time, agent, model, repository, tool or session.
 *
 * @param words what to sum up by; none: days, with a summary by agent and by model
 * @returns exit code: 0, also when there is nothing
 * @throws UserError for wrong input, and when the store cannot be read
 */
export async function report(words: readonly string[], options: ReportOptions, context: Context): Promise<number> {
  if (options.json && options.csv) throw new UserError("E_USAGE", "choose one of --json and --csv");
  const question = questionOf(words, options, context.now());
  const agents = await allAgents();
  const found = withOpenStore(context, (db) => {
    if (sessionCounts(db).sessions === 0) return undefined;
    const answer = answerTo(db, agents, question, context.now(), options.json || options.csv);
    return { answer, advice: answer.total === undefined ? adviceOn(db, agents, question) : "" };
  });
  const answer = found?.answer ?? NO_ANSWER;
  if (options.json) {
    const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
    context.stdout.write(`${JSON.stringify(reportJson(question, answer, timeZone))}\n`);
  } else if (options.csv) writeLines(context.stdout, csvLines(question.query, answer.rows));
  else if (found === undefined) context.stdout.write(`${await noStoreMessage(context)}\n`);
  else if (answer.total === undefined) context.stdout.write(`${found.advice}\n`);
  else printLines(context, inWords(question, answer, terminalOf(context)));
  return 0;
}

// --- internal ---

const NO_ANSWER: Answer = { rows: [], leftOut: 0, total: undefined, unpriced: [] };

/** Of each summary below the overview. */
const SUMMARY_ROWS = 8;
/** Longer calendars are shown without the days on which nothing was. */
const MAX_CALENDAR = 400;

function answerTo(
  db: Database,
  agents: readonly Agent[],
  { query, isOverview, limit }: Question,
  nowMs: number,
  isData: boolean,
): Answer {
  const ofTools = query.by.includes("tool");
  const ways: readonly (readonly Dimension[])[] = [
    [],
    query.by,
    ...(ofTools ? [] : [["model"] as const]),
    ...(isOverview ? [["agent"] as const] : []),
  ];
  const [[total] = [], found = [], models = [], byAgent = []] = usageInWays(db, { agents }, query, ways).map(
    (rows, i) => inReadingOrder(ways[i] ?? [], rows),
  );
  if (total === undefined) return NO_ANSWER;
  const all = isData ? found : withEmptyBuckets(found, query, nowMs);
  const isTimeFirst = TIME_UNITS.some((unit) => unit === query.by[0]);
  const rows = limit === undefined ? all : isTimeFirst ? all.slice(-limit) : all.slice(0, limit);
  return {
    rows,
    leftOut: all.length - rows.length,
    ...(isOverview && { agents: byAgent, models }),
    total: ofTools ? withoutCalls(total) : total,
    unpriced: models
      .filter(({ calls }) => (calls?.unpricedCalls ?? 0) > 0)
      .sort((a, b) => (b.calls?.unpricedCalls ?? 0) - (a.calls?.unpricedCalls ?? 0)),
  };
}

/** Tools have neither tokens nor turns. */
const withoutCalls = ({ key, sessions, tools }: UsageRow): UsageRow => ({
  key,
  sessions,
  ...(tools !== undefined && { tools }),
  untold: [],
  untoldSessions: 0,
});

/** A calendar has days on which nothing happened, from the first that something did on. */
function withEmptyBuckets(
  rows: readonly UsageRow[],
  { by, untilMs }: Question["query"],
  nowMs: number,
): readonly UsageRow[] {
  const [only] = by;
  const unit = TIME_UNITS.find((one) => one === only);
  const first = rows[0]?.key[unit ?? "day"];
  if (unit === undefined || by.length !== 1 || typeof first !== "string") return rows;
  const fromMs = startOfBucket(first);
  const toMs = Math.min(untilMs ?? nowMs, nowMs);
  if ((toMs - fromMs) / SHORTEST_MS[unit] > MAX_CALENDAR) return rows;
  const byName = new Map(rows.map((row) => [row.key[unit] ?? "", row]));
  for (const name of bucketsBetween(fromMs, toMs, unit)) {
    if (!byName.has(name)) byName.set(name, { key: { [unit]: name }, sessions: 0, untold: [], untoldSessions: 0 });
  }
  return [...byName].sort(([a], [b]) => compareBuckets(a, b)).map(([, row]) => row);
}

const HOUR_MS = 3_600_000;
/** What no bucket is shorter than: enough to say how many there are at most. */
const SHORTEST_MS = { hour: HOUR_MS, day: 23 * HOUR_MS, week: 167 * HOUR_MS, month: 28 * 23 * HOUR_MS } as const;

function* inWords(question: Question, answer: Answer, terminal: Terminal): Generator<string> {
  const { by } = question.query;
  const summaries = [
    ...(answer.agents === undefined ? [] : [{ by: ["agent"] as const, rows: answer.agents }]),
    ...(answer.models === undefined ? [] : [{ by: ["model"] as const, rows: answer.models }]),
  ];
  yield* flow([[{ text: titleOf(question), style: "bold" }]], terminal);
  yield* usageTable(by, answer.rows, answer.total, terminal);
  for (const summary of summaries) {
    // What a table of one row says, the total above it has said
    if (summary.rows.length < 2) continue;
    yield "";
    yield* usageTable(summary.by, summary.rows.slice(0, SUMMARY_ROWS), undefined, terminal);
    const more = summary.rows.length - SUMMARY_ROWS;
    if (more > 0)
      yield* flow([[{ text: `${more} more: ${suggest(`report ${summary.by[0]}`)}`, style: "dim" }]], terminal);
  }
  const notes = notesOf(answer);
  if (notes.length > 0) yield "";
  for (const note of notes) yield* wrapped({ text: "" }, note, terminal);
}

/** Nothing fits the question, though there are sessions: what there is instead. */
function adviceOn(db: Database, agents: readonly Agent[], { query }: Question): string {
  for (const dimension of ["agent", "model", "repository"] as const) {
    const asked = query[dimension];
    if (asked === undefined) continue;
    if (usage(db, { agents }, { by: [], [dimension]: asked }).length > 0) continue;
    const names = usage(db, { agents }, { by: [dimension] }).flatMap(({ key }) => key[dimension] ?? []);
    const known = names.slice(0, MAX_KNOWN).map(printable).join(", ");
    const list = names.length === 0 ? "none is known" : `${known}${names.length > MAX_KNOWN ? " and more" : ""}`;
    return `no session of ${dimension} "${printable(asked)}"; in the store: ${list}`;
  }
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
  return `no ${titleOf({ query, isOverview: false })}${when}`;
}

const MAX_KNOWN = 12;
