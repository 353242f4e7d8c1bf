import { randomUUID } from "node:crypto";
import type { Dirent } from "node:fs";
import { chmod, lstat, mkdir, open, readdir, readFile, rename, unlink, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import type { IntakeFacts } from "../model/agent.ts";
import { step } from "../model/fault-points.ts";
import { retryOnce } from "../model/retry-once.ts";
import { END_BYTES, EVENT_FILE, endOf, LOST_FILE, MAX_FILE_BYTES, parseInboxFile } from "./inbox-file.ts";
import { decodePayload } from "./payload.ts";

/** The part of `Places` that holds inbox files. */
export interface InboxDirs {
  readonly inboxDir: string;
  readonly claimedDir: string;
  readonly quarantineDir: string;
}

/** One event as the intake left it, claimed for this drain. Ends in `settle` or in `quarantine`. */
export interface InboxFile {
  readonly path: string;
  readonly facts: IntakeFacts;
  readonly payload: Buffer;
}

/** What the intake left of an event that found no room on the disk, claimed for this drain. Ends in `settle`. */
export interface LostEvent {
  readonly path: string;
  /** When it happened, milliseconds since the epoch. */
  readonly lostMs: number;
}

/** A file that could not be taken. `left`: it stays where it is; `quarantined`: it was set aside. */
export interface InboxProblem {
  readonly path: string;
  readonly reason: string;
  readonly outcome: "left" | "quarantined";
}

export interface ClaimOptions {
  /** Milliseconds since the epoch; tells an intake at work from one that died. */
  readonly now: () => number;
  /** Hears of every file that is set aside or left. The others go on. */
  readonly onProblem: (problem: InboxProblem) => void;
}

/** An intake is done within seconds: a file that has no end line after this never gets one. */
export const INTAKE_DIED_AFTER_MS = 10 * 60_000;

/** One that stands still for longer than a week is not waited for. */
const INTAKE_STOPPED_AT_MOST_MS = 7 * 86_400_000;

/**
 * Makes the state directories, mode 0700, and takes the access of others away from those that exist.
 *
 * @throws Error that names the directory when one cannot be made; a mode that is not ours to change is left
 */
export async function ensureStateDirs(dirs: InboxDirs & { readonly stateDir: string }): Promise<void> {
  for (const dir of [dirs.stateDir, dirs.inboxDir, dirs.claimedDir, dirs.quarantineDir]) {
    await retryOnce(() => step("state.make", () => mkdir(dir, { recursive: true, mode: 0o700 }))).catch(
      (error: unknown) => {
        const advice = "make way for it, or set OPENHOOK_OTEL_HOME to another place";
        throw new Error(`cannot make the directory ${JSON.stringify(dir)}: ${messageOf(error)}; ${advice}`, {
          cause: error,
        });
      },
    );
    const { mode } = await lstat(dir);
    if ((mode & 0o777) !== 0o700) await chmod(dir, 0o700).catch(() => {});
  }
}

/**
 * Takes the files that wait, one at a time, in event order (modification time, then name): first what a drain that
 * died had claimed, then the inbox as it was at the call. A file is renamed under a fresh name before it is read, so
 * that an intake which uses the old name again never makes us delete an event unread. Files whose intake is still at
 * work are passed over; those whose intake died are taken when their payload is whole, else set aside.
 *
 * @returns nothing where the directories do not exist
 * @throws only when a directory cannot be listed
 */
export async function* claim(
  dirs: InboxDirs,
  options: ClaimOptions,
): AsyncGenerator<InboxFile | LostEvent, void, undefined> {
  for (const entry of await listEntries(dirs.claimedDir)) {
    const file = await readClaimed(dirs, entry, join(dirs.claimedDir, entry.name), options);
    if (file !== undefined) yield file;
  }
  for (const entry of await listEntries(dirs.inboxDir)) {
    const path = await moveIn(dirs, entry, options);
    if (path === undefined) continue;
    const file = await readClaimed(dirs, entry, path, options);
    if (file !== undefined) yield file;
  }
}

/** Removes a claimed file whose events are committed. One that is gone already is fine. */
export async function settle(file: Pick<InboxFile, "path">): Promise<void> {
  await retryOnce(() => step("inbox.settle", () => unlink(file.path))).catch((error: unknown) => {
    if (codeOf(error) === "ENOENT") return;
    throw new Error(`its events are stored, but it cannot be removed: ${messageOf(error)}`, { cause: error });
  });
}

/**
 * Sets a claimed file aside, with its reason beside it (`<name>.reason`, JSON). Nothing is ever thrown away.
 *
 * @returns its new path
 * @throws what the file system throws when it cannot be moved; it is still claimed then. A reason that cannot be
 *         written does not keep the file from being moved.
 */
export async function quarantine(
  dirs: InboxDirs,
  file: { readonly path: string; readonly facts?: IntakeFacts },
  reason: string,
  atMs: number,
): Promise<string> {
  return setAside(dirs, file.path, basename(file.path), { reason, facts: file.facts, atMs });
}

/** How many files lie where. */
export interface InboxCounts {
  readonly inbox: number;
  readonly claimed: number;
  readonly quarantined: number;
  /** Event time of the oldest file that waits in inbox or claimed; absent when none does. */
  readonly oldestMs?: number;
  /** Events that found no room on the disk and that no drain has counted yet: none of the files above. */
  readonly lost: number;
  /** When the last of them did. */
  readonly lostMs?: number;
}

/**
 * Counts without reading any file. Directories that do not exist hold nothing.
 *
 * @param counted names of claimed files that were stored and could not be removed: of lost events those are left out
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

// --- internal ---

const REASON_SUFFIX = ".reason";

interface InboxEntry {
  readonly name: string;
  readonly mtimeNs: bigint;
  readonly isFile: boolean;
  readonly isEmpty: boolean;
}

/** Entries of a directory in event order. Names with a leading dot are not ours: `.nfs…`, `.DS_Store`. */
async function listEntries(dir: string): Promise<readonly InboxEntry[]> {
  const found: InboxEntry[] = [];
  for (const { name } of await list(dir)) {
    if (name.startsWith(".")) continue;
    const stats = await lstat(join(dir, name), { bigint: true }).catch(() => undefined);
    // Not the whole record: a hundred thousand files may wait
    if (stats !== undefined) {
      found.push({ name, mtimeNs: stats.mtimeNs, isFile: stats.isFile(), isEmpty: stats.size === 0n });
    }
  }
  return found.sort((a, b) => compare(a.mtimeNs, b.mtimeNs) || compare(a.name, b.name));
}

async function list(dir: string): Promise<readonly Dirent[]> {
  try {
    return await retryOnce(() => step("inbox.list", () => readdir(dir, { withFileTypes: true })));
  } catch (error) {
    if (codeOf(error) === "ENOENT") return [];
    throw new Error(`cannot list ${JSON.stringify(dir)}: ${messageOf(error)}`, { cause: error });
  }
}

/** Moves one inbox entry into the claimed directory; `undefined` when it is not to be taken now. */
async function moveIn(dirs: InboxDirs, entry: InboxEntry, options: ClaimOptions): Promise<string | undefined> {
  const from = join(dirs.inboxDir, entry.name);
  try {
    const lost = isLost(entry);
    if (!lost && !isOurs(entry)) {
      await quarantineForeign(dirs, from, entry, options);
      return undefined;
    }
    if (!lost && !(await hasDied(entry, options.now())) && !(await isComplete(from))) return undefined;
    const suffix = lost ? LOST_FILE : EVENT_FILE;
    // time, padded, and old name: the order holds for the next drain too, should this one die
    const stem = `${String(entry.mtimeNs).padStart(20, "0")}-${basename(entry.name, suffix).slice(0, 80)}`;
    const to = join(dirs.claimedDir, `${stem}-${randomUUID()}${suffix}`);
    await retryOnce(() => step("inbox.claim", () => renameFile(from, to)));
    return to;
  } catch (error) {
    // gone between listing and taking: another drain was faster
    if (codeOf(error) !== "ENOENT") reportLeft(from, error, options);
    return undefined;
  }
}

/** Reads one claimed file; `undefined` when it was set aside or cannot be read. */
async function readClaimed(
  dirs: InboxDirs,
  entry: InboxEntry,
  path: string,
  options: ClaimOptions,
): Promise<InboxFile | LostEvent | undefined> {
  try {
    if (isLost(entry)) return { path, lostMs: msOf(entry.mtimeNs) };
    if (!isOurs(entry)) {
      await quarantineForeign(dirs, path, entry, options);
      return undefined;
    }
    const bytes = await retryOnce(() => step("inbox.read", () => readWhole(path)));
    const parsed = bytes === undefined ? tooLarge : parseInboxFile(bytes, msOf(entry.mtimeNs));
    if (!parsed.ok) {
      await quarantineNow(dirs, { path }, parsed.reason, options);
      return undefined;
    }
    const { facts, payload, end } = parsed;
    if (end === undefined) {
      const decoded = decodePayload(payload);
      if (!decoded.ok || decoded.notes.includes("cut")) {
        const reason = "the intake died before the payload was whole";
        await quarantineNow(dirs, { path, facts: { ...facts, truncated: true } }, reason, options);
        return undefined;
      }
    }
    return { path, facts, payload };
  } catch (error) {
    if (codeOf(error) !== "ENOENT") reportLeft(path, error, options);
    return undefined;
  }
}

const isOurs = ({ name, isFile }: InboxEntry): boolean => isFile && name.endsWith(EVENT_FILE);
const isLost = ({ name, isFile, isEmpty }: InboxEntry): boolean => isFile && isEmpty && name.endsWith(LOST_FILE);

/** Also when the clock was set back meanwhile; not while its process stands still, as in a machine that was suspended. */
async function hasDied({ name, mtimeNs }: InboxEntry, nowMs: number): Promise<boolean> {
  const ageMs = Math.abs(nowMs - msOf(mtimeNs));
  if (ageMs <= INTAKE_DIED_AFTER_MS) return false;
  return ageMs > INTAKE_STOPPED_AT_MOST_MS || !(await isIntakeRunning(name));
}

/** Whether the process that names itself in the file is there, with the same parent: pids come back. Linux only. */
async function isIntakeRunning(name: string): Promise<boolean> {
  const [, parent, pid] = /^(\d+)-(\d+)-\d+\.evt$/.exec(name) ?? [];
  const stat = pid === undefined ? "" : await readFile(`/proc/${pid}/stat`, "latin1").catch(() => "");
  return stat !== "" && stat.slice(stat.lastIndexOf(") ") + 2).split(" ")[1] === parent;
}

async function isComplete(path: string): Promise<boolean> {
  const handle = await open(path, "r");
  try {
    const { size } = await handle.stat();
    const { buffer, bytesRead } = await handle.read(
      Buffer.alloc(END_BYTES),
      0,
      END_BYTES,
      Math.max(0, size - END_BYTES),
    );
    return endOf(buffer.subarray(0, bytesRead)) !== undefined;
  } finally {
    await handle.close();
  }
}

const tooLarge = { ok: false, reason: "the file is larger than any the intake writes" } as const;

/** The file's bytes, or `undefined` when it is larger than the intake's bound. */
async function readWhole(path: string): Promise<Buffer | undefined> {
  const handle = await open(path, "r");
  try {
    const { size } = await handle.stat();
    return size > MAX_FILE_BYTES + END_BYTES ? undefined : await handle.readFile();
  } finally {
    await handle.close();
  }
}

/** A FIFO would block us, a symbolic link leads elsewhere: such things are moved, never opened. */
async function quarantineForeign(
  dirs: InboxDirs,
  path: string,
  entry: InboxEntry,
  options: ClaimOptions,
): Promise<void> {
  const reason = entry.isFile ? `not an inbox file: its name does not end in ${EVENT_FILE}` : "not a regular file";
  const to = await setAside(dirs, path, `${randomUUID()}-${entry.name}`, { reason, atMs: options.now() });
  options.onProblem({ path: to, reason, outcome: "quarantined" });
}

async function quarantineNow(
  dirs: InboxDirs,
  file: { readonly path: string; readonly facts?: IntakeFacts },
  reason: string,
  { now, onProblem }: ClaimOptions,
): Promise<void> {
  onProblem({ path: await quarantine(dirs, file, reason, now()), reason, outcome: "quarantined" });
}

interface Reason {
  readonly reason: string;
  readonly facts?: IntakeFacts | undefined;
  readonly atMs: number;
}

/** A rename that worked although it was said to have failed, as over a network, is none that failed. */
async function renameFile(from: string, to: string): Promise<void> {
  await rename(from, to).catch(async (error: unknown) => {
    if (codeOf(error) !== "ENOENT" || (await lstat(to).catch(() => undefined)) === undefined) throw error;
  });
}

async function setAside(dirs: InboxDirs, path: string, name: string, { reason, facts, atMs }: Reason): Promise<string> {
  const to = join(dirs.quarantineDir, name);
  const text = { reason, source: facts?.source, event: facts?.event, at: new Date(atMs).toISOString() };
  // First, so that nothing ever lies there without one; that it cannot be written keeps nothing from being moved
  const note = `${to}${REASON_SUFFIX}`;
  await retryOnce(() =>
    step("inbox.reason", () => writeFile(note, `${JSON.stringify(text)}\n`, { mode: 0o600 })),
  ).catch(() => {});
  await retryOnce(() => step("inbox.quarantine", () => renameFile(path, to)));
  return to;
}

function reportLeft(path: string, error: unknown, { onProblem }: ClaimOptions): void {
  onProblem({ path, reason: `cannot take ${JSON.stringify(path)}: ${messageOf(error)}`, outcome: "left" });
}

const msOf = (ns: bigint): number => Number(ns / 1_000_000n);
const compare = <T extends bigint | string>(a: T, b: T): number => (a < b ? -1 : a > b ? 1 : 0);
const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
const codeOf = (error: unknown): unknown => (error instanceof Error && "code" in error ? error.code : undefined);
