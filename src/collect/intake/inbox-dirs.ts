import type { Dirent } from "node:fs";
import { chmod, lstat, mkdir, readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { messageOf, retryOnce } from "#kit/errors.ts";
import { step } from "#kit/fault-points.ts";
import { EVENT_FILE, LOST_COUNT, LOST_FILE } from "./inbox-file.ts";

/** The part of `Places` that contains inbox files. Absolute paths. */
export interface InboxDirs {
  readonly inboxDir: string;
  readonly claimedDir: string;
  readonly quarantineDir: string;
}

/**
 * Creates the state directories with mode 0700, and restricts existing ones to it.
 *
 * @throws Error that names the directory if it cannot be created; a mode that this user may not change stays
 */
export async function ensureStateDirs(dirs: InboxDirs & { readonly stateDir: string }): Promise<void> {
  for (const dir of [dirs.stateDir, dirs.inboxDir, dirs.claimedDir, dirs.quarantineDir]) {
    await retryOnce(() => step("state.make", () => mkdir(dir, { recursive: true, mode: 0o700 }))).catch(
      async (error: unknown) => {
        throw new Error(await cannotCreate(dir, error), { cause: error });
      },
    );
    // Windows has no modes
    if (process.platform === "win32") continue;
    const { mode } = await lstat(dir);
    if ((mode & 0o777) !== 0o700) await chmod(dir, 0o700).catch(() => {});
  }
}

/** The message for a directory that cannot be created, with the cause and the remedy. */
export async function cannotCreate(dir: string, error: unknown): Promise<string> {
  const closed = await closedFolder(dir);
  const elsewhere = "set OPENHOOK_OTEL_HOME to another folder";
  const advice =
    closed !== undefined
      ? `its owner's rights are missing: chmod u+rwx ${JSON.stringify(closed)}`
      : NOT_WRITABLE.has(codeOf(error))
        ? `let this user write there, or ${elsewhere}`
        : `remove the file in its place, or ${elsewhere}`;
  return `cannot create the directory ${JSON.stringify(dir)}: ${messageOf(error)}; ${advice}`;
}

/** An entry of one of the directories. */
export interface InboxEntry {
  readonly name: string;
  /** Modification time in nanoseconds since the epoch: the event time. */
  readonly mtimeNs: bigint;
  readonly isFile: boolean;
  readonly isEmpty: boolean;
}

/**
 * Entries of a directory in event order; empty if there is no such directory. Names with a leading dot are not ours, such as
 * `.nfs…` and `.DS_Store`.
 */
export async function listEntries(dir: string): Promise<readonly InboxEntry[]> {
  const found: InboxEntry[] = [];
  for (const { name } of await list(dir)) {
    if (name.startsWith(".")) continue;
    const stats = await lstat(join(dir, name), { bigint: true }).catch(() => undefined);
    // Store only what is needed: there can be a hundred thousand files
    if (stats !== undefined) {
      found.push({ name, mtimeNs: stats.mtimeNs, isFile: stats.isFile(), isEmpty: stats.size === 0n });
    }
  }
  return found.sort((a, b) => compare(a.mtimeNs, b.mtimeNs) || compare(a.name, b.name));
}

/** Whether an entry has the form of an event that an intake wrote. */
export const isOurs = ({ name, isFile }: InboxEntry): boolean => isFile && name.endsWith(EVENT_FILE);
/** Whether an entry is a lost event: the disk had no room for it. */
export const isLost = ({ name, isFile, isEmpty }: InboxEntry): boolean => isFile && isEmpty && name.endsWith(LOST_FILE);

export const msOf = (ns: bigint): number => Number(ns / 1_000_000n);

/** Numbers of files by directory. */
interface InboxCounts {
  readonly inbox: number;
  readonly claimed: number;
  readonly quarantined: number;
  /** Event time of the oldest file in inbox or claimed, in milliseconds since the epoch; absent if there is none. */
  readonly oldestMs?: number;
  /** Events that were lost because the disk was full, and that no drain has counted yet. Not part of the numbers above. */
  readonly lost: number;
  /** Time of the latest lost event. */
  readonly lostMs?: number;
}

/**
 * Counts files without reading any. A directory that does not exist counts as empty.
 *
 * @param counted names of claimed files whose events are stored, but which could not be removed: lost events among them do not
 *        count
 */
export async function counts(dirs: InboxDirs, counted: ReadonlySet<string> = new Set()): Promise<InboxCounts> {
  const [inInbox, inClaimed] = [await listEntries(dirs.inboxDir), await listEntries(dirs.claimedDir)];
  const lostMs = [...inInbox, ...inClaimed]
    .filter((entry) => isLost(entry) && !counted.has(entry.name))
    .map(({ mtimeNs }) => msOf(mtimeNs));
  const [inbox, claimed] = [inInbox.filter((entry) => !isLost(entry)), inClaimed.filter((entry) => !isLost(entry))];
  const quarantined = (await list(dirs.quarantineDir)).filter((entry) => !entry.name.endsWith(REASON_SUFFIX)).length;
  const oldestNs = [inbox[0], claimed[0]]
    .filter((entry) => entry !== undefined)
    .map((entry) => entry.mtimeNs)
    .reduce<bigint | undefined>((oldest, ns) => (oldest === undefined || ns < oldest ? ns : oldest), undefined);
  return {
    inbox: inbox.length,
    claimed: claimed.length,
    quarantined,
    ...(oldestNs === undefined ? {} : { oldestMs: msOf(oldestNs) }),
    lost: lostMs.length,
    ...(lostMs.length === 0 ? {} : { lostMs: lostMs.reduce((last, ms) => Math.max(last, ms)) }),
  };
}

/** Events for which not even an empty file could be created; see `LOST_COUNT`. Never decreases. */
export async function unwrittenEvents(stateDir: string): Promise<{ readonly total: number; readonly lastMs: number }> {
  const found = await lstat(join(stateDir, LOST_COUNT)).catch(() => undefined);
  return found?.isFile() === true ? { total: found.size, lastMs: found.mtimeMs } : { total: 0, lastMs: 0 };
}

/** Name of the file beside a quarantined one that contains the reason. */
export const REASON_SUFFIX = ".reason";

// --- internal ---

/** The folder above it belongs to another user, or the disk is read-only. */
const NOT_WRITABLE: ReadonlySet<unknown> = new Set(["EACCES", "EPERM", "EROFS"]);

/** The nearest existing folder, if it is this user's and closed to them, as after `umask 777`; otherwise `undefined`. */
async function closedFolder(dir: string): Promise<string | undefined> {
  for (let folder = dir; ; folder = dirname(folder)) {
    const found = await lstat(folder).catch(() => undefined);
    if (found === undefined && dirname(folder) !== folder) continue;
    const isClosed =
      found?.isDirectory() === true && found.uid === process.getuid?.() && (found.mode & 0o700) !== 0o700;
    return isClosed ? folder : undefined;
  }
}

async function list(dir: string): Promise<readonly Dirent[]> {
  try {
    return await retryOnce(() => step("inbox.list", () => readdir(dir, { withFileTypes: true })));
  } catch (error) {
    if (codeOf(error) === "ENOENT") return [];
    throw new Error(`cannot list ${JSON.stringify(dir)}: ${messageOf(error)}`, { cause: error });
  }
}

const compare = <T extends bigint | string>(a: T, b: T): number => (a < b ? -1 : a > b ? 1 : 0);
const codeOf = (error: unknown): unknown => (error instanceof Error && "code" in error ? error.code : undefined);
