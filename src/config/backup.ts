import { createHash } from "node:crypto";
import { readdir, rmdir } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { readFileIfAny, removeFile, writeFileAtomic } from "./files.ts";

/** One registration, with its files in the installer's order. */
const Holder = z.object({
  scope: z.enum(["user", "project"]),
  /** Absent in user scope. */
  project: z.string().optional(),
  files: z.array(z.string()),
  /** The agent's folders with transcripts, if variables moved them when it was enabled, as for a second profile. */
  transcriptFolders: z.array(z.string()).optional(),
});
export type Holder = z.infer<typeof Holder>;

/** The state of one settings file before our first edit and after our last one. */
const BackupRecord = z.object({
  /** The settings file, as the agent's installer names it. */
  path: z.string(),
  /** False if we created the file. */
  existed: z.boolean(),
  /** Hash of the `.bak` file; `null` if there was no file. */
  beforeSha256: z.string().nullable(),
  /** While the file has this hash, only we have changed it and the backup may be restored. */
  afterSha256: z.string(),
  /** ISO 8601. */
  at: z.string(),
  agent: z.string(),
  scope: z.enum(["user", "project"]),
  /** The topmost directory that was created for the file. */
  madeDirectory: z.string().optional(),
  /** Registrations that use the file; two scopes may share one. @default one of `scope`, for this file */
  holders: z.array(Holder).optional(),
});
export type BackupRecord = z.infer<typeof BackupRecord>;

/** @returns the record of a settings file; `undefined` if there is none that can be read */
export async function recordOf(backupDir: string, path: string): Promise<BackupRecord | undefined> {
  return parseRecord(await readFileIfAny(recordPath(backupDir, path)));
}

/** The registrations that use the file. */
export const holdersOf = ({ holders, scope, path }: BackupRecord): readonly Holder[] =>
  holders ?? [{ scope, files: [path] }];

/** Whether it is the same registration, even if its files changed. A record without a project may belong to any. */
export const isSameHolder = (a: Omit<Holder, "files">, b: Omit<Holder, "files">): boolean =>
  a.scope === b.scope && (a.project === undefined || b.project === undefined || a.project === b.project);

/** All readable records, in no order. */
export async function allRecords(backupDir: string): Promise<readonly BackupRecord[]> {
  const names = await readdir(backupDir).catch(() => []);
  const records: BackupRecord[] = [];
  for (const name of names) {
    if (!name.endsWith(".json") || name.startsWith(".")) continue;
    const record = parseRecord(await readFileIfAny(join(backupDir, name)));
    if (record !== undefined) records.push(record);
  }
  return records;
}

/** The folders with transcripts of registered profiles, by agent; agents with their usual folders are not in it. */
export async function registeredFolders(backupDir: string): Promise<ReadonlyMap<string, readonly string[]>> {
  const found = new Map<string, readonly string[]>();
  for (const record of await allRecords(backupDir)) {
    const folders = holdersOf(record).flatMap(({ transcriptFolders = [] }) => transcriptFolders);
    if (folders.length > 0) found.set(record.agent, [...new Set([...(found.get(record.agent) ?? []), ...folders])]);
  }
  return found;
}

/** @returns the bytes before our first edit; `undefined` if there was no file, or the backup has changed */
export async function originalOf(backupDir: string, record: BackupRecord): Promise<Buffer | undefined> {
  const bytes = await readFileIfAny(bytesPath(backupDir, record.path));
  return bytes !== undefined && sha256(bytes) === record.beforeSha256 ? bytes : undefined;
}

/** Writes the backup first and the record last, so that a record always has its bytes. */
export async function saveBackup(
  backupDir: string,
  record: Omit<BackupRecord, "existed" | "beforeSha256">,
  original: Uint8Array | undefined,
): Promise<void> {
  const bytes = bytesPath(backupDir, record.path);
  if (original === undefined) await removeFile(bytes);
  else await writeFileAtomic(bytes, original, { mode: 0o600 });
  // Parsed, so that a restored record has the same bytes, with its members in the schema's order
  const whole = BackupRecord.parse({
    ...record,
    existed: original !== undefined,
    beforeSha256: original === undefined ? null : sha256(original),
  });
  await writeFileAtomic(recordPath(backupDir, record.path), `${JSON.stringify(whole, null, 2)}\n`, { mode: 0o600 });
}

/** Removes the backup of a settings file, and the directory with the last one. */
export async function dropBackup(backupDir: string, path: string): Promise<void> {
  await removeFile(recordPath(backupDir, path));
  await removeFile(bytesPath(backupDir, path));
  await rmdir(backupDir).catch(() => {});
}

/** Lower-case hex. */
export const sha256 = (bytes: Uint8Array | string): string => createHash("sha256").update(bytes).digest("hex");

// --- internal ---

const recordPath = (backupDir: string, path: string): string => join(backupDir, `${sha256(path)}.json`);
const bytesPath = (backupDir: string, path: string): string => join(backupDir, `${sha256(path)}.bak`);

function parseRecord(bytes: Buffer | undefined): BackupRecord | undefined {
  if (bytes === undefined) return undefined;
  try {
    return BackupRecord.safeParse(JSON.parse(bytes.toString())).data;
  } catch {
    return undefined;
  }
}
