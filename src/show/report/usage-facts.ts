import type { CallSums, PricedCall } from "#core/model/model-call.ts";
import { QUARTER_MS } from "#core/model/packed.ts";
import type { ToolCall } from "#core/model/session.ts";
import { TOKEN_NAMES } from "#core/model/token-kinds.ts";
import type { TokenUsage } from "#core/model/transcript.ts";
import { NO_CALLS, sumOfCalls } from "#core/rules/call-sums.ts";
import { callPrice } from "#core/telemetry/cost.ts";
import { mcpServerOf } from "#core/telemetry/spans.ts";
import type { Database, Row } from "#store/database.ts";
import type { SessionSource } from "#store/sessions/read-session.ts";
import { sessionFactsOf } from "#store/sessions/read-session.ts";
import { unsettledSession } from "#store/sessions/unsettled-session.ts";
import { sessionById, unsettledSessions } from "#store/sessions.ts";
import { offsetsBetween } from "./buckets.ts";

export type CallFigures = CallSums & {
  readonly modelMs: number;
  /** Input tokens of calls that report cache reads, and these reads: the base of the cache share, and the share. */
  readonly cacheReportedInput?: number;
  readonly cacheReportedRead?: number;
};

export interface ToolFigures {
  readonly calls: number;
  readonly errors: number;
  readonly denied: number;
  readonly unfinished: number;
  /** Still running. */
  readonly open: number;
  /** From start to end, including waits for the user; parallel calls each count. */
  readonly toolMs: number;
}

/** Of subagents. */
export interface RunFigures {
  readonly runs: number;
  /** Runs whose tool call failed, and those of which no such call is known, or no end of it. */
  readonly failedRuns: number;
  readonly runsWithoutOutcome: number;
  readonly runMs: number;
}

export interface TurnFigures {
  readonly turns: number;
  /** Those of `turns` whose prompt a human sent. */
  readonly prompts: number;
  readonly failed: number;
  readonly interrupted: number;
}

/** Figures of one session, or of sessions that count in the same rows: one call, one turn, or sums over a period. */
export type Fact = {
  /** Its number in the store; of several sessions, the one that stands for them. */
  readonly session: number;
  /** The sessions that it is summed over. @default only `session` */
  readonly sessions?: readonly number[];
  readonly timeMs: number;
  /** A moment of it, if facts are summed by what they led to. @default timeMs */
  readonly atMs?: number;
} & (
  | ({ readonly kind: "calls"; readonly model: string | null; readonly figures: CallFigures } & OfSubagent)
  | ({ readonly kind: "tools"; readonly figures: ToolFigures } & NamedTool)
  /** Model calls that read results of one tool alone, see `placedCalls`. */
  | ({ readonly kind: "after"; readonly figures: CallFigures } & NamedTool)
  | ({ readonly kind: "runs"; readonly figures: RunFigures } & OfSubagent)
  | { readonly kind: "turns"; readonly figures: TurnFigures }
);

/** What a tool call is of; `undefined`: of none, or not asked for. */
export interface NamedTool {
  readonly tool: string;
  readonly server: string | undefined;
  readonly skill: string | undefined;
}

/** Of facts about subagents. `undefined`: the type is not known. */
interface OfSubagent {
  readonly subagent?: string | undefined;
}

export interface FactsWanted extends Readonly<Record<"calls" | "tools" | "turns", boolean>> {
  readonly sinceMs: number;
  /** `Infinity`: no end. */
  readonly untilMs: number;
  /** Facts are summed per hour or local day; absent: over all time. */
  readonly unit?: "hour" | "day";
  /** Whether facts are summed per model, and what tool calls are summed per. */
  readonly byModel: boolean;
  readonly toolsBy: readonly (keyof typeof TOOL_COLUMNS)[];
  /** Whether calls have only their number and cost, without tokens. @default false */
  readonly costOnly?: boolean;
  /** Whether facts are summed per commit and change. */
  readonly byChange?: boolean;
  /** IANA name. @default the machine's */
  readonly timeZone?: string;
  /**
   * For each session that counts, the one that stands for it: the facts of sessions with the same one are summed up. Not with
   * `byChange`. @default each session has its own facts, also sessions that do not count
   */
  readonly standIns?: ReadonlyMap<number, number>;
}

/**
 * Settled facts, packed or not, in a range, summed up by the store as far as the query allows, because a year of work is
 * millions of calls, and a row takes the store longer to hand over than to sum up. A fact's time is any time in its hour or day,
 * and may lie outside the range.
 */
export function* settledFacts(db: Database, sessions: readonly number[], wanted: FactsWanted): Generator<Fact> {
  const rows = summedRows(db, sessions, wanted);
  if (wanted.calls) {
    for (const [subject, row] of rows(
      "usage",
      wanted.costOnly === true ? COST_SUMS : CALL_SUMS,
      wanted.byModel ? "model" : undefined,
    )) {
      const model = row["model"];
      const figures = figuresIn(row, NOTHING, CALL_FIGURES);
      yield { kind: "calls", ...subject, model: typeof model === "string" ? model : null, figures };
    }
  }
  if (wanted.tools) {
    const kinds = [...new Set(wanted.toolsBy.map((dimension) => TOOL_COLUMNS[dimension]))].join(", ");
    for (const [subject, row] of rows("tool_usage", TOOL_SUMS, kinds === "" ? undefined : kinds)) {
      const figures = figuresIn(row, NO_TOOLS, TOOL_FIGURES);
      const textIn = (column: string): string | undefined => (row[column] == null ? undefined : String(row[column]));
      const [name = "", mcpServer, skill] = [textIn("name"), textIn("mcp_server"), textIn("skill")];
      const server = mcpServerOf({ name, ...(mcpServer !== undefined && { mcpServer }) });
      yield { kind: "tools", ...subject, tool: name, server, skill, figures };
    }
  }
  if (wanted.turns) {
    for (const [subject, row] of rows("turn_usage", TURN_SUMS))
      yield { kind: "turns", ...subject, figures: figuresIn(row, NO_TURNS, TURN_FIGURES) };
  }
}

/** Facts that are not settled yet, call by call, as if everything ended now. */
export function* openFactsOf(
  db: Database,
  deps: Pick<SessionSource, "agents">,
  sessions: ReadonlyMap<number, unknown>,
): Generator<Fact> {
  for (const session of unsettledSessions(db)) {
    if (!sessions.has(session)) continue;
    const stored = sessionById(db, session);
    const { provider } = sessionFactsOf(deps, stored);
    const { turns, subagents } = unsettledSession({ db, ...deps }, stored);
    for (const { modelCalls, toolCalls } of [...turns, ...subagents]) {
      for (const call of modelCalls) {
        const figures = callFiguresOf({ call, ...callPrice(call, provider) });
        yield { kind: "calls", session, timeMs: call.endMs, model: call.model ?? null, figures };
      }
      for (const tool of toolCalls) {
        const { status, startMs, endMs } = tool;
        const is = (one: typeof status): number => (status === one ? 1 : 0);
        const figures = {
          calls: 1,
          errors: is("error"),
          denied: is("denied"),
          unfinished: is("unfinished"),
          open: is("open"),
          toolMs: Math.max(0, endMs - startMs),
        };
        yield { kind: "tools", session, timeMs: startMs, ...namedTool(tool), figures };
      }
    }
    for (const { origin, state, startMs } of turns) {
      // Work after a turn was closed belongs to that turn, which counts already
      if (origin !== "human" && origin !== "machine") continue;
      const figures = {
        turns: 1,
        prompts: origin === "human" ? 1 : 0,
        failed: state === "failed" ? 1 : 0,
        interrupted: state === "interrupted" ? 1 : 0,
      };
      yield { kind: "turns", session, timeMs: startMs, figures };
    }
  }
}

export const namedTool = (tool: ToolCall): NamedTool => ({
  tool: tool.name,
  server: mcpServerOf(tool),
  skill: tool.skill,
});

/** The figures of one call. */
export const callFiguresOf = (one: PricedCall): CallFigures => ({
  ...sumOfCalls([one]),
  modelMs: Math.max(0, one.call.endMs - one.call.startMs),
  ...cacheShareOf(one.call.usage),
});

/** Adds the figures of other calls. */
export function addFigures(a: CallFigures, b: CallFigures): CallFigures {
  const sums = { ...a };
  addTo(sums, b, CALL_FIGURES);
  return sums;
}

/** A figure that is absent everywhere stays absent: unknown is never 0. */
export function addTo<K extends string>(
  sums: { [P in K]?: number | undefined },
  more: { readonly [P in K]?: number | undefined },
  keys: readonly K[],
): void {
  for (const key of keys) {
    const value = more[key];
    if (value !== undefined) sums[key] = (sums[key] ?? 0) + value;
  }
}

/** Figures without any call. */
export const NOTHING: CallFigures = { ...NO_CALLS, modelMs: 0 };
export const NO_TOOLS: ToolFigures = { calls: 0, errors: 0, denied: 0, unfinished: 0, open: 0, toolMs: 0 };
export const NO_RUNS: RunFigures = { runs: 0, failedRuns: 0, runsWithoutOutcome: 0, runMs: 0 };
export const RUN_FIGURES = Object.keys(NO_RUNS) as readonly (keyof RunFigures)[];
export const NO_TURNS: TurnFigures = { turns: 0, prompts: 0, failed: 0, interrupted: 0 };

/** Figures by name, and the expressions that the store sums up for them. */
type Sums<Figures = Readonly<Record<string, number>>> = { readonly [Name in keyof Figures]-?: string };

const CALL_SUMS: Sums<CallFigures> = {
  modelCalls: "calls",
  aggregateRecords: "sums_told",
  callsWithoutUsage: "without_usage",
  incompleteCalls: "incomplete",
  unpricedCalls: "unpriced",
  ...TOKEN_NAMES,
  costNanoUsd: "cost_nano_usd",
  webSearches: "web_searches",
  unpricedSearches: "unpriced_searches",
  feeNanoUsd: "fee_nano_usd",
  nanoCredits: "nano_credits",
  modelMs: "duration_ms",
  cacheReportedInput: "iif(cache_read IS NULL, NULL, input)",
  cacheReportedRead: "iif(input IS NULL, NULL, cache_read)",
};
const { modelCalls, aggregateRecords, callsWithoutUsage, incompleteCalls, unpricedCalls, costNanoUsd } = CALL_SUMS;
const COST_SUMS = { modelCalls, aggregateRecords, callsWithoutUsage, incompleteCalls, unpricedCalls, costNanoUsd };
const TOOL_SUMS: Sums<ToolFigures> = {
  calls: "calls",
  errors: "errors",
  denied: "denied",
  unfinished: "unfinished",
  open: "0",
  toolMs: "duration_ms",
};
const PROMPTED = "origin IN ('human', 'machine')";
const TURN_SUMS: Sums<TurnFigures> = {
  turns: `iif(${PROMPTED}, turns, 0)`,
  prompts: "iif(origin = 'human', turns, 0)",
  failed: `iif(${PROMPTED}, failed, 0)`,
  interrupted: `iif(${PROMPTED}, interrupted, 0)`,
};

/** The names of all figures of a kind. */
export const CALL_FIGURES = Object.keys(CALL_SUMS) as readonly (keyof CallFigures)[];
export const TOOL_FIGURES = Object.keys(TOOL_SUMS) as readonly (keyof ToolFigures)[];
export const TURN_FIGURES = Object.keys(TURN_SUMS) as readonly (keyof TurnFigures)[];

// --- internal ---

/** Reads figures from a row with their sums. Unknown ones stay as in `none`. */
function figuresIn<Figures extends object>(row: Row, none: Figures, names: readonly (keyof Figures & string)[]) {
  const figures = { ...none } as { -readonly [Name in keyof Figures]: Figures[Name] | number };
  for (const name of names) {
    const sum = row[name];
    if (typeof sum === "number") figures[name] = sum;
  }
  return figures as Figures;
}

/** What tool calls are grouped by. The name of a tool can contain that of its server. */
const TOOL_COLUMNS = { tool: "name", mcp: "name, mcp_server", skill: "skill" } as const;

const FEW_SESSIONS = 50;

const countBefore = (table: string, view: string): string =>
  `(SELECT count(*) FROM ${table} b WHERE b.session = ${view}.session AND b.time_ms < ${view}.time_ms)`;

const sumsIn = (sums: Sums): string =>
  Object.entries(sums)
    .map(([name, value]) => `sum(${value}) AS ${name}`)
    .join(", ");

const cacheShareOf = (usage: TokenUsage | undefined): Pick<CallFigures, "cacheReportedInput" | "cacheReportedRead"> =>
  usage?.input === undefined || usage.cacheRead === undefined
    ? {}
    : { cacheReportedInput: usage.input, cacheReportedRead: usage.cacheRead };

const DAY_MS = 86_400_000;

/** Rows of a view, summed over each session and time, and over each `kind` if it is given; and what each row is about. */
type SummedRows = (view: string, sums: Sums, kind?: string) => Generator<readonly [FactSubject, Row]>;
type FactSubject = Pick<Fact, "session" | "sessions" | "timeMs" | "atMs">;

function summedRows(db: Database, sessions: readonly number[], wanted: FactsWanted): SummedRows {
  // For a few sessions look up by number; for many, reading all rows of the range is cheaper
  const only = sessions.length <= FEW_SESSIONS ? JSON.stringify(sessions) : null;
  const until = Math.min(wanted.untilMs, Number.MAX_SAFE_INTEGER);
  const standIns = wanted.standIns && JSON.stringify(Object.fromEntries(wanted.standIns));
  const { column, timeOf } = timesOf(db, wanted);
  // All moments between two commits or changes of a session led to the same one
  const part = (view: string): string =>
    wanted.byChange === true ? ["commits", "changes"].map((table) => `, ${countBefore(table, view)}`).join("") : "";
  const query = (view: string, sums: Sums, kind: string | undefined): Iterable<Row> => {
    const kinds = kind === undefined ? "" : `, ${kind}`;
    const where = `time_ms >= ?1 AND time_ms < ?2 AND ${only === null ? "?3 IS NULL" : `${view}.session IN (SELECT value FROM json_each(?3))`}`;
    if (standIns === undefined) {
      const perSession = `SELECT session, ${column} AS time, min(time_ms) AS at_ms${kinds}, ${sumsIn(sums)}
        FROM ${view} WHERE ${where} GROUP BY session, time${kinds}${part(view)}`;
      return db.prepare(perSession).each(wanted.sinceMs, until, only);
    }
    // CROSS JOIN: reading the facts once in the order of their table is faster than looking up those of each session
    const perStandIn = `WITH stand_ins (of, session) AS MATERIALIZED (SELECT CAST(key AS INTEGER), value FROM json_each(?4))
      SELECT s.session AS session, json_group_array(DISTINCT of) AS sessions, ${column} AS time${kinds}, ${sumsIn(sums)}
      FROM ${view} CROSS JOIN stand_ins s ON of = ${view}.session WHERE ${where} GROUP BY s.session, time${kinds}`;
    return db.prepare(perStandIn).each(wanted.sinceMs, until, only, standIns);
  };
  const subjectOf = (row: Row): FactSubject => ({
    session: Number(row["session"]),
    ...(row["sessions"] !== undefined && { sessions: JSON.parse(String(row["sessions"])) as readonly number[] }),
    timeMs: timeOf(Number(row["time"])),
    ...(wanted.byChange === true && { atMs: Number(row["at_ms"]) }),
  });
  return function* (view, sums, kind) {
    for (const row of query(view, sums, kind)) yield [subjectOf(row), row];
  };
}

/** The SQL expression to group rows by, and a time within a group by its number. */
function timesOf(
  db: Database,
  { unit, sinceMs, untilMs, timeZone }: FactsWanted,
): { readonly column: string; readonly timeOf: (group: number) => number } {
  if (unit === undefined) return { column: "0", timeOf: () => sinceMs };
  if (unit === "hour") {
    return { column: `CAST(time_ms / ${QUARTER_MS} AS INTEGER)`, timeOf: (quarter) => quarter * QUARTER_MS };
  }
  // Not from the first session's start: a transcript can hold work before the first hook
  const lastMs = Number(db.prepare("SELECT max(last_ms) AS last FROM sessions").get()?.["last"] ?? 0);
  const offsets = offsetsBetween(sinceMs, Math.min(untilMs, lastMs), timeZone);
  const [first = 0, ...later] = offsets.map(({ offsetMs }) => offsetMs);
  const cases = offsets.slice(1).map(({ fromMs, offsetMs }) => `WHEN time_ms >= ${fromMs} THEN ${offsetMs}`);
  const offset = later.length === 0 ? String(first) : `CASE ${cases.reverse().join(" ")} ELSE ${first} END`;
  return {
    column: `CAST((time_ms + ${offset}) / ${DAY_MS} AS INTEGER)`,
    // Clocks never change at noon
    timeOf: (day) => {
      const noonMs = day * DAY_MS + DAY_MS / 2;
      return noonMs - (offsets.findLast(({ fromMs, offsetMs }) => noonMs - offsetMs >= fromMs)?.offsetMs ?? first);
    },
  };
}
