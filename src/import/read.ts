import { setImmediate } from "node:timers/promises";
import { refusalOf } from "../agents/shared/open.ts";
import { boundMemo } from "../drain/bound.ts";
import { messageOf } from "../drain/deps.ts";
import { partSizeOf } from "../drain/sizes.ts";
import type { Agent, TranscriptFile, TranscriptReader } from "../model/agent.ts";
import { mergeEntries } from "../model/merge.ts";
import type { SessionFacts } from "../model/session.ts";
import { START } from "../model/start.ts";
import type { EntryOf, Offset, TranscriptEntry } from "../model/transcript.ts";
import type { Writable } from "../model/writable.ts";
import type { Redact } from "../privacy/redact.ts";
import { guardOf } from "./guard.ts";
import { pack, type Unpriced } from "./pack.ts";
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
  const facts: Writable<SessionRead> = { firstMs: Number.POSITIVE_INFINITY, lastMs: Number.NEGATIVE_INFINITY };
  const [files, problems]: [FileRead[], string[]] = [[], []];
  const unknownKinds = new Map<string, number>();
  const guard = guardOf(redact);
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
      let [offset, records, unreadable]: [Offset, number, number] = [START, 0, 0];
      for await (const batch of reader?.read({ ...file, roots: task.roots }, START, { blocks }) ?? []) {
        for (const kept of guard(batch.entries)) {
          if (kept.kind === "session") learn(facts, kept);
          else if (kept.kind === "reported_usage") facts.reported = kept.byModel;
          else {
            const known = entries.get(kept.key);
            entries.set(kept.key, known === undefined ? kept : mergeEntries(known, kept));
          }
        }
        await breathe();
        offset = { ...batch.next, memo: boundMemo(batch.next.memo) };
        records += batch.records ?? 0;
        unreadable += batch.unreadable;
        for (const [kind, n] of batch.unknownKinds ?? []) unknownKinds.set(kind, (unknownKinds.get(kind) ?? 0) + n);
      }
      files.push({ key: file.key ?? file.path, offset, ...before, records, unreadable });
    } catch (error) {
      problems.push(`could not read the transcript ${JSON.stringify(file.path)}: ${messageOf(error)}`);
    }
  }
  const all = [...entries.values()];
  if (all.length === 0) return { files, unknownKinds, problems };
  for (const { timeMs } of all) {
    facts.firstMs = Math.min(facts.firstMs, timeMs);
    facts.lastMs = Math.max(facts.lastMs, timeMs);
  }
  const packed = pack(all, packOptions(agent, task.sessionId, facts));
  return { files, session: { ...facts, packed }, unknownKinds, problems };
}

/** The same for facts that were read before. */
export const packOptions = (agent: Agent, sessionId: string, { reported, agentVersion }: Partial<SessionRead>) => ({
  facts: sessionFacts(agent, sessionId, agentVersion),
  expectsTranscript: agent.tokens === "transcript",
  reported,
});

// --- internal ---

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
  guard: ReturnType<typeof guardOf>,
): ReadResult | undefined {
  try {
    const scan = reader?.scan?.(guard);
    if (scan === undefined) return undefined;
    const facts: Writable<Partial<SessionRead>> = {};
    const files: FileRead[] = [];
    const unknownKinds = new Map<string, number>();
    for (const file of task.files) {
      // Before it is read: what comes meanwhile is news
      const before = partSizeOf(file);
      const read = scan.file({ ...file, roots: task.roots });
      if (read === undefined) return undefined;
      for (const entry of read.entries) {
        if (entry.kind === "session") learn(facts, entry);
        else if (entry.kind === "reported_usage") facts.reported = entry.byModel;
      }
      const { next, records, unreadable } = read;
      files.push({
        key: file.key ?? file.path,
        offset: { ...next, memo: boundMemo(next.memo) },
        ...before,
        records,
        unreadable,
      });
      for (const [kind, n] of read.unknownKinds) unknownKinds.set(kind, (unknownKinds.get(kind) ?? 0) + n);
    }
    const tables = scan.tables();
    if (tables === undefined) return undefined;
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

/** As a drain learns it: the first folder, the last version and branch. */
function learn(facts: Writable<Partial<SessionRead>>, { cwd, agentVersion, gitBranch }: EntryOf<"session">): void {
  if (facts.cwd === undefined && cwd !== undefined) facts.cwd = cwd;
  if (agentVersion !== undefined) facts.agentVersion = agentVersion;
  if (gitBranch !== undefined) facts.branch = gitBranch;
}
