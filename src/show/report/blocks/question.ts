import { UserError } from "#kit/errors.ts";
import { type Question, type QuestionOptions, rangeOf } from "../question.ts";
import type { BlockQuestion } from "./blocks.ts";

/**
 * The question of `report --blocks`.
 *
 * @param words dimensions on the command line
 * @throws UserError for options that windows cannot be combined with, and for a wrong time
 */
export function blockQuestionOf(words: readonly string[], options: QuestionOptions, nowMs: number): BlockQuestion {
  if (words.length > 0) refuse(`windows are the rows of --blocks: leave out ${words.join(" ")}`);
  if (options.csv) refuse("--blocks prints two tables, which one CSV file cannot have: use --json");
  for (const filter of ["model", "repository"] as const) {
    if (options[filter] !== undefined)
      refuse(`--blocks cannot be combined with --${filter}: a limit is for all models and repositories of an agent`);
  }
  const { sinceMs, untilMs = nowMs } = rangeOf(options, ["day"], nowMs);
  const limit = options.limit ?? (options.json ? undefined : DEFAULT_LIMIT);
  const { agent } = options;
  return { sinceMs, untilMs, ...(agent !== undefined && { agent }), ...(limit !== undefined && { limit }) };
}

/** The same as a query of usage. */
export const queryOf = ({ sinceMs, untilMs, agent }: BlockQuestion, nowMs: number): Question["query"] => ({
  by: [],
  sinceMs,
  ...(untilMs < nowMs && { untilMs }),
  ...(agent !== undefined && { agent }),
});

// --- internal ---

const DEFAULT_LIMIT = 20;

function refuse(message: string): never {
  throw new UserError("E_USAGE", message);
}
