import type { Rule } from "./rules.ts";

/** A rule whose expressions are compiled when a text has one of its hints: most processes need few of them. */
export class Compiled {
  readonly rule: Rule;
  #pattern: RegExp | undefined;
  #there: RegExp | undefined;
  #reach: number | undefined;

  constructor(rule: Rule) {
    this.rule = rule;
  }

  get pattern(): RegExp {
    this.#pattern ??= new RegExp(this.rule.pattern, `g${this.#flags}`);
    return this.#pattern;
  }

  /** The same pattern, tried at one place only. */
  get there(): RegExp {
    this.#there ??= new RegExp(this.rule.pattern, `y${this.#flags}`);
    return this.#there;
  }

  /** The most characters that decide whether the rule matches, see `reachOf`. */
  get reach(): number {
    this.#reach ??= reachOf(this.rule.pattern);
    return this.#reach;
  }

  get #flags(): string {
    return this.rule.ignoreCase === true ? "iu" : "u";
  }
}

/** All matches of the rules in a text; `order` is the position of the rule. */
export type Search = (
  text: string,
) => Iterable<{ readonly order: number; readonly rule: Rule; readonly match: RegExpExecArray; readonly index: number }>;

/**
 * Makes a search that tries a rule only around the rule's hints in a text, found for all rules in one pass. A rule decides within
 * `reach` characters of a hint whether it matches, so a text takes time in proportion to its length.
 */
export function searchFor(rules: readonly Compiled[]): Search {
  const buckets = bucketsOf(rules);
  return function* (text) {
    for (const [order, windows] of windowsIn(text, buckets, rules).entries()) {
      const compiled = rules[order];
      if (windows === undefined || compiled === undefined || !text.includes(compiled.rule.contains ?? "")) continue;
      const { rule, pattern, reach } = compiled;
      let next = 0;
      for (let i = 0; i < windows.length; i += 2) {
        const [from, to] = [Math.max(windows[i] ?? 0, next), windows[i + 1] ?? 0];
        // One character before, so that ^ does not match at the beginning of a part
        const start = Math.max(0, from - 1);
        const part = text.slice(start, to);
        for (next = from; next < Math.min(to, text.length); ) {
          pattern.lastIndex = next - start;
          let match = pattern.exec(part);
          if (match === null) break;
          const index = start + match.index;
          // Near the end of the part, the match may continue behind it
          if (match.index + match[0].length + reach > part.length && to < text.length) {
            compiled.there.lastIndex = index;
            match = compiled.there.exec(text) ?? match;
          }
          next = index + match[0].length;
          yield { order, rule, match, index };
        }
      }
    }
  };
}

/**
 * The length of the longest match if every unbounded repetition is as short as possible. Nothing in a rule depends on characters
 * farther away: what follows an unbounded repetition cannot fail.
 */
export function reachOf(pattern: string): number {
  let at = 0;
  const alternatives = (): number => {
    let [longest, length] = [0, 0];
    while (at < pattern.length && pattern[at] !== ")") {
      if (pattern[at] === "|") {
        longest = Math.max(longest, length);
        length = 0;
        at++;
        continue;
      }
      length += part() * times();
    }
    return Math.max(longest, length);
  };
  const take = (form: RegExp): RegExpExecArray | null => {
    form.lastIndex = at;
    const found = form.exec(pattern);
    at += found?.[0].length ?? 0;
    return found;
  };
  const part = (): number => {
    if (take(/\((?:\?:)?/y) === null) return /^[\^$]/.test(take(PART)?.[0] ?? "") ? 0 : 1;
    const length = alternatives();
    at++;
    return length;
  };
  const times = (): number => {
    const [sign, least, comma, most] = take(TIMES) ?? [];
    if (least !== undefined) return Number(comma === "" || most === "" ? least : most);
    return sign === "*" ? 0 : 1;
  };
  return alternatives();
}

// --- internal ---

const PART = /\[(?:\\[\s\S]|[^\]])*\]|\\[\s\S]|[\s\S]/y;
const TIMES = /[*+?]|\{(\d+)(,?)(\d*)\}/y;

interface Hint {
  readonly text: string;
  readonly isExact: boolean;
  readonly orders: readonly number[];
}

/** Hints by their first two characters, in lower case: `lists[numbers[first * CODES + second]]`. */
interface Buckets {
  readonly numbers: Uint16Array;
  readonly lists: readonly (readonly Hint[])[];
}

/** Stands for all characters above ASCII. */
const OTHER = 128;
const CODES = OTHER + 1;
const LOWER_CASE = Uint8Array.from({ length: OTHER }, (_, code) =>
  String.fromCharCode(code).toLowerCase().charCodeAt(0),
);

/** Rules that ignore case match ſ as an s, and the sign of Kelvin as a k. */
const folded = (code: number): number =>
  code < OTHER ? (LOWER_CASE[code] ?? OTHER) : code === 0x17f ? 0x73 : code === 0x212a ? 0x6b : OTHER;

function bucketsOf(rules: readonly Compiled[]): Buckets {
  const hints = new Map<string, { text: string; isExact: boolean; orders: number[] }>();
  for (const [order, { rule }] of rules.entries()) {
    const isExact = rule.ignoreCase !== true;
    for (const text of rule.hints) {
      const key = `${isExact} ${text}`;
      const hint = hints.get(key) ?? { text, isExact, orders: [] };
      hints.set(key, hint);
      hint.orders.push(order);
    }
  }
  const numbers = new Uint16Array(CODES * CODES);
  const lists: Hint[][] = [[]];
  for (const hint of hints.values()) {
    const first = folded(hint.text.charCodeAt(0)) * CODES;
    // A hint of one character is followed by any other
    const seconds = hint.text.length > 1 ? [folded(hint.text.charCodeAt(1))] : Array(CODES).keys();
    for (const second of seconds) {
      if (numbers[first + second] === 0) numbers[first + second] = lists.push([]) - 1;
      lists[numbers[first + second] ?? 0]?.push(hint);
    }
  }
  return { numbers, lists };
}

/** The parts of a text in which each rule can match: beginnings and ends alternate, in ascending order, without overlap. */
function windowsIn(
  text: string,
  { numbers, lists }: Buckets,
  rules: readonly Compiled[],
): readonly (number[] | undefined)[] {
  const windows = rules.map((): number[] | undefined => undefined);
  let first = folded(text.charCodeAt(0));
  for (let at = 0; at < text.length; at++) {
    const second = at + 1 < text.length ? folded(text.charCodeAt(at + 1)) : OTHER;
    const number = numbers[first * CODES + second] ?? 0;
    first = second;
    if (number === 0) continue;
    for (const hint of lists[number] ?? []) {
      if (!isThere(hint, text, at)) continue;
      for (const order of hint.orders) {
        const reach = rules[order]?.reach ?? 0;
        const own = windows[order];
        // Far enough behind the hint for most values
        const end = at + 2 * reach;
        if (own === undefined) windows[order] = [Math.max(0, at - reach), end];
        else if ((own[own.length - 1] ?? 0) >= at - reach) own[own.length - 1] = end;
        else own.push(at - reach, end);
      }
    }
  }
  return windows;
}

function isThere({ text: hint, isExact }: Hint, text: string, at: number): boolean {
  if (isExact) return text.startsWith(hint, at);
  for (let i = 2; i < hint.length; i++) {
    if (folded(text.charCodeAt(at + i)) !== hint.charCodeAt(i)) return false;
  }
  return true;
}
