import { UserError } from "#kit/errors.ts";
import { nearest } from "#kit/nearest.ts";
import { suggest } from "#kit/suggest.ts";
import { sinceOf, timeOf } from "#kit/text/times.ts";
import { startOfDay } from "./buckets.ts";
import type { UsageQuery } from "./query.ts";
import { CHANGE_DIMENSIONS, DIMENSIONS, type Dimension, TOOL_DIMENSIONS, whyNotCombined } from "./query.ts";

export interface QuestionOptions {
  readonly since?: string;
  readonly until?: string;
  readonly agent?: string;
  readonly model?: string;
  readonly repository?: string;
  /** IANA name. */
  readonly timeZone?: string;
  readonly limit?: number;
  readonly json: boolean;
  readonly csv: boolean;
}

/** A report's options, with the defaults filled in. */
export interface Question {
  /** `by`: the grouping of the first table. */
  readonly query: UsageQuery & { readonly sinceMs: number };
  /** No dimension was named: by day, with summaries by agent and model. */
  readonly isOverview: boolean;
  /** Maximum number of rows; absent: all. */
  readonly limit?: number;
}

/**
 * The query of a command line.
 *
 * @param words dimensions, also in the plural, and `today` or `yesterday`; no dimension: days
 * @throws UserError for an unknown dimension, for two that cannot be combined, and for a wrong time
 */
export function questionOf(words: readonly string[], options: QuestionOptions, nowMs: number): Question {
  // A report by week is asked for more often than one of this week
  const periods = words.filter((word) => PERIODS.has(word) && !(DIMENSIONS as readonly string[]).includes(word));
  const dimensions = words.filter((word) => !periods.includes(word));
  const by: readonly Dimension[] = dimensions.length === 0 ? ["day"] : [...new Set(dimensions.map(dimensionOf))];
  const { agent, model, repository, timeZone } = options;
  const refusal = whyNotCombined({ by, ...(model !== undefined && { model }) });
  if (refusal !== undefined) throw new UserError("E_USAGE", refusal);
  const { sinceMs, untilMs } = rangeOf({ ...options, ...periodOf(periods, options) }, by, nowMs);
  const isScreen = !options.json && !options.csv;
  const limit = options.limit ?? (isScreen && by.some((one) => MANY.has(one)) ? DEFAULT_LIMIT : undefined);
  return {
    query: {
      by,
      sinceMs,
      ...(untilMs !== undefined && { untilMs }),
      ...(agent !== undefined && { agent }),
      ...(by.includes("subagent") && { ofSubagents: true }),
      ...(by.some((one) => one === "mcp" || one === "skill") && { hasAfter: true }),
      ...(model !== undefined && { model }),
      ...(repository !== undefined && { repository }),
      ...(timeZone !== undefined && { timeZone }),
    },
    isOverview: dimensions.length === 0,
    ...(limit !== undefined && { limit }),
  };
}

/** Whether a report is by month, up to now and without filters, so that it can say where this month will end. */
export const isOfThisMonth = ({ query }: Question): boolean =>
  query.by.join() === "month" &&
  [query.untilMs, query.agent, query.model, query.repository].every((one) => one === undefined);

/**
 * Beginning and end of the time that a report is about.
 *
 * @param by decides where it begins without `--since`
 * @throws UserError for a wrong time
 */
export function rangeOf(
  { since, until }: Pick<QuestionOptions, "since" | "until">,
  by: readonly Dimension[],
  nowMs: number,
): Pick<Question["query"], "sinceMs" | "untilMs"> {
  const untilMs = until === undefined ? undefined : timeOf("--until", until, nowMs);
  // The last moment that counts: `--until` midnight excludes the day that starts then
  const lastMs = untilMs === undefined ? nowMs : Math.min(nowMs, untilMs - 1);
  const sinceMs = since === undefined ? defaultSince(by, lastMs) : sinceOf(since, nowMs);
  if (untilMs !== undefined && sinceMs > untilMs) throw new UserError("E_USAGE", "--since is later than --until");
  return { sinceMs, ...(untilMs !== undefined && { untilMs }) };
}

/**
 * Beginning and end of the time of a list; without a bound as far as the store reaches.
 *
 * @param period `today`, `yesterday`, `week` or `month`
 * @throws UserError for another word, for a wrong time, and for a period together with times
 */
export function timesOf(
  period: string | undefined,
  options: Pick<QuestionOptions, "since" | "until">,
  nowMs: number,
): Pick<UsageQuery, "sinceMs" | "untilMs"> {
  if (period !== undefined && !PERIODS.has(period))
    throw new UserError(
      "E_USAGE",
      `unknown period ${JSON.stringify(period)}; known are ${[...PERIODS.keys()].join(", ")}, and --since with --until`,
    );
  const { since, until } = {
    since: options.since,
    until: options.until,
    ...periodOf(period === undefined ? [] : [period], options),
  };
  const sinceMs = since === undefined ? undefined : sinceOf(since, nowMs);
  const untilMs = until === undefined ? undefined : timeOf("--until", until, nowMs);
  if ((sinceMs ?? 0) > (untilMs ?? nowMs)) throw new UserError("E_USAGE", "--since is later than --until");
  return { ...(sinceMs !== undefined && { sinceMs }), ...(untilMs !== undefined && { untilMs }) };
}

// --- internal ---

const DEFAULT_LIMIT = 20;
/** There can be thousands of these; the screen shows the first. */
const MANY: ReadonlySet<Dimension> = new Set([
  "session",
  "repository",
  ...TOOL_DIMENSIONS,
  "subagent",
  ...CHANGE_DIMENSIONS,
]);

function dimensionOf(word: string): Dimension {
  const singular = SHORT.get(word) ?? (word.endsWith("ies") ? `${word.slice(0, -3)}y` : word.replace(/s$/, ""));
  const found = DIMENSIONS.find((dimension) => dimension === singular);
  if (found !== undefined) return found;
  const instead = INSTEAD.get(singular)?.();
  const meant = instead === undefined ? nearest(singular, DIMENSIONS) : undefined;
  const hint = instead ?? (meant === undefined ? "" : ` (did you mean ${meant}?)`);
  throw new UserError(
    "E_USAGE",
    `unknown dimension ${JSON.stringify(word)}${hint}; a report can be by ${DIMENSIONS.join(", ")}`,
  );
}

const figures = (): string => `: every report has cost and tokens, see ${suggest("report")}`;
const people = (): string => `: a report has the sessions of one user; dashboards for a team: ${suggest("stack")}`;

const accounts = (): string =>
  `: no session's files name the account; the folder of the agent's configuration: ${suggest("report config-folder")}`;

/** What to use instead of words that people try. */
const INSTEAD: ReadonlyMap<string, () => string> = new Map([
  ["cost", figures],
  ["token", figures],
  ["usage", figures],
  ["account", accounts],
  ["user", people],
  ["person", people],
  ["team", people],
]);

/** Words for periods, and the options that mean the same. */
const PERIODS: ReadonlyMap<string, Pick<QuestionOptions, "since" | "until">> = new Map([
  ["today", { since: "today" }],
  ["yesterday", { since: "yesterday", until: "today" }],
  ["week", { since: "week" }],
  ["month", { since: "month" }],
]);

function periodOf(
  words: readonly string[],
  { since, until }: Pick<QuestionOptions, "since" | "until">,
): Pick<QuestionOptions, "since" | "until"> {
  const [period, another] = words.flatMap((word) => PERIODS.get(word) ?? []);
  if (period === undefined) return {};
  if (another === undefined && since === undefined && until === undefined) return period;
  throw new UserError("E_USAGE", "this is about one period: choose one of today, yesterday, and --since with --until");
}

const SHORT: ReadonlyMap<string, string> = new Map([
  ["hourly", "hour"],
  ["daily", "day"],
  ["weekly", "week"],
  ["monthly", "month"],
  ["project", "repository"],
  ["projects", "repository"],
  ["repo", "repository"],
  ["repos", "repository"],
  ["branches", "branch"],
  ["server", "mcp"],
  ["servers", "mcp"],
  ["mcp-server", "mcp"],
  ["mcp-servers", "mcp"],
  ["pr", "change"],
  ["prs", "change"],
]);

/** Whole days, weeks and months of the local calendar, so that the first bar covers a full bucket. */
function defaultSince(by: readonly Dimension[], lastMs: number): number {
  const last = new Date(lastMs);
  if (by.includes("hour")) return startOfDay(lastMs, -1);
  if (by.includes("month") && !by.includes("week") && !by.includes("day")) {
    return new Date(last.getFullYear(), last.getMonth() - 11, 1).getTime();
  }
  if (by.includes("week") && !by.includes("day")) return startOfDay(lastMs, -((last.getDay() + 6) % 7) - 11 * 7);
  return startOfDay(lastMs, -29);
}
