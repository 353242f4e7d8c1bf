import { setImmediate } from "node:timers/promises";
import { isCompressed } from "#agents/shared/transcript/packed.ts";
import type { Agent } from "#core/model/agent.ts";
import { INITIAL_OFFSET } from "#core/model/initial-offset.ts";
import type { SessionFacts } from "#core/model/session.ts";
import type { EntryOf, Offset, TranscriptEntry } from "#core/model/transcript.ts";
import type { PartSize, TranscriptBatch, TranscriptFile, TranscriptReader } from "#core/model/transcript-reader.ts";
import type { Protection } from "#core/privacy/protection.ts";
import { putWithContent } from "#core/rules/put-facts.ts";
import { messageOf } from "#kit/errors.ts";
import type { Writable } from "#kit/objects.ts";
import { refusalOf } from "#kit/open.ts";
import { limitMemo } from "#store/capture/limit-fields.ts";
import type { PlannedSession } from "#store/local-sessions.ts";
import type { StoredParts } from "#store/sessions.ts";
import { partSizeOf, positionKeyOf } from "../transcripts/session-files.ts";
import { cleanWith } from "./clean-entries.ts";
import { packRows } from "./pack.lazy.ts";
import type { Unpriced } from "./price.ts";
import { RowSink } from "./row-sink.ts";
import { spanOf } from "./row-sums.ts";

/** A session to read completely. */
export interface ReadTask {
  readonly source: string;
  readonly sessionId: string;
  readonly files: readonly TranscriptFile[];
  /** Folders of its agent. Files outside them are not read. */
  readonly roots: readonly string[];
  /** Present if the agent's ids are local. */
  readonly local?: { readonly nativeId: string } & Pick<PlannedSession, "identity" | "origin">;
}

/** A file that was read to its end. */
export interface FileRead {
  readonly key: string;
  readonly offset: Offset;
  readonly sizeBytes: number;
  readonly modifiedMs: number;
  readonly records: number;
  readonly unreadable: number;
  /** The file ends inside a line. */
  readonly endsInLine: boolean;
}

/** Facts about the session as a whole. */
export interface SessionRead {
  readonly firstMs: number;
  readonly lastMs: number;
  readonly cwd?: string;
  readonly agentVersion?: string;
  readonly branch?: string;
  readonly reported?: EntryOf<"reported_usage">["byModel"];
  readonly contextParts?: StoredParts;
  /** Ids under which hooks report its subagents. */
  readonly subagentSessions?: readonly string[];
}

export interface ReadResult {
  readonly files: readonly FileRead[];
  /** Absent if the files contain no session. */
  readonly session?: SessionRead & {
    readonly packed: Unpriced;
    /** Its calls changed files that are known. */
    readonly hasEdits?: boolean;
  };
  readonly unknownKinds: ReadonlyMap<string, number>;
  /** Those that have token usage which is not known. */
  readonly unreadUsage: ReadonlyMap<string, number>;
  /** One line for each file that could not be read. */
  readonly problems: readonly string[];
}

/** Reads all files of a session and packs it. Files that cannot be read are reported, and the others are used. Never throws. */
export async function readSession(
  task: ReadTask,
  agent: Agent,
  { redactName, redactSecrets }: Protection,
  isSync: boolean,
): Promise<ReadResult> {
  const reading = new SessionReading();
  const problems: string[] = [];
  const sink = new RowSink(agent.source, cleanWith(redactName, redactSecrets), (entry) =>
    reading.addSessionFact(entry),
  );
  const reader = await readerOf(agent);
  for (const file of reader === undefined ? [] : task.files) {
    try {
      const refusal = await refusalOf(file.path, task.roots);
      if (refusal !== undefined) {
        problems.push(`transcript ${refusal}`);
        continue;
      }
      // Before reading, so that lines written during the read count as new
      const before = partSizeOf(file);
      let [next, records, unreadable]: [Offset, number, number] = [INITIAL_OFFSET, 0, 0];
      // Readers that pass calls to the sink return no content
      const options = { isSync, sink, content: true };
      for await (const batch of reader?.read({ ...file, roots: task.roots }, INITIAL_OFFSET, options) ?? []) {
        putWithContent(sink, batch.entries, () => batch.content ?? []);
        await yieldToEvents();
        next = batch.next;
        records += batch.records ?? 0;
        unreadable += batch.unreadable;
        reading.addKinds(batch);
      }
      reading.addFile(file, before, { next, records, unreadable });
    } catch (error) {
      problems.push(`could not read the transcript ${JSON.stringify(file.path)}: ${messageOf(error)}`);
    }
  }
  const { facts, files, unknownKinds, unreadUsage } = reading;
  const kinds = { unknownKinds, unreadUsage };
  if (sink.isEmpty) return { files, ...kinds, problems };
  try {
    const packed = packRows(sink, packOptions(agent, task.sessionId, facts, timesOf(sink.changes())));
    const session = { ...facts, ...spanOf(sink.tables()), packed, hasEdits: sink.hasEdits };
    return { files, session, ...kinds, problems };
  } catch (error) {
    // Return no files: they must not be stored as read, so that the next import retries
    const text = `could not build the session ${task.sessionId} of ${JSON.stringify(task.files[0]?.path ?? "")}`;
    return { files: [], ...kinds, problems: [...problems, `${text}: ${messageOf(error)}`] };
  }
}

type Packable = Pick<Agent, "source" | "provider" | "tokens" | "endsSilently"> & Partial<Pick<Agent, "emits">>;

/** Options that are the same for all facts of a session. @param boundaries times of its commits and changes */
export const packOptions = (
  agent: Packable,
  sessionId: string,
  { reported, agentVersion }: Partial<SessionRead>,
  boundaries: readonly number[],
) => ({
  facts: sessionFacts(agent, sessionId, agentVersion),
  expectsTranscript: agent.tokens === "transcript",
  reported,
  boundaries,
});

/** Different times, ascending. */
export const timesOf = (facts: readonly { readonly timeMs: number }[]): readonly number[] =>
  [...new Set(facts.map(({ timeMs }) => timeMs))].sort((a, b) => a - b);

// --- internal ---

/** What is read from a session's files, except the facts that are stored in rows. */
class SessionReading {
  readonly facts: Writable<Omit<SessionRead, "firstMs" | "lastMs">> = {};
  readonly files: FileRead[] = [];
  readonly unknownKinds = new Map<string, number>();
  readonly unreadUsage = new Map<string, number>();

  /**
   * Keeps a fact about the session as a drain does: the first folder, the last version and branch.
   *
   * @returns false for other facts
   */
  addSessionFact(entry: TranscriptEntry): boolean {
    if (entry.kind === "reported_usage") {
      this.facts.reported = entry.byModel;
      return true;
    }
    if (entry.kind !== "session") return false;
    const { cwd, agentVersion, gitBranch, subagentSessionId, contextParts } = entry;
    if (contextParts !== undefined && entry.timeMs >= (this.facts.contextParts?.timeMs ?? 0))
      this.facts.contextParts = { timeMs: entry.timeMs, ...contextParts };
    if (subagentSessionId !== undefined)
      this.facts.subagentSessions = [...(this.facts.subagentSessions ?? []), subagentSessionId];
    if (this.facts.cwd === undefined && cwd !== undefined) this.facts.cwd = cwd;
    if (agentVersion !== undefined) this.facts.agentVersion = agentVersion;
    if (gitBranch !== undefined) this.facts.branch = gitBranch;
    return true;
  }

  /** Adds a file that was read to its end, with its size from before the read. */
  addFile(
    file: TranscriptFile,
    before: PartSize,
    { next, records, unreadable }: Required<Pick<TranscriptBatch, "next" | "records" | "unreadable">>,
  ): void {
    const offset = { ...next, memo: limitMemo(next.memo) };
    // A file that is read as one document has no lines, and a compressed one is smaller than its content
    const endsInLine = next.bytes > 0 && next.bytes < before.sizeBytes && !isCompressed(file.path);
    this.files.push({ key: positionKeyOf(file), offset, ...before, records, unreadable, endsInLine });
  }

  addKinds(batch: TranscriptBatch): void {
    for (const name of ["unknownKinds", "unreadUsage"] as const) {
      for (const [kind, n] of batch[name] ?? []) this[name].set(kind, (this[name].get(kind) ?? 0) + n);
    }
  }
}

/** Cached: even a loaded module takes time to import, and there are thousands of sessions. */
function readerOf(agent: Agent): Promise<TranscriptReader | undefined> {
  const reader = readers.get(agent) ?? Promise.resolve(agent.transcript?.()).then((loaded) => loaded?.default);
  readers.set(agent, reader);
  return reader;
}
const readers = new WeakMap<Agent, Promise<TranscriptReader | undefined>>();

let lastYieldMs = 0;

/** Reading is synchronous, so this pause lets the process handle signals and messages. */
async function yieldToEvents(): Promise<void> {
  if (performance.now() - lastYieldMs < MAX_SYNC_MS) return;
  await setImmediate();
  lastYieldMs = performance.now();
}
const MAX_SYNC_MS = 50;

const sessionFacts = (agent: Packable, sessionId: string, agentVersion: string | undefined): SessionFacts => ({
  source: agent.source,
  sessionId,
  ...(agent.provider !== undefined && { provider: agent.provider }),
  ...(agent.tokens === "none" && { usageUnknown: true }),
  ...((agent.endsSilently ?? agent.emits?.includes("session.end") === false) && { endsSilently: true }),
  ...(agentVersion !== undefined && { agentVersion }),
});
