import { deepStrictEqual } from "node:assert";
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { cleanWith } from "#collect/import/clean-entries.ts";
import { RowSink } from "#collect/import/row-sink.ts";
import { INITIAL_OFFSET } from "#core/model/initial-offset.ts";
import type { Offset, TranscriptEntry } from "#core/model/transcript.ts";
import type { TranscriptFile, TranscriptReader } from "#core/model/transcript-reader.ts";
import { decodeTables, encodeTables } from "#core/packed/fact-columns.ts";
import { redact, redactorOf } from "#core/privacy/redact.ts";
import { mergeEntries } from "#core/rules/merge.ts";
import { putEntry } from "#core/rules/put-facts.ts";
import { withStoredWrites } from "#store/capture/protect.ts";
import { type MadeFile, smallestFailing } from "./claude-lines.ts";

/** What reading a file returns besides its facts. */
export interface FileResult {
  readonly next: Offset;
  readonly records: number;
  readonly unreadable: number;
  readonly unknownKinds: ReadonlyMap<string, number>;
}

/** What reading a session's files returns, each fact once. */
export interface SessionResult {
  readonly files: readonly FileResult[];
  /** Facts about the whole session, in order. */
  readonly about: readonly TranscriptEntry[];
}

/** For paths of written files, as in the program: they stay on this machine, so their home folder remains. */
const redactSecrets = redactorOf({ emails: false, homeDirectories: false });
const clean = cleanWith(redact, redactSecrets);

/** Reads a session as drains do. */
export async function readAsEntries(
  reader: TranscriptReader,
  files: readonly TranscriptFile[],
): Promise<SessionResult & { readonly entries: ReadonlyMap<string, TranscriptEntry> }> {
  const entries = new Map<string, TranscriptEntry>();
  const about: TranscriptEntry[] = [];
  const all: TranscriptEntry[] = [];
  const read = await readFiles(reader, files, undefined, (one) => all.push(clean.entry(one)));
  // A drain knows the folder that a batch names, wherever it names it
  const folder = all.find((entry) => entry.kind === "session" && entry.cwd !== undefined);
  for (const one of all) {
    const entry = withStoredWrites(one, folder?.kind === "session" ? folder.cwd : undefined, redactSecrets);
    if (isAboutSession(entry)) about.push(entry);
    else {
      const known = entries.get(entry.key);
      entries.set(entry.key, known === undefined ? entry : mergeEntries(known, entry));
    }
  }
  return { files: read, about, entries };
}

/** Reads a session as imports do. */
export async function readAsRows(
  reader: TranscriptReader,
  source: string,
  files: readonly TranscriptFile[],
): Promise<SessionResult & { readonly rows: RowSink }> {
  const about: TranscriptEntry[] = [];
  const rows = new RowSink(source, clean, (entry) => isAboutSession(entry) && about.push(entry) > 0);
  const read = await readFiles(reader, files, rows, (entry) => putEntry(rows, entry));
  return { files: read, about, rows };
}

/** Reads both ways and expects the same facts, offsets, memos and counts. @returns the facts by key, and the rows */
export async function compareBoth(reader: TranscriptReader, source: string, files: readonly TranscriptFile[]) {
  const [asEntries, asRows] = [await readAsEntries(reader, files), await readAsRows(reader, source, files)];
  const entries = decodeTables(encodeTables(asRows.rows.tables()));
  const byKey = new Map(entries.map((entry) => [entry.key, entry]));
  same(byKey.size, entries.length);
  same(sorted(byKey), sorted(asEntries.entries));
  same(asRows.about, asEntries.about);
  same(asRows.files, asEntries.files);
  // The order of requests decides which is evicted first
  same(asRows.files.map(requestsOf), asEntries.files.map(requestsOf));
  return { entries: asEntries.entries, rows: asRows.rows };
}

/** A temporary folder that holds the files of one generated session at a time. */
export class MadeFiles {
  readonly #folder = mkdtempSync(join(tmpdir(), "openhook-both-sinks-"));

  /** @param modifiedMs modification time of all files */
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

  /** @throws Error with the smallest part of the session for which `check` still throws, and that error as its cause */
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

/** Faster than `deepStrictEqual` alone if both are equal. */
export function same(found: unknown, wanted: unknown): void {
  if (!isDeepStrictEqual(found, wanted)) deepStrictEqual(found, wanted);
}

// --- internal ---

const isAboutSession = ({ kind }: TranscriptEntry): boolean => kind === "session" || kind === "reported_usage";

async function readFiles(
  reader: TranscriptReader,
  files: readonly TranscriptFile[],
  sink: RowSink | undefined,
  put: (entry: TranscriptEntry) => void,
): Promise<readonly FileResult[]> {
  const read: FileResult[] = [];
  for (const file of files) {
    let [next, records, unreadable]: [Offset, number, number] = [INITIAL_OFFSET, 0, 0];
    const unknownKinds = new Map<string, number>();
    for await (const batch of reader.read(file, INITIAL_OFFSET, {
      isSync: true,
      ...(sink !== undefined && { sink }),
    })) {
      for (const entry of batch.entries) put(entry);
      next = batch.next;
      records += batch.records ?? 0;
      unreadable += batch.unreadable;
      for (const [kind, n] of batch.unknownKinds ?? []) unknownKinds.set(kind, (unknownKinds.get(kind) ?? 0) + n);
    }
    read.push({ next, records, unreadable, unknownKinds });
  }
  return read;
}

const sorted = (entries: ReadonlyMap<string, TranscriptEntry>): readonly TranscriptEntry[] =>
  [...entries.values()].sort((a, b) => (a.key < b.key ? -1 : 1));

function requestsOf({ next }: FileResult): readonly string[] {
  const { state } = next.memo as { readonly state?: { readonly requests?: object } };
  return Object.keys(state?.requests ?? {});
}
