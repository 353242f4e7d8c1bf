/**
 * One kind of secret. `pattern` must have the same meaning in RE2 (Go, the Collector) and in JavaScript with the flag `u`: no
 * look-around, no back references, no class whose members differ (`\s`, `\w`, `.`), and no match of a rule may begin inside
 * another one. To need linear time, a pattern begins with a literal, or with a bounded number of characters before one, and has
 * an unbounded part only at the end, where it cannot fail.
 */
export interface Rule {
  /** The name in the marker: `[redacted:<id>]`. */
  readonly id: string;
  /**
   * With groups: the first one is at the beginning and stays, the second one is redacted. Without groups: the whole match is.
   */
  readonly pattern: string;
  /** Case-insensitive: `(?i)` in RE2. */
  readonly ignoreCase?: true;
  /** Every matching text contains one of these; in lower case for case-insensitive rules. */
  readonly hints: readonly string[];
  /** Every matching text also contains this. */
  readonly contains?: string;
  /** Which false positives to look for, see `false-positives.ts`. */
  readonly falsePositives?: "assigned" | "spoken" | "home" | "address";
}

/** What can precede a value: the beginning of the text, or a character that is no letter. It is not redacted. */
const BEFORE = "(^|[^A-Za-z])";

/** A rule for a value with a unique prefix. */
export const token = (id: string, hints: readonly string[], pattern: string): Rule => ({ id, hints, pattern });
/** `token` for prefixes that are also the end of other words: `sk-…` must not match in `task-…`. */
export const word = (id: string, hints: readonly string[], pattern: string): Rule => ({
  id,
  hints,
  pattern: `${BEFORE}(${pattern})`,
});

/** The pattern for the Collector's `redaction` processor (RE2). */
export const re2 = ({ pattern, ignoreCase }: Pick<Rule, "pattern" | "ignoreCase">): string =>
  ignoreCase === true ? `(?i)${pattern}` : pattern;
