import { setImmediate } from "node:timers/promises";
import { refusalOf } from "../agents/shared/transcript/open.ts";
import { isPacked } from "../agents/shared/transcript/packed.ts";
import { limitMemo } from "../capture/limit-fields.ts";
import type { Agent, FileScan, PartSize, TranscriptFile, TranscriptReader } from "../model/agent.ts";
import { withoutDuplicateAnswers } from "../model/duplicate-answers.ts";
import { messageOf } from "../model/error-message.ts";
import { INITIAL_OFFSET } from "../model/initial-offset.ts";
import { mergeEntries } from "../model/merge.ts";
import type { SessionFacts } from "../model/session.ts";
import type { EntryOf, Offset, TranscriptEntry } from "../model/transcript.ts";
import type { Writable } from "../model/writable.ts";
import type { Redact } from "../privacy/redact.ts";
import { partSizeOf } from "../transcripts/part-size.ts";
import { entryCleaner } from "./clean-entries.ts";
import { pack, type Unpriced } from "./pack.lazy.ts";
import { packTables, spanOf } from "./tables.ts";

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

/** Reads all files of a session and packs it. Files that cannot be read are told of; the others count. Never throws. */
export async function readSession(task: ReadTask, agent: Agent, redact: Redact, blocks: boolean): Promise<ReadResult> {
  const entries = new Map<string, TranscriptEntry>();
  const told = new Told();
  const problems: string[] = [];
  const guard = entryCleaner(redact);
  const reader = await readerOf(agent);
  const atOnce = blocks ? scanned(task, agent, reader, guard) : undefined;
  if (atOnce !== undefined) {
    await breathe();
    return atOnce;
  }
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
      for await (const batch of reader?.read({ ...file, roots: task.roots }, INITIAL_OFFSET, { blocks }) ?? []) {
        for (const kept of guard(batch.entries)) {
          if (told.learn(kept)) continue;
          const known = entries.get(kept.key);
          entries.set(kept.key, known === undefined ? kept : mergeEntries(known, kept));
        }
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
  const all = withoutDuplicateAnswers([...entries.values()]);
  const { facts, files, unknownKinds } = told;
  if (all.length === 0) return { files, unknownKinds, problems };
  let [firstMs, lastMs] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const { timeMs } of all) {
    firstMs = Math.min(firstMs, timeMs);
    lastMs = Math.max(lastMs, timeMs);
  }
  const packed = pack(all, packOptions(agent, task.sessionId, facts));
  return { files, session: { ...facts, firstMs, lastMs, packed }, unknownKinds, problems };
}

/** The same for facts that were read before. */
export const packOptions = (agent: Agent, sessionId: string, { reported, agentVersion }: Partial<SessionRead>) => ({
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
    { next, records, unreadable }: Pick<FileScan, "next" | "records" | "unreadable">,
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

/**
 * The whole session at once, where its agent's reader can.
 *
 * @returns `undefined` where it cannot, and for what it leaves to be weighed, or told of: all of it is read again
 */
function scanned(
  task: ReadTask,
  agent: Agent,
  reader: TranscriptReader | undefined,
  guard: ReturnType<typeof entryCleaner>,
): ReadResult | undefined {
  try {
    const scan = reader?.scan?.(guard);
    if (scan === undefined) return undefined;
    const told = new Told();
    for (const file of task.files) {
      const read = scan.file({ ...file, roots: task.roots });
      if (read === undefined) return undefined;
      for (const entry of read.entries) told.learn(entry);
      told.addFile(file, read.before, read);
      told.addKinds(read.unknownKinds);
    }
    const tables = scan.tables();
    if (tables === undefined) return undefined;
    const { facts, files, unknownKinds } = told;
    const span = spanOf(tables);
    const packed = packTables(tables, packOptions(agent, task.sessionId, facts));
    if (packed === undefined) return undefined;
    return { files, session: { ...facts, ...span, packed }, unknownKinds, problems: [] };
  } catch {
    return undefined;
  }
}

let lastMs = 0;

/** Reading waits for nothing: without this no key would be heard, and no message. */
async function breathe(): Promise<void> {
  if (performance.now() - lastMs < LONG_MS) return;
  await setImmediate();
  lastMs = performance.now();
}
const LONG_MS = 50;

const sessionFacts = (agent: Agent, sessionId: string, agentVersion: string | undefined): SessionFacts => ({
  source: agent.source,
  sessionId,
  ...(agent.provider !== undefined && { provider: agent.provider }),
  ...(agent.tokens === "none" && { usageUnknown: true }),
  ...(agentVersion !== undefined && { agentVersion }),
});
