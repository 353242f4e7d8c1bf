import { UserError } from "#kit/errors.ts";

/** Any JSON object. */
export type Fields = Readonly<Record<string, unknown>>;

/** The members of a row that are about cost and tokens. Unknown is `null`; the last three say how much of it is unknown. */
export const FIGURES =
  "cost_usd model_calls input output cache_read unpriced_calls calls_without_usage incomplete_calls";

/** Members of a JSON object by name. Those that it does not have are left out. @param names separated by spaces */
export function pick(from: unknown, names: string): Fields {
  const fields = fieldsOf(from);
  return Object.fromEntries(names.split(" ").flatMap((name) => (name in fields ? [[name, fields[name]]] : [])));
}

/** Some members of the first objects of a list; none if it is no list. */
export const first = (list: unknown, limit: number, names: string): readonly Fields[] =>
  listOf(list)
    .slice(0, limit)
    .map((one) => pick(one, names));

/** The same of those that cost most. */
export const dearest = (list: unknown, limit: number, names: string): readonly Fields[] =>
  first([...listOf(list)].sort(byCost), limit, names);

export const fieldsOf = (value: unknown): Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/**
 * An answer as text for a model. It is short: the tools limit their lists, and the store limits names.
 *
 * @throws UserError if it is too long nevertheless
 */
export function answerText(answer: Fields): string {
  const text = JSON.stringify(answer);
  if (text.length > MAX_ANSWER) throw new UserError("E_SIZE", "the answer is too long: ask for fewer rows with limit");
  return text;
}

// --- internal ---

/** About 5,000 tokens. Usual answers have 500 to 4,000 characters. */
const MAX_ANSWER = 20_000;

const byCost = (a: unknown, b: unknown): number => costIn(b) - costIn(a);

/** Unknown costs come last. */
function costIn(row: unknown): number {
  const { cost_usd: cost } = fieldsOf(row);
  return typeof cost === "number" ? cost : -1;
}
