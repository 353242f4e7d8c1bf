// Transcripts of programs that this one does not know: JSON lines, or one JSON document; read by their shape, see docs/openhook.md
import { statSync } from "node:fs";
import { INITIAL_OFFSET } from "#core/model/initial-offset.ts";
import type { Offset } from "#core/model/transcript.ts";
import type { ReadOptions, TranscriptBatch, TranscriptFile, TranscriptReader } from "#core/model/transcript-reader.ts";
import { EntrySink } from "#core/rules/entry-sink.ts";
import { messageOf } from "#kit/errors.ts";
import { firstBytes, RefusedError } from "#kit/open.ts";
import { asObject, type Fields, parsedObject } from "../shared/payload/json.ts";
import { elementsOf } from "../shared/transcript/elements.ts";
import { type LineRules, readLines, UNREADABLE } from "../shared/transcript/read-lines.ts";
import { readWhole } from "../shared/transcript/whole.ts";
import { concludeReading, readRecord, type ShapeState, shapeState, type Times } from "./facts.ts";

/** Only folders that the user allows are read, and only the file that the sender names. */
export default {
  roots: () => [],
  async *locate() {},
  files: async ({ path }) => (path !== undefined && isFile(path) ? [{ path }] : []),
  read,
} satisfies TranscriptReader;

// --- internal ---

const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true;

async function* read(file: TranscriptFile, from: Offset, options: ReadOptions = {}): AsyncGenerator<TranscriptBatch> {
  // Which text is a prompt is not known
  if (options.untilPrompt !== undefined) return;
  const form = formOf(file, from);
  if (form === "lines") return yield* readJsonLines(file, from, options);
  const whole = form === "array" ? undefined : await wholeOf(file);
  // A program is writing it
  if (form === "object" && whole === undefined) return;
  if (form === "line" && whole === undefined) return yield* readJsonLines(file, from, options);
  yield* readDocument(file, from, whole);
}

/** Enough for the first line of most files. */
const HEAD_BYTES = 1 << 16;
/** Shorter files of one line are read as JSON lines, whether or not the line is complete. */
const MIN_DOCUMENT_BYTES = 4 << 20;

/** `object`: over several lines. `line`: one long line, or lines of which the first is long. */
function formOf({ path, roots }: TranscriptFile, { memo }: Offset): "lines" | "array" | "object" | "line" {
  if (memo["fingerprint"] !== undefined) return "lines";
  const head = firstBytes(path, HEAD_BYTES, roots)
    .toString("utf8")
    .replace(/^\ufeff/, "")
    .trimStart();
  if (head.startsWith("[")) return "array";
  if (!head.startsWith("{")) return "lines";
  const end = head.indexOf("\n");
  if (end !== -1) return /^\{\s*$|[{[,]\s*$/.test(head.slice(0, end)) ? "object" : "lines";
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > MIN_DOCUMENT_BYTES ? "line" : "lines";
}

/** @throws RefusedError for a document that is too large; the session goes on without it */
const wholeOf = (file: TranscriptFile): Promise<Fields | undefined> =>
  readWhole(file).then(
    ({ object }) => object,
    (error: unknown) => refuse(file, error),
  );

function refuse({ path }: TranscriptFile, error: unknown): never {
  if (error instanceof RefusedError || (error instanceof Error && "syscall" in error)) throw error;
  throw new RefusedError(`${JSON.stringify(path)} is not read: ${messageOf(error)}`);
}

async function* readJsonLines(
  file: TranscriptFile,
  from: Offset,
  options: ReadOptions,
): AsyncGenerator<TranscriptBatch> {
  const rules: LineRules<ShapeState> = {
    kinds: [],
    shortens: false,
    state: (modifiedMs, stored) => shapeState(modifiedMs, stored),
    read(line, state, sink) {
      const record = parsedObject(line.bytes);
      if (record === undefined) return UNREADABLE;
      readRecord(record, state, sink);
      return undefined;
    },
    content: () => [],
  };
  let last: Offset | undefined;
  for await (const batch of readLines(file, isLineOffset(from) ? from : INITIAL_OFFSET, options, rules)) {
    yield batch;
    last = batch.next;
  }
  if (last === undefined) return;
  const sink = new EntrySink();
  const state = { ...(last.memo["state"] as ShapeState) };
  concludeReading(state, sink);
  const next = { bytes: last.bytes, memo: { ...last.memo, state } };
  if (sink.count > 0) yield { entries: sink.take(), next, unreadable: 0 };
}

const isLineOffset = ({ memo }: Offset): boolean => memo["fingerprint"] !== undefined;

/** Reads a document again as a whole. Answers that were there before keep their time, if the document has none. */
async function* readDocument(
  file: TranscriptFile,
  { memo }: Offset,
  whole: Fields | undefined,
): AsyncGenerator<TranscriptBatch> {
  const { mtimeMs, size } = statSync(file.path);
  const before = asObject(memo["state"]) as Partial<ShapeState> | undefined;
  const state = shapeState(Number(memo["firstMs"] ?? mtimeMs), { isCounted: before?.isCounted === true });
  const sink = new EntrySink();
  let unreadable = 0;
  if (whole !== undefined) readRecord(whole, state, sink);
  else {
    const times: Times = new Map();
    try {
      for await (const element of elementsOf(file.path, undefined, { roots: file.roots })) {
        const record = element === undefined ? undefined : parsedObject(element);
        if (record === undefined) unreadable++;
        else readRecord(record, state, sink, times);
      }
    } catch (error) {
      refuse(file, error);
    }
  }
  concludeReading(state, sink);
  const next = { bytes: size, memo: { firstMs: Number(memo["firstMs"] ?? mtimeMs), state: { ...state } } };
  yield { entries: sink.take(), next, unreadable, records: state.records };
}
