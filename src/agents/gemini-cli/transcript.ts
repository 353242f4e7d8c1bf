// Layout from recordings of 0.61.0 and the source of 0.21.3 and 0.61.0, 2026-11-21; token rule in README.md beside this file
import { dirname, join } from "node:path";
import type { ContentUpdate } from "#core/model/content.ts";
import type { EntryOf, Offset, TranscriptEntry } from "#core/model/transcript.ts";
import type { ReadOptions, TranscriptBatch, TranscriptFile, TranscriptReader } from "#core/model/transcript-reader.ts";
import { EntrySink } from "#core/rules/entry-sink.ts";
import { putEntry } from "#core/rules/put-facts.ts";
import { defined } from "#kit/objects.ts";
import { firstBytes, openRegular, readSmall } from "#kit/open.ts";
import { asObject, asString, asTimeMs, type Fields, parsedObject } from "../shared/payload/json.ts";
import { elementsOf } from "../shared/transcript/elements.ts";
import { Kinds } from "../shared/transcript/kinds.ts";
import { type LineRules, readLines, replaceState, UNREADABLE } from "../shared/transcript/read-lines.ts";
import { countKind } from "../shared/transcript/unread-usage.ts";
import { messageContent } from "./content.ts";
import { inlineSubagentsIn, readMerged } from "./merged.ts";
import { files, HEAD_BYTES, locate } from "./places.ts";
import { readCheckpoint, readMessage } from "./records.ts";
import type { ChatState } from "./state.ts";

export default { roots, locate, files, read } satisfies TranscriptReader;

/** `~/.gemini/tmp`; `GEMINI_CLI_HOME` replaces the home folder. */
function roots(home: string, env: Readonly<Record<string, string | undefined>>): readonly string[] {
  return [join(asString(env["GEMINI_CLI_HOME"]) ?? home, ".gemini", "tmp")];
}

function read(file: TranscriptFile, from: Offset, wanted: ReadOptions = {}): AsyncGenerator<TranscriptBatch> {
  return file.path.endsWith(".json") ? readWhole(file, wanted) : readRecords(file, from, wanted);
}

// --- internal ---

function readRecords(file: TranscriptFile, from: Offset, options: ReadOptions): AsyncGenerator<TranscriptBatch> {
  let first: { readonly record: Fields; readonly timeMs: number } | undefined;
  const rules: LineRules<ChatState> = {
    kinds: KINDS,
    state: (timeMs, stored) => ({ timeMs, ...stored }),
    read({ bytes }, state, sink) {
      if (!isWorthParsing(bytes)) return undefined;
      const record = parsedObject(bytes);
      if (record === undefined) return UNREADABLE;
      first ??= { record, timeMs: state.timeMs };
      const result = readRecord(record, state, file.agentId);
      replaceState(state, result.state);
      for (const entry of result.entries) putEntry(sink, entry);
      return asString(record["id"]) === undefined ? undefined : record["type"];
    },
    content: (line, entries) => (entries.length === 0 ? [] : messageContent(parsedObject(line) ?? {}, entries)),
    begin: async (_, isFresh) =>
      isFresh && first !== undefined ? beginning(file, first.record, first.timeMs) : undefined,
  };
  return readLines(file, from, options, rules);
}

/** Known kinds of messages, with or without entries. */
const KINDS: readonly string[] =
  `user gemini info error warning compression help stats model_stats tool_stats tool_group about quit`.split(/\s+/);

function readRecord(o: Fields, state: ChatState, agentId: string | undefined) {
  if (asString(o["id"]) !== undefined) return readMessage(o, state, agentId);
  if (o["startTime"] !== undefined) return readHead(o, state, agentId);
  const set = asObject(o["$set"]);
  if (set?.["messages"] !== undefined) return readCheckpoint(set["messages"], state, agentId);
  return { entries: [], state };
}

/** Each process that writes the file begins with such a line. */
function readHead(o: Fields, state: ChatState, agentId: string | undefined) {
  const startMs = asTimeMs(o["startTime"]);
  if (startMs === undefined || agentId !== undefined || startMs === state.startMs) return { entries: [], state };
  const entry = { kind: "resumption", key: `resumption:${startMs}`, timeMs: startMs } as const;
  return { entries: state.startMs === undefined ? [] : [entry], state: { ...state, startMs } };
}

/** Skips changes without messages, which are every second line. */
function isWorthParsing(line: Buffer): boolean {
  if (!line.subarray(0, SET.length).equals(SET)) return true;
  // Another object than the one after "$set" belongs to a second record
  return line.includes('"messages"') || line.includes('{"', SET.length + 1);
}
const SET = Buffer.from('{"$set":');

/** Up to about 0.3x: one object, rewritten with every change, so all entries are read again with the same keys. */
async function* readWhole(file: TranscriptFile, wanted: ReadOptions): AsyncGenerator<TranscriptBatch> {
  const { file: handle, stats } = await openRegular(file.path, file.roots);
  await handle.close();
  // The members before the messages: session and start time
  const head = headOf(firstBytes(file.path, HEAD_BYTES, file.roots).toString("utf8"));
  let state: ChatState = { timeMs: asTimeMs(head["startTime"]) ?? stats.mtimeMs };
  let entries: TranscriptEntry[] = [...(await beginning(file, head, state.timeMs))];
  let content: ContentUpdate[] = [];
  let unreadable = 0;
  const kinds = new Kinds(KINDS);
  const unknown = new EntrySink();
  const next: Offset = { bytes: stats.size, memo: {} };
  const merged = { subagents: await inlineSubagentsIn(file.path, file.roots), messageTimes: [] };
  for await (const element of elementsOf(file.path, "messages", { roots: file.roots })) {
    const message = element === undefined ? undefined : parsedObject(element);
    if (message === undefined) {
      unreadable++;
      continue;
    }
    const result = readMerged(message, state, file.agentId, merged);
    // This form contains no repetitions
    const { repeating: _, ...kept } = result.state;
    state = kept;
    const record = { fields: message, state, agentId: file.agentId, modifiedMs: stats.mtimeMs };
    const identity = (): string => asString(message["id"]) ?? JSON.stringify(message);
    countKind(kinds, message["type"], () => ({ ...record, identity: identity() }), unknown);
    entries.push(...result.entries, ...result.lostAnswers, ...unknown.take());
    if (wanted.content === true) content.push(...messageContent(result.message, result.entries));
    if (entries.length < BATCH_ENTRIES) continue;
    yield { entries, content, next, unreadable, ...kinds.take() };
    [entries, content, unreadable] = [[], [], 0];
  }
  yield { entries, content, next, unreadable, ...kinds.take() };
}

// Large enough for few commits, small enough for memory
const BATCH_ENTRIES = 500;

/** Text members of the top object, if they are in its first bytes. */
const headOf = (text: string): Fields =>
  Object.fromEntries(
    [...text.matchAll(/"(sessionId|startTime)":\s*"([^"\\]{1,200})"/g)].map(([, name, value]) => [name, value]),
  );

/** The file contains only a path. */
const MAX_ROOT_BYTES = 1 << 16;

/** Entries from a file's beginning: the session's folder, or the subagent. */
async function beginning(file: TranscriptFile, o: Fields, timeMs: number): Promise<readonly TranscriptEntry[]> {
  const startMs = asTimeMs(o["startTime"]) ?? timeMs;
  if (file.agentId !== undefined)
    return [{ kind: "subagent", key: `subagent:${file.agentId}`, timeMs: startMs, agentId: file.agentId }];
  const root = await readSmall(join(dirname(dirname(file.path)), ".project_root"), MAX_ROOT_BYTES, file.roots);
  const cwd = asString(root?.bytes.toString("utf8").trim());
  if (cwd === undefined) return [];
  return [defined<EntryOf<"session">>({ kind: "session", key: "session", timeMs: startMs, cwd })];
}
