import { setImmediate } from "node:timers/promises";
import { refusalOf } from "../agents/shared/transcript/open.ts";
import { isPacked } from "../agents/shared/transcript/packed.ts";
import { limitMemo } from "../capture/limit-fields.ts";
import type { Agent, PartSize, TranscriptBatch, TranscriptFile, TranscriptReader } from "../model/agent.ts";
import { messageOf } from "../model/error-message.ts";
import { putEntry } from "../model/fact-sink.ts";
import { INITIAL_OFFSET } from "../model/initial-offset.ts";
import type { SessionFacts } from "../model/session.ts";
import type { EntryOf, Offset, TranscriptEntry } from "../model/transcript.ts";
import type { Writable } from "../model/writable.ts";
import type { Redact } from "../privacy/redact.ts";
import { partSizeOf } from "../transcripts/part-size.ts";
import { cleanWith } from "./clean-entries.ts";
import { packRows } from "./pack.lazy.ts";
import { RowSink } from "./row-sink.ts";
import { spanOf } from "./row-sums.ts";
import type { Unpriced } from "./unpriced.ts";

/** One session to read, whole. */
export interface ReadTask {
  readonly source: string;
  readonly sessionId: string;
  readonly files: readonly TranscriptFile[];
  /** Where its agent keeps sessions: nothing else is read. */
  readonly roots: readonly string[];
}

/** A file that was read to its end. */
export interface FileRead {
  readonly key: string;
  readonly offset: Offset;
  readonly sizeBytes: number;
  readonly modifiedMs: number;
  readonly records: number;
  readonly unreadable: number;
  /** It does not end where its last whole line does. */
  readonly endsInLine: boolean;
}

/** What is known of the session itself. */
export interface SessionRead {
  readonly firstMs: number;
  readonly lastMs: number;
  readonly cwd?: string;
  readonly agentVersion?: string;
  readonly branch?: string;
  readonly reported?: EntryOf<"reported_usage">["byModel"];
}

export interface ReadResult {
  readonly files: readonly FileRead[];
  /** Absent where the files hold nothing of a session. */
  readonly session?: SessionRead & { readonly packed: Unpriced };
  readonly unknownKinds: ReadonlyMap<string, number>;
  /** One line each, about files that could not be read. */
  readonly problems: readonly string[];
}

/** Reads all files of a session and packs it. Files that cannot be read are reported; the others count. Never throws. */
export async function readSession(task: ReadTask, agent: Agent, redact: Redact, blocks: boolean): Promise<ReadResult> {
  const told = new Told();
  const problems: string[] = [];
  const sink = new RowSink(agent.source, cleanWith(redact), (entry) => told.learn(entry));
  const reader = await readerOf(agent);
  for (const file of reader === undefined ? [] : task.files) {
    try {
      const refusal = await refusalOf(file.path, task.roots);
      if (refusal !== undefined) {
        problems.push(`transcript ${refusal}`);
        continue;
      }
      // Before it is read: what comes meanwhile is news
      const before = partSizeOf(file);
      let [next, records, unreadable]: [Offset, number, number] = [INITIAL_OFFSET, 0, 0];
      for await (const batch of reader?.read({ ...file, roots: task.roots }, INITIAL_OFFSET, { blocks, sink }) ?? []) {
        for (const entry of batch.entries) putEntry(sink, entry);
        await breathe();
        next = batch.next;
        records += batch.records ?? 0;
        unreadable += batch.unreadable;
        told.addKinds(batch.unknownKinds);
      }
      told.addFile(file, before, { next, records, unreadable });
    } catch (error) {
      problems.push(`could not read the transcript ${JSON.stringify(file.path)}: ${messageOf(error)}`);
    }
  }
  const { facts, files, unknownKinds } = told;
  if (sink.isEmpty) return { files, unknownKinds, problems };
  const packed = packRows(sink, packOptions(agent, task.sessionId, facts));
  return { files, session: { ...facts, ...spanOf(sink.tables()), packed }, unknownKinds, problems };
}

type Packable = Pick<Agent, "source" | "provider" | "tokens">;

/** What is the same for all facts of a session. */
export const packOptions = (agent: Packable, sessionId: string, { reported, agentVersion }: Partial<SessionRead>) => ({
  facts: sessionFacts(agent, sessionId, agentVersion),
  expectsTranscript: agent.tokens === "transcript",
  reported,
});

// --- internal ---

/** What a session's files tell beside its prompts, answers and tools. */
class Told {
  readonly facts: Writable<Omit<SessionRead, "firstMs" | "lastMs">> = {};
  readonly files: FileRead[] = [];
  readonly unknownKinds = new Map<string, number>();

  /** As a drain learns it: the first folder, the last version and branch. @returns whether the entry tells of the session */
  learn(entry: TranscriptEntry): boolean {
    if (entry.kind === "reported_usage") {
      this.facts.reported = entry.byModel;
      return true;
    }
    if (entry.kind !== "session") return false;
    const { cwd, agentVersion, gitBranch } = entry;
    if (this.facts.cwd === undefined && cwd !== undefined) this.facts.cwd = cwd;
    if (agentVersion !== undefined) this.facts.agentVersion = agentVersion;
    if (gitBranch !== undefined) this.facts.branch = gitBranch;
    return true;
  }

  /** A file that was read to its end, with the size that it had before. */
  addFile(
    { key, path }: TranscriptFile,
    before: PartSize,
    { next, records, unreadable }: Required<Pick<TranscriptBatch, "next" | "records" | "unreadable">>,
  ): void {
    const offset = { ...next, memo: limitMemo(next.memo) };
    // What is read as one whole has no lines, and a packed one is smaller than what is in it
    const endsInLine = next.bytes > 0 && next.bytes < before.sizeBytes && !isPacked(path);
    this.files.push({ key: key ?? path, offset, ...before, records, unreadable, endsInLine });
  }

  addKinds(kinds: ReadonlyMap<string, number> = new Map()): void {
    for (const [kind, n] of kinds) this.unknownKinds.set(kind, (this.unknownKinds.get(kind) ?? 0) + n);
  }
}

/** Asked for once: a module that is there already takes its time all the same, and there are thousands of sessions. */
function readerOf(agent: Agent): Promise<TranscriptReader | undefined> {
  const reader = readers.get(agent) ?? Promise.resolve(agent.transcript?.()).then((loaded) => loaded?.default);
  readers.set(agent, reader);
  return reader;
}
const readers = new WeakMap<Agent, Promise<TranscriptReader | undefined>>();

let lastMs = 0;

/** Reading waits for nothing: without this no key would be heard, and no message. */
async function breathe(): Promise<void> {
  if (performance.now() - lastMs < LONG_MS) return;
  await setImmediate();
  lastMs = performance.now();
}
const LONG_MS = 50;

const sessionFacts = (agent: Packable, sessionId: string, agentVersion: string | undefined): SessionFacts => ({
  source: agent.source,
  sessionId,
  ...(agent.provider !== undefined && { provider: agent.provider }),
  ...(agent.tokens === "none" && { usageUnknown: true }),
  ...(agentVersion !== undefined && { agentVersion }),
});
