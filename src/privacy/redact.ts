import { decodedIn } from "./encoded.ts";
import { isFalsePositive } from "./false-positives.ts";
import { EMAIL_RULE, HOME_RULES, type Rule, SECRET_RULES } from "./rules.ts";
import { secretCells } from "./tables.ts";
import { viewsOf } from "./views.ts";

/** Redacts secrets in a text. Pure; a text without any is returned unchanged. */
export type Redact = (text: string) => string;

/** Finds what the user's own rules match, in any engine. */
export interface Finder {
  readonly id: string;
  find(text: string): Iterable<readonly [start: number, end: number]>;
}

export interface RedactOptions {
  /** @default true */
  readonly emails?: boolean;
  /** User names in paths. @default true */
  readonly homeDirectories?: boolean;
  /** This machine's home directory: redacted wherever it is, if `homeDirectories` is on. */
  readonly home?: string;
  /** In addition to the built-in ones, which cannot be switched off. */
  readonly own?: readonly Finder[];
}

/** Longer texts are cut here, so that nothing leaves unscanned. */
export const MAX_SCANNED = 1 << 20;

/**
 * Makes a redactor. Every match, in the text or in its decoded forms (see `viewsOf` and `decodedIn`), becomes `[redacted:<id>]`; names and
 * quotes around it stay. Linear time.
 *
 * Redact before cutting: half a secret is not recognised. Idempotent.
 */
export function redactorOf(options: RedactOptions = {}): Redact {
  const rules = [
    ...COMPILED,
    ...(options.emails === false ? [] : COMPILED_EMAIL),
    ...(options.homeDirectories === false ? [] : [...homeOf(options.home), ...COMPILED_HOME]),
  ];
  const { own = [] } = options;
  // Made at the first text: a program that redacts nothing saves 10 ms
  let hints: Hints | undefined;
  const known = new Map<string, string>();
  const scan = (text: string): string => {
    hints ??= hintsOf(rules);
    let clean = bounded(text);
    for (let pass = 0; pass < MAX_PASSES; pass++) {
      const before = clean;
      clean = withoutFindings(before, findingsIn(before, rules, own, hints));
      if (clean === before) break;
    }
    return clean;
  };
  return (text) => {
    if (text.length > MAX_KNOWN_CHARACTERS) return scan(text);
    // Names of tools, models and agents occur again and again
    const before = known.get(text);
    if (before !== undefined) return before;
    const clean = scan(text);
    if (known.size >= MAX_KNOWN) known.clear();
    known.set(text, clean);
    return clean;
  };
}

/** With the built-in rules only. */
export const redact: Redact = (text) => {
  builtIn ??= redactorOf();
  return builtIn(text);
};

// --- internal ---

let builtIn: Redact | undefined;

/** A redaction can complete a pattern with the text beside it; a third pass finds nothing. */
const MAX_PASSES = 4;
const MAX_KNOWN = 4096;
const MAX_KNOWN_CHARACTERS = 128;
/** In a text that is cut, a possible beginning of a secret is cut too. */
const LONGEST_SECRET = 4096;
/** Room for the note that the text was cut, so that it is not cut again. */
const LONGEST_MARK = 64;

interface Compiled {
  readonly rule: Rule;
  readonly pattern: RegExp;
}

/** The hints in a text. One pass for all of them: one by one they cost more than the rules they save. */
type HintFinder = (text: string) => ReadonlySet<string>;

interface Hints {
  readonly exact: HintFinder;
  /** For case-insensitive rules, in a lower-case text. */
  readonly anyCase: HintFinder;
}

interface Finding {
  readonly start: number;
  readonly end: number;
  readonly id: string;
  /** Position of its rule: of two matches with the same start, the first names it. */
  readonly order: number;
}

/** No rule matches such a short text without an assignment. Many names of tools and branches are short. */
const SHORT = /^[A-Za-z0-9._-]{0,15}$/;
const MARKER = /^\[redacted:[a-z0-9-]+\]$/;
const ALL_MARKERS = /\[redacted:[a-z0-9-]+\]/g;
const ENCODED = new RegExp(
  [
    "%[0-9A-Fa-f]{2}",
    "\\\\[ux0-7\"'/\\\\nrtbf\\r\\n]",
    "[A-Za-z0-9+/_-]{20}",
    "&[#a-z]",
    "[\u0000\u001b\u00ad\u200b-\u200f\u2060\ufeff]",
  ].join("|"),
);
/** Base64 in base64 in base64. */
const MAX_ENCODED = 3;

const compile = (rule: Rule): Compiled => ({
  rule,
  pattern: new RegExp(rule.pattern, rule.ignoreCase === true ? "giu" : "gu"),
});

const COMPILED = SECRET_RULES.map(compile);
const COMPILED_EMAIL = [compile(EMAIL_RULE)];
const COMPILED_HOME = HOME_RULES.map(compile);

const literal = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");

const hintsOf = (rules: readonly Compiled[]): Hints => ({
  exact: hintFinder(rules.flatMap(({ rule }) => (rule.ignoreCase === true ? [] : rule.hints))),
  anyCase: hintFinder(rules.flatMap(({ rule }) => (rule.ignoreCase === true ? rule.hints : []))),
});

/** At each position the longest hint is found, which implies the hints that it begins with. */
function hintFinder(hints: readonly string[]): HintFinder {
  const all = new Set(hints);
  const longestFirst = [...all].sort((a, b) => b.length - a.length);
  const beginningsOf = (hint: string) => Array.from(hint, (_, index) => hint.slice(0, index + 1));
  const alsoThere = new Map(longestFirst.map((hint) => [hint, beginningsOf(hint).filter((one) => all.has(one))]));
  const pattern = new RegExp(`(?=(${longestFirst.map(literal).join("|")}))`, "g");
  return (text) => {
    const found = new Set<string>();
    for (const [, hint = ""] of text.matchAll(pattern)) {
      if (!found.has(hint)) for (const one of alsoThere.get(hint) ?? []) found.add(one);
    }
    return found;
  };
}

/** For users with an unusual home directory. The root directory and its direct children are no user names. */
function homeOf(home: string | undefined): readonly Compiled[] {
  const path = home?.replace(/[/\\]+$/, "") ?? "";
  if (path.split(/[/\\]/).filter((part) => part !== "").length < 2) return [];
  return [
    compile({ id: "home", hints: [path], pattern: `(^|[^A-Za-z0-9._-])(${literal(path)})(?:$|[^A-Za-z0-9._-])` }),
  ];
}

function bounded(text: string): string {
  if (text.length <= MAX_SCANNED) return text;
  const head = text.slice(0, MAX_SCANNED - LONGEST_MARK);
  const tail = head.slice(-LONGEST_SECRET);
  const end = head.length - LONGEST_SECRET + Math.max(0, tail.search(/[ \t\r\n][^ \t\r\n]*$/));
  return `${head.slice(0, end)}… [cut: ${text.length} characters]`;
}

function findingsIn(text: string, rules: readonly Compiled[], own: readonly Finder[], hints: Hints): Finding[] {
  const found: Finding[] = [];
  const isEncoded = ENCODED.test(text);
  const firstIn = (inner: string): Finding | undefined => inView(inner, rules, own, hints)[0];
  const looked = new Map<string, Finding | undefined>();
  for (const view of isEncoded ? viewsOf(text) : [{ text }]) {
    const place = (index: number): number => ("at" in view ? view.at?.[index] : undefined) ?? index;
    for (const { start, end, ...rest } of inView(view.text, rules, own, hints)) {
      found.push({ start: place(start), end: place(end), ...rest });
    }
    if (!isEncoded) continue;
    for (const { start, end, text: decoded } of decodedIn(view.text)) {
      if (!looked.has(decoded)) looked.set(decoded, findingBelow(decoded, firstIn, MAX_ENCODED));
      const hidden = looked.get(decoded);
      if (hidden !== undefined) found.push({ ...hidden, start: place(start), end: place(end) });
    }
  }
  return found;
}

/** The first finding in a decoded text, or in what is encoded in it in turn. */
function findingBelow(
  text: string,
  firstIn: (text: string) => Finding | undefined,
  depth: number,
): Finding | undefined {
  for (const view of viewsOf(text)) {
    const finding = firstIn(view.text);
    if (finding !== undefined) return finding;
    if (depth <= 1) continue;
    for (const inner of decodedIn(view.text)) {
      const deeper = findingBelow(inner.text, firstIn, depth - 1);
      if (deeper !== undefined) return deeper;
    }
  }
  return undefined;
}

function inView(text: string, rules: readonly Compiled[], own: readonly Finder[], hints: Hints): readonly Finding[] {
  const found: Finding[] = [];
  if (!SHORT.test(text)) {
    const there = { exact: hints.exact(text), anyCase: hints.anyCase(text.toLowerCase()) };
    for (const [order, { rule, pattern }] of rules.entries()) {
      const seen = rule.ignoreCase === true ? there.anyCase : there.exact;
      if (!rule.hints.some((hint) => seen.has(hint))) continue;
      for (const match of text.matchAll(pattern)) {
        const value = goingIn(match);
        if (value !== undefined && !isFalsePositive(rule.ordinary, value.text)) {
          found.push({ start: value.start, end: value.start + value.text.length, id: rule.id, order });
        }
      }
    }
  }
  for (const { start, text: value } of secretCells(text)) {
    if (!isFalsePositive("assigned", value))
      found.push({ start, end: start + value.length, id: "secret", order: rules.length });
  }
  for (const { id, find } of own) {
    for (const [start, end] of find(text)) if (end > start) found.push({ start, end, id, order: -1 });
  }
  return found.filter(({ start, end }) => !MARKER.test(text.slice(start, end)));
}

/** The second group without its opening quote; the whole match without groups. */
function goingIn(match: RegExpExecArray): { readonly start: number; readonly text: string } | undefined {
  const [whole, kept, value] = match;
  if (kept === undefined || value === undefined) return { start: match.index, text: whole };
  const quote = /^\\{0,3}["'`]/.exec(value)?.[0] ?? "";
  const text = value.slice(quote.length);
  return text === "" ? undefined : { start: match.index + kept.length + quote.length, text };
}

/** Each covered stretch becomes one marker. Existing markers stay. */
function withoutFindings(text: string, findings: readonly Finding[]): string {
  if (findings.length === 0) return text;
  const markers = [...text.matchAll(ALL_MARKERS)].map((match) => ({
    start: match.index,
    end: match.index + match[0].length,
  }));
  const isInMarker = ({ start, end }: Finding): boolean => markers.some((m) => m.start <= start && end <= m.end);
  const sorted = findings
    .filter((finding) => finding.end > finding.start && (markers.length === 0 || !isInMarker(finding)))
    .sort((a, b) => a.start - b.start || a.order - b.order || b.end - a.end);
  const pieces: string[] = [];
  let copied = 0;
  for (let i = 0; i < sorted.length; ) {
    const first = sorted[i];
    if (first === undefined) break;
    let end = first.end;
    for (i++; i < sorted.length && (sorted[i]?.start ?? end) < end; i++) end = Math.max(end, sorted[i]?.end ?? end);
    pieces.push(text.slice(copied, first.start), `[redacted:${first.id}]`);
    copied = end;
  }
  return `${pieces.join("")}${text.slice(copied)}`;
}
