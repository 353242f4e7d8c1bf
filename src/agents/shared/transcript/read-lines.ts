import type { ContentUpdate } from "#core/model/content.ts";
import type { FactSink } from "#core/model/fact-sink.ts";
import type { Offset, TranscriptEntry } from "#core/model/transcript.ts";
import type { ReadOptions, TranscriptBatch, TranscriptFile } from "#core/model/transcript-reader.ts";
import { EntrySink } from "#core/rules/entry-sink.ts";
import { putWithContent } from "#core/rules/put-facts.ts";
import { ExcessError } from "#kit/json-limits.ts";
import { withoutLargeValues } from "#kit/shrink.ts";
import { parsedObject } from "../payload/json.ts";
import type { JsonLine } from "./json-line.ts";
import { openJsonl, wholeLine } from "./jsonl.ts";
import { Kinds } from "./kinds.ts";
import { splitLine } from "./spliced.ts";
import { type CountedRecord, countKind } from "./unread-usage.ts";

/** Returned for a line that is no JSON object. */
export const UNREADABLE = Symbol("unreadable");

/** How to read the lines of an agent's transcript. */
export interface LineRules<State extends object> {
  /** Kinds of lines that are known, whether or not they have facts. */
  readonly kinds: readonly string[];
  /** Lines are passed without their long strings first; see `openJsonl`. @default false */
  readonly shortens?: boolean;
  /** It passes the arguments and results of tool calls to the sink itself. @default false: they are taken from `content` */
  readonly passesCalls?: boolean;
  /** The state before the first line, or as an earlier reading stored it. */
  state(modifiedMs: number, stored: Partial<State> | undefined): State;
  /**
   * Passes the facts of a line to the sink and updates the state.
   *
   * @returns the line's kind; `UNREADABLE` when it is no JSON object
   */
  read(line: JsonLine, state: State, sink: FactSink): unknown;
  /** The content of a line, for the entries that were read from it. */
  content(line: Buffer, entries: readonly TranscriptEntry[], state: State): readonly ContentUpdate[];
  /**
   * What stands before the entries of a reading: called after its first batch, and after each further one until it returns something
   * other than `undefined`. @default nothing
   *
   * @param state after the batch
   * @param isFresh this reading started without a stored state
   */
  begin?(state: State, isFresh: boolean): Promise<readonly TranscriptEntry[] | undefined>;
}

/** Replaces a state in place, for rules that return a new one. */
export function replaceState<State extends object>(state: State, next: State): void {
  for (const name of Object.keys(state)) if (!Object.hasOwn(next, name)) delete state[name as keyof State];
  Object.assign(state, next);
}

/** Reads a transcript of JSON lines from an offset on. The memo holds the state and the file's fingerprint. */
export async function* readLines<State extends object>(
  file: TranscriptFile,
  from: Offset,
  { content: wantsContent = false, isSync, batchBytes, untilPrompt, sink: given }: ReadOptions,
  rules: LineRules<State>,
): AsyncGenerator<TranscriptBatch> {
  const memo = from.memo as { readonly state?: Partial<State>; readonly fingerprint?: string };
  const jsonl = await openJsonl(file.path, {
    fromBytes: from.bytes,
    roots: file.roots,
    // Making the shortener takes longer than a small batch
    shortens: rules.shortens === true && batchBytes === undefined,
    isSync,
    ...(batchBytes !== undefined && { chunkBytes: batchBytes }),
    ...(memo.fingerprint !== undefined && { fingerprint: memo.fingerprint }),
  });
  try {
    const isFresh = jsonl.fromBytes === 0 || memo.state === undefined;
    const state = rules.state(jsonl.modifiedMs, isFresh ? undefined : memo.state);
    const kinds = new Kinds(rules.kinds);
    const own = new EntrySink({ needsOnlyPrompts: untilPrompt !== undefined });
    const isDirect = given !== undefined && (rules.passesCalls === true || given.needsResult === undefined);
    const sink = isDirect ? given : own;
    let isBegun = false;
    let isFound = false;
    for await (const batch of jsonl.batches) {
      const content: ContentUpdate[] = [];
      let unreadable = batch.tooLong;
      let setAside = batch.tooLong;
      // A part of a torn line may be no record, so its usage is not unread but belongs to the record that was cut
      const isRead = (line: JsonLine, isPart = false): boolean => {
        const before = own.count;
        const kind = rules.read(line, state, sink);
        if (kind === UNREADABLE) return false;
        const record = (): CountedRecord => ({
          fields: isPart ? undefined : parsedObject(line.text()),
          identity: line.bytes,
          state,
          modifiedMs: jsonl.modifiedMs,
        });
        countKind(kinds, kind, record, sink);
        if (given === undefined) {
          if (!wantsContent) return true;
          const entries = own.since(before);
          const ofLine = rules.content(line.bytes, entries, state);
          content.push(...ofLine);
          isFound ||= untilPrompt?.(entries, ofLine) === true;
        } else if (!isDirect) {
          const entries = own.take();
          putWithContent(given, entries, () => rules.content(line.bytes, entries, state));
        }
        return true;
      };
      let excess = batch.tooLong > 0 ? "it is longer than the limit" : undefined;
      for (const line of batch.lines) {
        if (isFound) break;
        try {
          if (!isRead(line)) unreadable += readRecords(line, (part) => isRead(part, true));
        } catch (error) {
          excess = excessBehind(error);
          setAside++;
          if (!isReadInPart(line, isRead)) unreadable++;
        }
      }
      const isForDisplay = untilPrompt !== undefined;
      const stored = isForDisplay ? {} : { state: { ...state }, fingerprint: await jsonl.fingerprint(batch.endBytes) };
      const next = { bytes: batch.endBytes, memo: stored };
      const counts = {
        unreadable,
        records: batch.lines.length,
        ...kinds.take(),
        ...(excess !== undefined && { setAside: { records: setAside, reason: excess } }),
      };
      const entries = own.take();
      const begun: readonly TranscriptEntry[] | undefined = isBegun ? [] : await rules.begin?.(state, isFresh);
      isBegun ||= begun !== undefined;
      entries.unshift(...(begun ?? []));
      yield { entries, next, content, ...counts };
    }
  } finally {
    await jsonl.close();
  }
}

// --- internal ---

/** Longest text of a line that is read without its large values. */
const MAX_PART_BYTES = 4 << 20;

/** Reads a line that is too large without its large values: its ids, times and figures are small. */
function isReadInPart(line: JsonLine, isRead: (line: JsonLine) => boolean): boolean {
  const part = withoutLargeValues(line.bytes, MAX_PART_BYTES);
  if (!part.ok || part.excess !== undefined || part.closed || part.leftOut === 0) return false;
  try {
    return isRead(wholeLine(part.buffer()));
  } catch (error) {
    excessBehind(error);
    return false;
  }
}

/** Why a line cannot be read. @throws the error, if the line is not the reason */
function excessBehind(error: unknown): string {
  if (error instanceof ExcessError) return error.message;
  if (error instanceof RangeError) return "its arrays and objects are too deep inside each other";
  throw error;
}

/** Reads the records of a line that is none itself. @returns number of unreadable ones, 1 if it has no records */
function readRecords(line: JsonLine, isRead: (line: JsonLine) => boolean): number {
  const { records, torn } = splitLine(line.bytes);
  // A record that is the whole line was already found unreadable
  const parts = records.filter(({ length }) => length < line.bytes.length);
  const unread = parts.filter((part) => !isRead(wholeLine(part))).length;
  return parts.length > 0 ? torn + records.length - parts.length + unread : 1;
}
