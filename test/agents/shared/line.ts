import type { JsonLine } from "../../../src/agents/shared/transcript/jsonl.ts";
import { makeShortener } from "../../../src/agents/shared/transcript/shorten.ts";

/** A line as it stands in the file. */
export function wholeLine(text: string): JsonLine {
  const bytes = Buffer.from(text);
  return { bytes, isCut: false, text: () => text };
}

/** The same line without its long strings, as readers see it. */
export function shortLine(text: string): JsonLine {
  const bytes = Buffer.from(text);
  const shortener = makeShortener(bytes.length + 1);
  if (shortener === undefined) throw new Error("this engine cannot run the shortener");
  shortener.bytes.set(bytes);
  shortener.bytes[bytes.length] = 0x0a;
  const [line] = [...shortener.lines(0, bytes.length + 1)];
  if (line === undefined) throw new Error(`no line: ${JSON.stringify(text)}`);
  return { bytes, isCut: line.isCut, text: () => line.text() };
}
