import type { JsonLine } from "#agents/shared/transcript/json-line.ts";
import { UNREADABLE } from "#agents/shared/transcript/read-lines.ts";
import { makeShortener } from "#agents/shared/transcript/shorten.ts";
import type { FactSink } from "#core/model/fact-sink.ts";
import type { TranscriptEntry } from "#core/model/transcript.ts";
import { EntrySink } from "#core/rules/entry-sink.ts";

/** A line as in the file. */
export function wholeLine(text: string): JsonLine {
  const bytes = Buffer.from(text);
  return { bytes, isCut: false, text: () => text, head: (length) => bytes.toString("latin1", 0, length) };
}

/** The line with long strings cut, as readers get it. */
export function shortLine(text: string): JsonLine {
  const bytes = Buffer.from(text);
  const shortener = makeShortener(bytes.length + 1);
  if (shortener === undefined) throw new Error("this engine cannot run the shortener");
  shortener.bytes.set(bytes);
  shortener.bytes[bytes.length] = 0x0a;
  const [line] = [...shortener.lines(0, bytes.length + 1)];
  if (line === undefined) throw new Error(`no line: ${JSON.stringify(text)}`);
  return { bytes, isCut: line.isCut, text: () => line.text(), head: (length) => line.head(length) };
}

/**
 * Reads one line as a drain does.
 *
 * @param state the state before the line; not changed
 * @returns the line's entries and the state after it; `undefined` for an unreadable line
 */
export function readWith<State extends object>(
  state: State,
  read: (state: State, sink: FactSink) => unknown,
): { readonly entries: readonly TranscriptEntry[]; readonly state: State } | undefined {
  const sink = new EntrySink();
  const next = { ...state };
  return read(next, sink) === UNREADABLE ? undefined : { entries: sink.take(), state: next };
}
