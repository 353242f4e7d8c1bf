import { deepStrictEqual } from "node:assert";
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import reader from "../../src/agents/claude-code/transcript.ts";
import { entryCleaner } from "../../src/import/clean-entries.ts";
import type { PartSize, TranscriptFile } from "../../src/model/agent.ts";
import { decodeTables, encodeTables } from "../../src/model/fact-columns.ts";
import type { FactTables } from "../../src/model/fact-tables.ts";
import { INITIAL_OFFSET } from "../../src/model/initial-offset.ts";
import { mergeEntries } from "../../src/model/merge.ts";
import type { Offset, TranscriptEntry } from "../../src/model/transcript.ts";
import { redact } from "../../src/privacy/redact.ts";
import { partSizeOf } from "../../src/transcripts/part-size.ts";
import { type MadeFile, smallestFailing } from "./claude-lines.ts";

/** What a file told beside its entries. */
export interface FileTold {
  readonly before: PartSize;
  readonly next: Offset;
  readonly records: number;
  readonly unreadable: number;
  readonly unknownKinds: ReadonlyMap<string, number>;
  /** Of the session as a whole, in order. */
  readonly told: readonly TranscriptEntry[];
}

/** What a session's files tell, each entry once. */
export interface SessionTold {
  readonly files: readonly FileTold[];
  readonly entries: ReadonlyMap<string, TranscriptEntry>;
}

const guard = entryCleaner(redact);

/** A session line by line: what counts. */
export async function readByLines(files: readonly TranscriptFile[]): Promise<SessionTold> {
  const entries = new Map<string, TranscriptEntry>();
  const read: FileTold[] = [];
  for (const file of files) {
    const before = partSizeOf(file);
    let [next, records, unreadable]: [Offset, number, number] = [INITIAL_OFFSET, 0, 0];
    const unknownKinds = new Map<string, number>();
    const told: TranscriptEntry[] = [];
    for await (const batch of reader.read(file, INITIAL_OFFSET, { blocks: true })) {
      for (const entry of guard(batch.entries)) {
        if (entry.kind === "session" || entry.kind === "reported_usage") told.push(entry);
        else {
          const known = entries.get(entry.key);
          entries.set(entry.key, known === undefined ? entry : mergeEntries(known, entry));
        }
      }
      next = batch.next;
      records += batch.records ?? 0;
      unreadable += batch.unreadable;
      for (const [kind, n] of batch.unknownKinds ?? []) unknownKinds.set(kind, (unknownKinds.get(kind) ?? 0) + n);
    }
    read.push({ before, next, records, unreadable, unknownKinds, told });
  }
  return { files: read, entries };
}

/** A session at once; `undefined` where that is left to `readByLines`. The tables are good until the next call. */
export function readAtOnce(
  files: readonly TranscriptFile[],
): { readonly files: readonly FileTold[]; readonly tables: FactTables } | undefined {
  const scan = reader.scan(guard);
  if (scan === undefined) throw new Error("this engine cannot run it");
  const read: FileTold[] = [];
  for (const file of files) {
    const found = scan.file(file);
    if (found === undefined) return undefined;
    const { entries, ...rest } = found;
    read.push({ ...rest, told: entries });
  }
  const tables = scan.tables();
  return tables && { files: read, tables };
}

/** Both ways, compared. @returns the tables, where it was read at once */
export async function compareBoth(
  files: readonly TranscriptFile[],
): Promise<(SessionTold & { readonly tables: FactTables }) | undefined> {
  const lines = await readByLines(files);
  const once = readAtOnce(files);
  if (once === undefined) return undefined;
  const entries = decodeTables(encodeTables(once.tables));
  const byKey = new Map(entries.map((entry) => [entry.key, entry]));
  same(byKey.size, entries.length);
  same(sorted(byKey), sorted(lines.entries));
  same(once.files, lines.files);
  // The order of what was asked for decides what is forgotten first
  same(once.files.map(requestsOf), lines.files.map(requestsOf));
  return { ...lines, tables: once.tables };
}

/** The files of made sessions, one session after the other. */
export class MadeFiles {
  readonly #folder = mkdtempSync(join(tmpdir(), "openhook-at-once-"));

  /** @param modifiedMs when all of it was last written */
  put(files: readonly MadeFile[], modifiedMs = 1_795_000_000_000): readonly TranscriptFile[] {
    return files.map(({ agentId, bytes, meta }) => {
      const path = join(this.#folder, agentId === undefined ? "main.jsonl" : `agent-${agentId}.jsonl`);
      writeFileSync(path, bytes);
      utimesSync(path, modifiedMs / 1_000, modifiedMs / 1_000);
      const beside = path.replace(/\.jsonl$/, ".meta.json");
      if (meta === undefined) rmSync(beside, { force: true });
      else writeFileSync(beside, meta);
      return { path, ...(agentId !== undefined && { agentId }) };
    });
  }

  /** @throws what `check` throws of a made session, with the least of its lines that it throws of */
  async check(files: readonly MadeFile[], check: (files: readonly TranscriptFile[]) => Promise<void>): Promise<void> {
    const errorOf = (some: readonly MadeFile[]): Promise<unknown> =>
      check(this.put(some)).then(
        () => undefined,
        (error: unknown) => error,
      );
    if ((await errorOf(files)) === undefined) return;
    const least = await smallestFailing(files, async (some) => (await errorOf(some)) !== undefined);
    const texts = least.map(({ agentId = "main", bytes }) => `${agentId}:\n${bytes.toString("utf8")}`);
    throw new Error(`not the same:\n${texts.join("\n")}`, { cause: await errorOf(least) });
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 10 });
  }
}

/** Quick where all is well. */
export function same(found: unknown, wanted: unknown): void {
  if (!isDeepStrictEqual(found, wanted)) deepStrictEqual(found, wanted);
}

// --- internal ---

const sorted = (entries: ReadonlyMap<string, TranscriptEntry>): readonly TranscriptEntry[] =>
  [...entries.values()].sort((a, b) => (a.key < b.key ? -1 : 1));

function requestsOf({ next }: FileTold): readonly string[] {
  const { state } = next.memo as { readonly state?: { readonly requests?: object } };
  return Object.keys(state?.requests ?? {});
}
