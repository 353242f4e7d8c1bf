import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { open, readFile, stat, unlink } from "node:fs/promises";
import { basename, join } from "node:path";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import { messageOf, retryOnce } from "#kit/errors.ts";
import { step } from "#kit/fault-points.ts";
import { readOwn } from "#kit/own-file.ts";
import { type InboxDirs, type InboxEntry, isLost, isOurs, listEntries, msOf } from "./inbox-dirs.ts";
import { END_BYTES, EVENT_FILE, endOf, LOST_FILE, MAX_FILE_BYTES, parseInboxFile } from "./inbox-file.ts";
import { decodePayload } from "./payload.ts";
import { quarantine, renameFile, setAside } from "./quarantine.ts";

/** One event as the intake wrote it, claimed for this drain, which must call `settle` or `quarantine` for it. */
export interface InboxFile {
  readonly path: string;
  readonly facts: IntakeFacts;
  readonly payload: Buffer;
}

/** An event for which the disk had no room, claimed for this drain, which must call `settle` for it. */
export interface LostEvent {
  readonly path: string;
  /** Event time, in milliseconds since the epoch. */
  readonly lostMs: number;
}

/** A file that could not be claimed. `left`: it stays where it is; `quarantined`: it was quarantined. */
export interface InboxProblem {
  readonly path: string;
  readonly reason: string;
  readonly outcome: "left" | "quarantined";
}

/** What `claim` needs beside the directories. */
interface ClaimOptions {
  /** Milliseconds since the epoch; distinguishes a running intake from one that was killed. */
  readonly now: () => number;
  /** Called for every file that is quarantined or left. The others are still claimed. */
  readonly onProblem: (problem: InboxProblem) => void;
}

/** An intake takes seconds: a file without an end line after this time never gets one. */
export const INTAKE_ENDED_AFTER_MS = 10 * 60_000;

/**
 * Claims the files in the inbox, one at a time, in event order (modification time, then name): first those that a killed drain had
 * claimed, then the inbox as it was at the call. A file is renamed to a unique name before it is read, because an intake can
 * use the old name again for another event. Files of a running intake are skipped; files of a killed intake are claimed if their
 * payload is complete, and quarantined otherwise.
 *
 * @returns nothing if the directories do not exist
 * @throws Error only if a directory cannot be listed
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

/**
 * Removes a claimed file whose events are committed.
 *
 * @param remove @default deletes the file
 * @throws Error if the file exists and cannot be removed
 */
export async function settle(
  file: Pick<InboxFile, "path">,
  remove: (path: string) => void | Promise<void> = unlink,
): Promise<void> {
  await retryOnce(() => step("inbox.settle", () => remove(file.path))).catch((error: unknown) => {
    if (codeOf(error) === "ENOENT") return;
    throw new Error(`its events are stored, but it cannot be removed: ${messageOf(error)}`, { cause: error });
  });
}

/** Whether a file has its end line: its intake has written the whole event. @throws Error if it cannot be read */
export async function isComplete(path: string): Promise<boolean> {
  const handle = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
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

// --- internal ---

/** Limit of the wait for a stopped intake, as on a suspended machine. */
const INTAKE_STOPPED_MAX_MS = 7 * 86_400_000;

/** Moves one inbox entry into the claimed directory. @returns its new path; `undefined` if it is not claimed now */
async function moveIn(dirs: InboxDirs, entry: InboxEntry, options: ClaimOptions): Promise<string | undefined> {
  const from = join(dirs.inboxDir, entry.name);
  try {
    const lost = isLost(entry);
    if (!lost && !isOurs(entry)) {
      await quarantineForeign(dirs, from, entry, options);
      return undefined;
    }
    if (!lost && !(await hasEnded(entry, options.now())) && !(await isComplete(from))) return undefined;
    const suffix = lost ? LOST_FILE : EVENT_FILE;
    // Padded time and old name: if this drain is killed, the next one reads in the same order
    const stem = `${String(entry.mtimeNs).padStart(20, "0")}-${basename(entry.name, suffix).slice(0, 80)}`;
    const to = join(dirs.claimedDir, `${stem}-${randomUUID()}${suffix}`);
    await retryOnce(() => step("inbox.claim", () => renameFile(from, to)));
    return to;
  } catch (error) {
    // Gone since it was listed: another drain was faster
    if (codeOf(error) !== "ENOENT") reportLeft(from, error, options);
    return undefined;
  }
}

/** Reads one claimed file; `undefined` if it was quarantined or cannot be read. */
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

/** Whether a file's intake has ended: it is old (also if the clock was set back), and its process is not running or suspended. */
async function hasEnded({ name, mtimeNs }: InboxEntry, nowMs: number): Promise<boolean> {
  const ageMs = Math.abs(nowMs - msOf(mtimeNs));
  if (ageMs <= INTAKE_ENDED_AFTER_MS) return false;
  return ageMs > INTAKE_STOPPED_MAX_MS || !(await isIntakeRunning(name));
}

/** Whether the process named in the file is running with the same parent; pids are reused. Linux only. */
async function isIntakeRunning(name: string): Promise<boolean> {
  const [, parent, pid] = /^(\d+)-(\d+)-\d+\.evt$/.exec(name) ?? [];
  const stat = pid === undefined ? "" : await readFile(`/proc/${pid}/stat`, "latin1").catch(() => "");
  return stat !== "" && stat.slice(stat.lastIndexOf(") ") + 2).split(" ")[1] === parent;
}

const tooLarge = { ok: false, reason: "the file is larger than any the intake writes" } as const;

/** The file's bytes; `undefined` if it is larger than the intake's limit. */
async function readWhole(path: string): Promise<Buffer | undefined> {
  const { size } = await stat(path);
  return size > MAX_FILE_BYTES + END_BYTES ? undefined : readOwn(path);
}

/** A FIFO would block us, and a symbolic link leads elsewhere: such entries are moved, never opened. */
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

function reportLeft(path: string, error: unknown, { onProblem }: ClaimOptions): void {
  onProblem({ path, reason: `cannot read ${JSON.stringify(path)}: ${messageOf(error)}`, outcome: "left" });
}

const codeOf = (error: unknown): unknown => (error instanceof Error && "code" in error ? error.code : undefined);
