/**
 * One kind of secret. `pattern` means the same to RE2 (Go, the Collector) and to JavaScript with `u`: no look-around, no back
 * references, no class whose members differ (`\s`, `\w`, `.`), and no match can begin inside another one of the same rule. Each
 * begins with a literal, or with a bounded number of characters before one; an unbounded part is at the end and cannot fail. A
 * text is therefore read in linear time.
 */
export interface Rule {
  /** The name in the marker: `[redacted:<id>]`. */
  readonly id: string;
  /** With groups, the first one, at the beginning, stays and the second is redacted. Without groups the whole match is. */
  readonly pattern: string;
  /** Case-insensitive: `(?i)` in RE2. */
  readonly ignoreCase?: true;
  /** Every matching text contains one of these; in lower case for case-insensitive rules. */
  readonly hints: readonly string[];
  /** Which false positives to look for, see `false-positives.ts`. */
  readonly ordinary?: "assigned" | "home" | "address";
}

/** What can precede a value: nothing, or no letter. It stays. */
export const BEFORE = "(^|[^A-Za-z])";

/** A rule for a value with an unmistakable prefix. */
export const token = (id: string, hints: readonly string[], pattern: string): Rule => ({ id, hints, pattern });
/** `token` for prefixes in which a longer word can end: `task-…` is no `sk-…`. */
export const word = (id: string, hints: readonly string[], pattern: string): Rule => ({
  id,
  hints,
  pattern: `${BEFORE}(${pattern})`,
});

/** The pattern for the Collector's `redaction` processor (RE2). */
export const re2 = ({ pattern, ignoreCase }: Pick<Rule, "pattern" | "ignoreCase">): string =>
  ignoreCase === true ? `(?i)${pattern}` : pattern;
