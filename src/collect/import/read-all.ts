import { messageOf } from "#kit/errors.ts";
import { mergeRuns } from "#store/packed.ts";
import type { Drain } from "../drain/context.ts";
import type { Found } from "./find.ts";
import type { AgentImport } from "./import-counts.ts";
import { ImportWriter, type ReadSession } from "./import-writer.ts";
import { inOrder } from "./in-order.ts";
import type { ReadResult } from "./read.ts";
import type { Readers } from "./readers.ts";

export interface ReadOptions {
  /** Skip sessions whose last activity is earlier. */
  readonly sinceMs?: number;
  /** Called once it is known how many bytes there are to read. */
  readonly readers: (drain: Drain, bytes: number) => Readers | Promise<Readers>;
  /** Called a few times a second. */
  readonly onProgress: (progress: ImportProgress) => void;
  /** Stops after the current commit. */
  readonly signal: AbortSignal;
}

interface ImportProgress {
  readonly sessions: number;
  readonly ofSessions: number;
  readonly bytes: number;
  readonly ofBytes: number;
}

/**
 * Reads sessions and writes them into the store.
 *
 * @param sumsOf the counts of an agent, to which its sessions are added
 */
export async function readAll(
  drain: Drain,
  toRead: readonly Found[],
  sumsOf: (source: string) => AgentImport,
  options: ReadOptions,
): Promise<void> {
  const ofBytes = toRead.reduce((sum, { bytes }) => sum + bytes, 0);
  const batch = new Batch(drain, ofBytes, sumsOf);
  // After everything that can fail: threads that are not closed keep the process alive
  const readers = await options.readers(drain, ofBytes);
  const hasThreads = readers.readUnstarted !== undefined;
  let [sessions, bytes, lastMs] = [0, 0, 0];
  const showProgress = (isLast: boolean): void => {
    if (!isLast && performance.now() - lastMs < PROGRESS_MS) return;
    lastMs = performance.now();
    options.onProgress({ sessions, ofSessions: toRead.length, bytes, ofBytes });
  };
  try {
    showProgress(false);
    for await (const { item: found, result } of inOrder(toRead, readers, options.signal)) {
      sessions++;
      bytes += found.bytes;
      const sums = sumsOf(found.source);
      sums.bytes += bytesOf(result);
      if (result instanceof Error) {
        sums.failed++;
        drain.report.problems.push(`could not read the session ${found.sessionId}: ${messageOf(result)}`);
      } else if (isEarlier(result, options.sinceMs)) sums.older++;
      else batch.add(found, result);
      if (batch.isFull(hasThreads ? ofBytes - bytes : undefined)) await batch.commit();
      showProgress(false);
    }
    // Threads end while the last sessions are written
    const closed = readers.close();
    await batch.commit();
    await closed;
    showProgress(true);
  } finally {
    await readers.close();
  }
}

// --- internal ---

/** Large enough that few commits wait for the disk, small enough for the memory and to lose if the import is killed. */
const BYTES_PER_COMMIT = 256 << 20;
const SESSIONS_PER_COMMIT = 500;
/** With threads, commits get smaller towards the end: the last ones run while no thread reads. */
const LAST_BYTES_PER_COMMIT = 16 << 20;
const PROGRESS_MS = 100;
/** A line that has not grown for this long is not being written any more. */
const WRITING_MS = 10 * 60_000;

/** Sessions that one commit writes. */
class Batch {
  readonly #drain: Drain;
  readonly #sumsOf: (source: string) => AgentImport;
  readonly #writer: ImportWriter;
  #sessions: { readonly found: Found; readonly read: ReadSession }[] = [];
  #bytes = 0;

  /** @param bytes size of all files to read */
  constructor(drain: Drain, bytes: number, sumsOf: (source: string) => AgentImport) {
    this.#drain = drain;
    this.#sumsOf = sumsOf;
    this.#writer = new ImportWriter(drain, bytes);
    this.#writer.rebuildSums();
  }

  add(found: Found, result: ReadResult): void {
    this.#sessions.push({ found, read: { task: found, result, isReimport: found.state === "reimport" } });
    this.#bytes += found.bytes;
  }

  /** @param leftBytes what threads have still to read; absent: there are none */
  isFull(leftBytes: number | undefined): boolean {
    const limit =
      leftBytes === undefined
        ? BYTES_PER_COMMIT
        : Math.min(BYTES_PER_COMMIT, Math.max(LAST_BYTES_PER_COMMIT, leftBytes / 4));
    return this.#bytes >= limit || this.#sessions.length >= SESSIONS_PER_COMMIT;
  }

  async commit(): Promise<void> {
    if (this.#sessions.length === 0) return;
    const sessions = this.#sessions;
    this.#sessions = [];
    this.#bytes = 0;
    const numbers = await this.#writer.write(sessions.map(({ read }) => read));
    // Lookups search every run, and each commit adds one
    mergeRuns(this.#drain.db);
    for (const [i, { found, read }] of sessions.entries()) {
      const sums = this.#sumsOf(found.source);
      if (isIncomplete(found, read.result) || numbers[i] === "failed") sums.failed++;
      else if (numbers[i] === undefined) sums.leftOut++;
      else this.#countImported(sums, read);
    }
  }

  #countImported(sums: AgentImport, { isReimport, result }: ReadSession): void {
    const quietSinceMs = this.#drain.now() - WRITING_MS;
    sums.imported++;
    if (isReimport) sums.again++;
    sums.unfinished += result.files.filter((file) => file.endsInLine && file.modifiedMs < quietSinceMs).length;
  }
}

const isEarlier = ({ session }: ReadResult, sinceMs: number | undefined): boolean =>
  sinceMs !== undefined && session !== undefined && session.lastMs < sinceMs;

const bytesOf = (result: ReadResult | Error): number =>
  result instanceof Error ? 0 : result.files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);

/** Whether a file of the session could not be read, or has only unreadable records. */
const isIncomplete = ({ files }: Found, result: ReadResult): boolean =>
  result.files.length < files.length ||
  (result.session === undefined && result.files.some(({ unreadable }) => unreadable > 0));
