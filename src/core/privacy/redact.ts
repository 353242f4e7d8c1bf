import { decodedIn } from "./encoded.ts";
import { isFalsePositive } from "./false-positives.ts";
import { manifestSecrets } from "./manifests.ts";
import { EMAIL_RULE, HOME_RULES, SECRET_RULES } from "./rules.ts";
import { Compiled, type Search, searchFor } from "./search.ts";
import { secretCells } from "./tables.ts";
import { Pieces, viewsOf } from "./views.ts";

/** Redacts secrets in a text. Pure; a text without secrets is returned unchanged. */
export type Redact = (text: string) => string;

/** Finds the matches of a user's rule. */
export interface Finder {
  readonly id: string;
  find(text: string): Iterable<readonly [start: number, end: number]>;
}

interface RedactOptions {
  /** @default true */
  readonly emails?: boolean;
  /** User names in paths. @default true */
  readonly homeDirectories?: boolean;
  /** This machine's home directory: redacted wherever it is, if `homeDirectories` is on. */
  readonly home?: string;
  /** In addition to the built-in ones, which cannot be switched off. */
  readonly own?: readonly Finder[];
}

/** Longer texts are truncated, so that nothing is sent unscanned. */
export const MAX_SCANNED = 1 << 20;

/**
 * Makes a redactor. Every match, in the text or in its decoded forms (see `viewsOf` and `decodedIn`), becomes `[redacted:<id>]`; names and
 * quotes around it stay. Linear time.
 *
 * Redact a text before you truncate it: half a secret is not recognised. Idempotent.
 */
export function redactorOf(options: RedactOptions = {}): Redact {
  // Built for the first text: a program that redacts nothing saves 10 ms
  let searched: Searched | undefined;
  // Names are frequent, a hook and a transcript report the same content, and stored texts are redacted again before they are sent
  const known = new Map<string, string>();
  let knownCharacters = 0;
  const remember = (text: string, clean: string): void => {
    const characters = text.length + (clean === text ? 0 : clean.length);
    if (known.size >= MAX_KNOWN || knownCharacters + characters > MAX_KNOWN_CHARACTERS) {
      known.clear();
      knownCharacters = 0;
    }
    known.set(text, clean);
    knownCharacters += characters;
  };
  return (whole) => {
    const text = truncated(whole);
    const before = known.get(text);
    if (before !== undefined) return before;
    searched ??= searchedFor(options);
    let clean = text;
    let isFinal = false;
    for (let pass = 0; pass < MAX_PASSES && !isFinal; pass++) {
      const before = clean;
      clean = withoutFindings(before, searched);
      isFinal = clean === before;
    }
    remember(text, clean);
    // Markers can make a text too long to be redacted again without being truncated
    if (isFinal && clean !== text && clean.length <= MAX_SCANNED) remember(clean, clean);
    return clean;
  };
}

/** A redactor with the built-in rules only. */
export const redact: Redact = (text) => {
  builtIn ??= redactorOf();
  return builtIn(text);
};

// --- internal ---

let builtIn: Redact | undefined;

/** A marker and the text next to it can match another rule, so redaction is repeated. Two passes are usually enough. */
const MAX_PASSES = 4;
const MAX_KNOWN = 4096;
/** Room for the longest result, its JSON and both redacted: the hook and the transcript of a call contain the same texts. */
const MAX_KNOWN_CHARACTERS = 8 * MAX_SCANNED;
/**
 * A truncated text must not end inside a secret: it is cut at the last space within this distance of its end, or before that.
 */
const LONGEST_SECRET = 4096;
/** Room for the note that the text was truncated, so that it is not truncated again. */
const LONGEST_MARK = 64;

interface Finding {
  readonly start: number;
  readonly end: number;
  readonly id: string;
  /** Position of its rule: if two matches have the same start, the marker contains the id of the first rule. */
  readonly order: number;
}

/** No rule matches such a short text without `=` or `:`. Skips the rules for most names of tools and branches. */
const SHORT = /^[A-Za-z0-9._-]{0,15}$/;
const MARKER = /^\[redacted:[a-z0-9-]+\]$/;
const ALL_MARKERS = /\[redacted:[a-z0-9-]+\]/g;
const ENCODED = new RegExp(
  [
    "%[0-9A-Fa-f]{2}",
    "\\\\[ux0-7\"'/\\\\nrtbf\\r\\n]",
    "(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{20}",
    "&[#a-z]",
    "[\u0000\u001b\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]",
  ].join("|"),
);
/** What is decoded in a text and searched, in all forms and levels together; more than an image or an archive contains. */
const MAX_DECODED_PER_CHARACTER = 8;
const MIN_DECODED = 1 << 16;
/** Levels of nested encodings that are decoded, e.g. base64 in base64 in base64. */
const MAX_ENCODED = 3;

let compiledSecrets: readonly Compiled[] | undefined;

function searchedFor({ emails, homeDirectories, home, own = [] }: RedactOptions): Searched {
  compiledSecrets ??= SECRET_RULES.map((rule) => new Compiled(rule));
  const rules = [
    ...compiledSecrets,
    ...(emails === false ? [] : [new Compiled(EMAIL_RULE)]),
    ...(homeDirectories === false ? [] : [...homeOf(home), ...HOME_RULES.map((rule) => new Compiled(rule))]),
  ];
  return { search: searchFor(rules), own, orders: rules.length };
}

const literal = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");

/** A rule for a home directory in an unusual place. The root directory and its direct children contain no user name. */
function homeOf(home: string | undefined): readonly Compiled[] {
  const path = home?.replace(/[/\\]+$/, "") ?? "";
  if (path.split(/[/\\]/).filter((part) => part !== "").length < 2) return [];
  return [
    new Compiled({ id: "home", hints: [path], pattern: `(^|[^A-Za-z0-9._-])(${literal(path)})(?:$|[^A-Za-z0-9._-])` }),
  ];
}

function truncated(text: string): string {
  if (text.length <= MAX_SCANNED) return text;
  const head = text.slice(0, MAX_SCANNED - LONGEST_MARK);
  const tail = head.slice(-LONGEST_SECRET);
  const end = head.length - LONGEST_SECRET + Math.max(0, tail.search(/[ \t\r\n][^ \t\r\n]*$/));
  return `${head.slice(0, end)}… [cut: ${text.length} characters]`;
}

interface Searched {
  readonly search: Search;
  readonly own: readonly Finder[];
  /** How many rules the search has. */
  readonly orders: number;
}

function* findingsIn(text: string, searched: Searched): Generator<Finding> {
  const isEncoded = ENCODED.test(text);
  const findingByText = new Map<string, Omit<Finding, "start" | "end"> | undefined>();
  const budget = { characters: MIN_DECODED + text.length * MAX_DECODED_PER_CHARACTER };
  for (const { text: plain, at } of isEncoded ? viewsOf(text) : [{ text, at: undefined }]) {
    const inOriginal = (one: Finding): Finding =>
      at === undefined ? one : { ...one, start: at[one.start] ?? one.start, end: at[one.end] ?? one.end };
    for (const finding of findingsInView(plain, searched)) yield inOriginal(finding);
    if (!isEncoded) continue;
    for (const { start, end, text: decoded } of decodedIn(plain)) {
      if (!findingByText.has(decoded)) findingByText.set(decoded, findingBelow(decoded, searched, budget, MAX_ENCODED));
      const hidden = findingByText.get(decoded);
      if (hidden !== undefined) yield inOriginal({ ...hidden, start, end });
    }
  }
}

/** The first finding in a decoded text, or in texts that are encoded in it. What is too much to search is taken for a secret. */
function findingBelow(
  text: string,
  searched: Searched,
  budget: { characters: number },
  depth: number,
): Omit<Finding, "start" | "end"> | undefined {
  for (const view of viewsOf(text)) {
    budget.characters -= view.text.length;
    if (budget.characters < 0) return { id: "secret", order: searched.orders };
    for (const finding of findingsInView(view.text, searched)) return finding;
    if (depth <= 1) continue;
    for (const inner of decodedIn(view.text)) {
      const deeper = findingBelow(inner.text, searched, budget, depth - 1);
      if (deeper !== undefined) return deeper;
    }
  }
  return undefined;
}

function* findingsInView(text: string, { search, own, orders }: Searched): Generator<Finding> {
  const isMarker = (start: number, end: number): boolean => text[start] === "[" && MARKER.test(text.slice(start, end));
  if (!SHORT.test(text)) {
    for (const { order, rule, match, index } of search(text)) {
      const value = valueToRedact(match);
      if (value === undefined) continue;
      const start = index + value.start;
      const end = start + value.text.length;
      if (!isMarker(start, end) && !isFalsePositive(rule.falsePositives, value.text))
        yield { start, end, id: rule.id, order };
    }
  }
  for (const cells of [secretCells(text), manifestSecrets(text)]) {
    for (const { start, text: value } of cells) {
      const end = start + value.length;
      if (!isMarker(start, end) && !isFalsePositive("assigned", value))
        yield { start, end, id: "secret", order: orders };
    }
  }
  for (const { id, find } of own) {
    for (const [start, end] of find(text))
      if (end > start && !isMarker(start, end)) yield { start, end, id, order: -1 };
  }
}

/**
 * The part of a match that is redacted, counted from the match's beginning: the second group without its opening quote, or the whole match if there are no groups.
 */
function valueToRedact(match: RegExpExecArray): { readonly start: number; readonly text: string } | undefined {
  const [whole, kept, value] = match;
  if (kept === undefined || value === undefined) return { start: 0, text: whole };
  const quote = /^\\{0,3}["'`]/.exec(value)?.[0] ?? "";
  const text = value.slice(quote.length);
  return text === "" ? undefined : { start: kept.length + quote.length, text };
}

/** Replaces each range of overlapping findings by one marker. Existing markers stay. */
function withoutFindings(text: string, searched: Searched): string {
  // Where the marker ends that a character is in
  let markerEnds: Uint32Array | undefined;
  const found: Finding[] = [];
  for (const finding of findingsIn(text, searched)) {
    markerEnds ??= markerEndsIn(text);
    if (finding.end > Math.max(finding.start, markerEnds[finding.start] ?? 0)) found.push(finding);
  }
  found.sort((a, b) => a.start - b.start || a.order - b.order || b.end - a.end);
  const pieces = new Pieces();
  let copied = 0;
  for (let i = 0; i < found.length; ) {
    const first = found[i];
    if (first === undefined) break;
    let end = first.end;
    for (i++; i < found.length && (found[i]?.start ?? end) < end; i++) end = Math.max(end, found[i]?.end ?? end);
    pieces.add(`${text.slice(copied, first.start)}[redacted:${first.id}]`);
    copied = end;
  }
  pieces.add(text.slice(copied));
  return found.length === 0 ? text : pieces.text();
}

function markerEndsIn(text: string): Uint32Array {
  const ends = new Uint32Array(text.length);
  for (const { 0: marker, index } of text.matchAll(ALL_MARKERS))
    ends.fill(index + marker.length, index, index + marker.length);
  return ends;
}
