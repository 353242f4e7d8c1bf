// Session folders as written by 3.0.3, recorded 2026-11-25; token rules in README.md beside this file
import { basename, dirname } from "node:path";
import type { FactSink } from "#core/model/fact-sink.ts";
import type { Offset } from "#core/model/transcript.ts";
import type { ReadOptions, TranscriptBatch, TranscriptFile, TranscriptReader } from "#core/model/transcript-reader.ts";
import { EntrySink } from "#core/rules/entry-sink.ts";
import { asString } from "../shared/payload/json.ts";
import { type LineRules, readLines } from "../shared/transcript/read-lines.ts";
import { lineContent } from "./content.ts";
import { putHistory, putSum } from "./history.ts";
import { KINDS, readLine } from "./journal-lines.ts";
import { fieldsIn, type JournalOwner, type JournalState } from "./journal-state.ts";
import { files, type Journal, journalsIn, locate, metaOf, modelOf, roots } from "./places.ts";
import { readLists, readSnapshot, type Snapshot, spawnActionOf } from "./snapshot.ts";

export default { roots, locate, files, read } satisfies TranscriptReader;

/**
 * The journals, from the line after the last one that was read. Journals are deleted as the session continues: if lines are missing,
 * the snapshot has the prompts and tool calls in them, and the sum of all tokens. It is read before the journals, which then have
 * every later line; a sum must not include calls that are read only in the next drain.
 */
async function* read(file: TranscriptFile, from: Offset, options: ReadOptions = {}): AsyncGenerator<TranscriptBatch> {
  const folder = dirname(file.path);
  const memo = from.memo as Memo;
  const snapshot = readSnapshot(folder, file.roots);
  const of = { agentId: file.agentId, model: modelOf(folder, snapshot?.rootId, file.roots) };
  const state: JournalState = { readTo: 0, timeMs: snapshot?.createdMs ?? 0, ...memo.state };
  const at: Position = { journal: memo.journal, bytes: from.bytes, fingerprint: memo.fingerprint, sumOf: memo.sumOf };
  const own = new EntrySink();
  const sink = options.sink ?? own;
  const batch = (more: Partial<TranscriptBatch> = {}): TranscriptBatch => ({
    entries: own.take(),
    unreadable: 0,
    ...more,
    next: offsetOf(state, at),
  });

  const unread = unreadOf(journalsIn(folder), state.readTo);
  if (memo.state === undefined) putOwner(file, folder, snapshot, sink);
  const firstUnread = unread[0]?.first ?? Number.POSITIVE_INFINITY;
  let hasHistory = false;
  const history = (): Partial<TranscriptBatch> => {
    if (snapshot === undefined || hasHistory || at.sumOf === snapshot.generation) return {};
    const content = putHistory(readLists(folder, snapshot.generation, file.roots), snapshot, file.agentId, sink);
    hasHistory = true;
    return options.content === true ? { content } : {};
  };
  if (firstUnread > state.readTo + 1 && (snapshot?.sequence ?? 0) > state.readTo) {
    const content = history();
    state.hasGap = true;
    yield batch(content);
  }
  for (const journal of unread) {
    yield* readJournal({ ...file, path: journal.path }, journal.first, { state, at, of, options });
  }
  if (snapshot !== undefined && snapshot.sequence > state.readTo) state.hasGap = true;
  if (snapshot === undefined || state.hasGap !== true || at.sumOf === snapshot.generation) {
    const rest = batch();
    if (rest.entries.length > 0 || unread.length === 0) yield rest;
    return;
  }
  const content = history();
  putSum(snapshot, { sessionId: basename(folder), agentId: file.agentId }, sink);
  // The snapshot replaces deleted lines, which never come back
  state.readTo = Math.max(state.readTo, snapshot.sequence);
  at.sumOf = snapshot.generation;
  yield batch(content);
}

// --- internal ---

interface Memo {
  readonly state?: JournalState;
  /** First line of the journal that `bytes` is in. */
  readonly journal?: number;
  readonly fingerprint?: string;
  /** The generation whose sum was read. */
  readonly sumOf?: string;
}

interface Position {
  journal: number | undefined;
  bytes: number;
  fingerprint: string | undefined;
  sumOf: string | undefined;
}

interface Reading {
  readonly state: JournalState;
  readonly at: Position;
  readonly of: JournalOwner;
  readonly options: ReadOptions;
}

const offsetOf = (state: JournalState, { journal, bytes, fingerprint, sumOf }: Position): Offset => ({
  bytes,
  memo: { state: { ...state }, journal, fingerprint, sumOf },
});

/** Journals that have, or can get, lines that were not read. */
const unreadOf = (journals: readonly Journal[], readTo: number): readonly Journal[] =>
  journals.filter((_, at) => (journals[at + 1]?.first ?? Number.POSITIVE_INFINITY) > readTo + 1);

async function* readJournal(
  file: TranscriptFile,
  first: number,
  { state, at, of, options }: Reading,
): AsyncGenerator<TranscriptBatch> {
  const rules: LineRules<JournalState> = {
    kinds: KINDS,
    state: () => state,
    read: (line, _, sink) => readLine(line, state, of, sink),
    content: lineContent,
  };
  const from: Offset =
    at.journal === first
      ? { bytes: at.bytes, memo: { state: {}, fingerprint: at.fingerprint } }
      : { bytes: 0, memo: {} };
  try {
    for await (const batch of readLines(file, from, options, rules)) {
      at.journal = first;
      at.bytes = batch.next.bytes;
      at.fingerprint = (batch.next.memo as Memo).fingerprint;
      yield { ...batch, next: offsetOf(state, at) };
    }
  } catch (error) {
    // Deleted since the folder was listed: the snapshot has its sums
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
  }
}

/** The session's working directory, or where a subagent belongs. */
function putOwner(file: TranscriptFile, folder: string, snapshot: Snapshot | undefined, sink: FactSink): void {
  const { agentId, roots: allowed } = file;
  if (agentId !== undefined && snapshot !== undefined) {
    const { parentId, rootId, generation } = snapshot;
    sink.other({
      kind: "subagent",
      key: `subagent:${agentId}`,
      timeMs: snapshot.createdMs,
      agentId,
      parentGivenId: spawnActionOf(folder, generation, allowed),
      parentAgentId: parentId === rootId ? undefined : parentId,
    });
    return;
  }
  const meta = metaOf(folder, allowed);
  const cwd = asString(fieldsIn(meta, "environment")["working_directory"]) ?? asString(meta?.["origin_directory"]);
  if (snapshot === undefined && cwd === undefined) return;
  const gitBranch = asString(meta?.["git_branch"]);
  sink.other({ kind: "session", key: "session", timeMs: snapshot?.createdMs ?? 0, cwd, gitBranch, branches: "once" });
}
