import type { Conversion } from "#collect/convert/envelopes.ts";
import { ENVELOPE_TEXTS, type EnvelopeText } from "#core/model/envelope-types.ts";
import { plural } from "#kit/text/figures.ts";
import type { SourceReport, StreamReport, TextReport } from "./conformance.ts";

/** What a conversion leaves out, for stderr, without content of payloads. */
export function* leftOutLines(
  { envelopes, signals, duplicates, withoutEvents, problems }: Conversion,
  text: EnvelopeText,
): Generator<string> {
  for (const { line, reason } of problems.slice(0, MAX_PROBLEMS)) yield `line ${line}: ${reason}`;
  if (problems.length > MAX_PROBLEMS) yield `and ${problems.length - MAX_PROBLEMS} more lines like these`;
  const writes = signals.get("file.write") ?? 0;
  const types = [...signals]
    .filter(([type]) => type !== "file.write")
    .map(([type, n]) => `${n} ${type}`)
    .join(", ");
  const parts = [
    ...(types === "" ? [] : [`${types} (OpenHook has no such types)`]),
    ...(writes === 0 ? [] : [`${writes} file.write (not in the text ${text}; --text context has it)`]),
    ...(duplicates === 0 ? [] : [plural(duplicates, "duplicate event", "duplicate events")]),
    ...(withoutEvents === 0 ? [] : [plural(withoutEvents, "payload without an event", "payloads without an event")]),
    ...(problems.length === 0 ? [] : [plural(problems.length, "payload not understood", "payloads not understood")]),
  ];
  if (parts.length > 0) yield `${plural(envelopes.length, "envelope")}; left out: ${parts.join("; ")}`;
}

/** A report on a stream of envelopes: each line's text, errors and remarks, sums, and each source's level. */
export function validationLines({ notes, lines, envelopes, sources }: StreamReport): readonly string[] {
  const errors = notes.filter(({ level }) => level === "error").length;
  return [
    ...notes.map(({ line, level, text }) => `line ${line}: ${level}: ${text}`),
    ...runsOf(lines),
    `${plural(envelopes, "valid envelope")}, ${plural(errors, "error")}, ${plural(notes.length - errors, "remark")}`,
    ...sources.flatMap(sourceLines),
  ];
}

/** Whether there are envelopes, none with an error, and each source conforms to at least one text in all its lines. */
export const conforms = ({ notes, envelopes, lines, sources }: StreamReport): boolean =>
  envelopes > 0 &&
  notes.every(({ level }) => level !== "error") &&
  lines.every(({ texts }) => texts.length > 0) &&
  sources.every(({ texts }) => texts.some(({ level, missing }) => level > 0 || !isFault(missing)));

// --- internal ---

const MAX_PROBLEMS = 50;

const LEVEL_NAMES = [
  "does not conform",
  "level 1 (minimal)",
  "level 2 (observable)",
  "level 3 (discoverable)",
] as const;

const isFault = (missing: readonly string[]): boolean => missing.some((need) => need.startsWith("no errors"));

/** `lines 1-4: both texts`; successive lines with the same answer are one. */
function* runsOf(lines: StreamReport["lines"]): Generator<string> {
  const nameOf = (texts: readonly EnvelopeText[]): string =>
    texts.length === 0 ? "no text" : texts.length === ENVELOPE_TEXTS.length ? "both texts" : `text ${texts.join(", ")}`;
  let begin = 0;
  while (begin < lines.length) {
    const first = lines[begin];
    if (first === undefined) return;
    const name = nameOf(first.texts);
    let end = begin;
    while (end + 1 < lines.length && nameOf(lines[end + 1]?.texts ?? []) === name) end++;
    const last = lines[end]?.line ?? first.line;
    yield first.line === last ? `line ${first.line}: ${name}` : `lines ${first.line}-${last}: ${name}`;
    begin = end + 1;
  }
}

/** One line if both texts have the same answer. */
function sourceLines({ source, texts }: SourceReport): readonly string[] {
  const levels = texts.map((report) => ({ text: report.text, words: levelWords(report) }));
  const [first] = levels;
  if (first !== undefined && levels.every(({ words }) => words === first.words)) {
    return [`${source}: OpenHook v0.1, both texts: ${first.words}`];
  }
  return levels.map(({ text, words }) => `${source}: OpenHook v0.1, text ${text}: ${words}`);
}

const levelWords = ({ level, missing }: TextReport): string =>
  missing.length === 0
    ? LEVEL_NAMES[level]
    : `${LEVEL_NAMES[level]}; ${level === 0 ? "needed" : `level ${level + 1} needs`} ${missing.join(", ")}`;
