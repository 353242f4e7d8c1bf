import { UserError } from "../context.ts";
import { sinceOf, timeOf } from "../text/times.ts";
import { startOfDay } from "./buckets.ts";
import { DIMENSIONS, type Dimension, type UsageQuery } from "./query.ts";

export interface QuestionOptions {
  readonly since?: string;
  readonly until?: string;
  readonly agent?: string;
  readonly model?: string;
  readonly repository?: string;
  readonly limit?: number;
  readonly json: boolean;
  readonly csv: boolean;
}

/** What is asked for, with the defaults filled in. */
export interface Question {
  /** `by` is what the first table tells apart. */
  readonly query: UsageQuery & { readonly sinceMs: number };
  /** Nothing was named: days, and a summary by agent and by model. */
  readonly isOverview: boolean;
  /** Rows at most; absent: all. */
  readonly limit?: number;
}

/**
 * Words of the command line as a question.
 *
 * @param words dimensions, also in the plural; none: days
 * @throws UserError for a word that is none, for two that nobody tells together, and for a time that is none
 */
export function questionOf(words: readonly string[], options: QuestionOptions, nowMs: number): Question {
  const by: readonly Dimension[] = words.length === 0 ? ["day"] : [...new Set(words.map(dimensionOf))];
  const { agent, model, repository } = options;
  if (by.includes("tool") && (by.includes("model") || model !== undefined)) {
    throw new UserError("E_USAGE", "no agent tells which model a tool call is of: ask for tools or for models");
  }
  const untilMs = options.until === undefined ? undefined : timeOf("--until", options.until, nowMs);
  // The last moment that counts: until midnight is without the day that begins then
  const lastMs = untilMs === undefined ? nowMs : Math.min(nowMs, untilMs - 1);
  const sinceMs = options.since === undefined ? defaultSince(by, lastMs) : sinceOf(options.since, nowMs);
  if (untilMs !== undefined && sinceMs > untilMs) throw new UserError("E_USAGE", "--since is later than --until");
  const isScreen = !options.json && !options.csv;
  const limit = options.limit ?? (isScreen && by.some((one) => MANY.has(one)) ? DEFAULT_LIMIT : undefined);
  return {
    query: {
      by,
      sinceMs,
      ...(untilMs !== undefined && { untilMs }),
      ...(agent !== undefined && { agent }),
      ...(model !== undefined && { model }),
      ...(repository !== undefined && { repository }),
    },
    isOverview: words.length === 0,
    ...(limit !== undefined && { limit }),
  };
}

// --- internal ---

const DEFAULT_LIMIT = 20;
/** There can be thousands of these, which nobody reads but a program. */
const MANY: ReadonlySet<Dimension> = new Set(["session", "repository", "tool"]);

function dimensionOf(word: string): Dimension {
  const singular = SHORT.get(word) ?? (word.endsWith("ies") ? `${word.slice(0, -3)}y` : word.replace(/s$/, ""));
  const found = DIMENSIONS.find((dimension) => dimension === singular);
  if (found !== undefined) return found;
  throw new UserError("E_USAGE", `a report is by ${DIMENSIONS.join(", ")}, not by ${JSON.stringify(word)}`);
}

const SHORT: ReadonlyMap<string, string> = new Map([
  ["repo", "repository"],
  ["repos", "repository"],
]);

/** Whole days, weeks and months of the machine's calendar: the first bar is as long as the others can be. */
function defaultSince(by: readonly Dimension[], lastMs: number): number {
  const last = new Date(lastMs);
  if (by.includes("hour")) return startOfDay(lastMs, -1);
  if (by.includes("month") && !by.includes("week") && !by.includes("day")) {
    return new Date(last.getFullYear(), last.getMonth() - 11, 1).getTime();
  }
  if (by.includes("week") && !by.includes("day")) return startOfDay(lastMs, -((last.getDay() + 6) % 7) - 11 * 7);
  return startOfDay(lastMs, -29);
}
