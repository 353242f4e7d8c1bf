import { type Stats, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { firstBytes } from "#kit/open.ts";
import { FolderMemory } from "../shared/transcript/folder-memory.ts";
import { compressedPath, firstUnpacked, isCompressed, plainPath } from "../shared/transcript/packed.ts";
import { type Head, headOfBytes } from "./head.ts";

/** The file of a thread, from its name. */
export interface Rollout {
  readonly path: string;
  readonly threadId: string;
  /** Creation time of the thread, if its id contains it. */
  readonly createdMs?: number;
  /** A later part: a thread that was rolled back continues in a new file under the same thread id. */
  readonly partId?: string;
}

/** The rollout with this file name, compressed or not. */
export function rolloutAt(path: string, name: string): Rollout | undefined {
  const [, threadId, partId] = NAME.exec(plainPath(name)) ?? [];
  if (threadId === undefined) return undefined;
  const createdMs = v7Ms(threadId);
  return { path, threadId, ...(createdMs !== undefined && { createdMs }), ...(partId !== undefined && { partId }) };
}

/** The file name begins with its creation time and is the same whether compressed or not. */
export const nameOf = (path: string): string => basename(plainPath(path));

/** Names of the rollouts in a folder. If a file exists in both forms, while Codex compresses or unpacks it, the plain one counts. */
export function rolloutNames(names: readonly string[]): readonly string[] {
  const all = new Set(names);
  return names.filter((name) => NAME.test(plainPath(name)) && !(isCompressed(name) && all.has(plainPath(name))));
}

/** Path of the form that exists, compressed or plain; `undefined` if neither exists. */
export function existingForm(path: string): string | undefined {
  return [plainPath(path), compressedPath(path)].find((form) => statsOf(form)?.isFile() === true);
}

/** The folders that can contain threads of the same Codex home. Each file is archived separately. */
export function siblingFolders(path: string): readonly string[] {
  const own = sessionsRoot(path);
  return [...new Set([own, ...FOLDERS.map((name) => join(dirname(own), name))])];
}

/** Names below Codex's home. */
export const FOLDERS = ["sessions", "archived_sessions"];

/** The `sessions` folder that contains a file; for files elsewhere, their own folder. */
function sessionsRoot(path: string): string {
  const match = /^(.*)[/\\]\d{4}[/\\]\d{2}[/\\]\d{2}[/\\][^/\\]+$/s.exec(path);
  return match?.[1] ?? dirname(path);
}

/**
 * All rollouts below a `sessions` folder, in order of time: in its date folders (`YYYY/MM/DD`) between two dates, both
 * included, and in the folder itself, which has older and archived files.
 */
function* rolloutsIn(root: string, from = "", to = "9999"): Generator<Rollout> {
  for (const folder of [root, ...daysIn(root, from, to)]) {
    for (const ofThread of rollouts.of(folder).values()) yield* ofThread;
  }
}

/**
 * The files of one thread, oldest first. The date folder of the first file is the day in the thread's id, in any time zone;
 * later parts are in the folders of the days on which they were created. A file that is in several folders, for example as a
 * stub in `sessions` and complete in the archive, is returned for each of them.
 *
 * @param knownPath one of its files, if known: limits the search to the days up to its last change
 */
export function partsOf(
  folders: readonly string[],
  threadId: string,
  knownPath: string | undefined,
): readonly string[] {
  const createdMs = v7Ms(threadId);
  const partId = knownPath === undefined ? undefined : rolloutAt(knownPath, nameOf(knownPath))?.partId;
  const writtenMs = knownPath === undefined ? undefined : statsOf(knownPath)?.mtimeMs;
  const lastMs = writtenMs === undefined ? undefined : Math.max(writtenMs, v7Ms(partId ?? threadId) ?? 0);
  const from = createdMs === undefined ? "" : dayOf(createdMs - DAY_MS);
  const to = createdMs === undefined || lastMs === undefined ? "9999" : dayOf(lastMs + DAY_MS);
  const found = new Set(knownPath === undefined ? [] : [knownPath]);
  for (const folder of folders) {
    for (const inFolder of [folder, ...daysIn(folder, from, to)]) {
      for (const { path } of rollouts.of(inFolder).get(threadId) ?? []) found.add(path);
    }
  }
  return oldestFirst(found);
}

/** Sorted by file name, which begins with the creation time. */
export const oldestFirst = (paths: Iterable<string>): readonly string[] =>
  [...paths].sort((a, b) => ((nameOf(a) === nameOf(b) ? a < b : nameOf(a) < nameOf(b)) ? -1 : 1));

/**
 * Files of the subagents of a session, at any depth. A subagent is younger than its root and started before the last write
 * to the root's file. Only files within this time are opened, and only their first bytes are read.
 *
 * @param folders that can contain them
 * @param mainPaths the root's own files, oldest first; empty if they are missing
 */
export function subagentsOf(
  folders: readonly string[],
  rootId: string,
  mainPaths: readonly string[],
  roots: readonly string[] | undefined,
): readonly Rollout[] {
  const createdMs = v7Ms(rootId);
  const writtenMs = mainPaths.map((path) => statsOf(path)?.mtimeMs ?? 0);
  const lastMs = mainPaths.length === 0 ? Number.POSITIVE_INFINITY : Math.max(...writtenMs);
  const from = createdMs === undefined ? "" : dayOf(createdMs - DAY_MS);
  const to = createdMs === undefined || lastMs === Number.POSITIVE_INFINITY ? "9999" : dayOf(lastMs + DAY_MS);
  const parents = new Map<string, string>();
  const found: Rollout[] = [];
  for (const folder of folders) {
    for (const rollout of rolloutsIn(folder, from, to)) {
      const { path, threadId, createdMs: threadMs } = rollout;
      if (threadId === rootId) continue;
      if (createdMs !== undefined && threadMs !== undefined && (threadMs < createdMs || threadMs > lastMs + LATE_MS))
        continue;
      const head = readHead(path, roots);
      if (head === undefined || head.rootId === head.threadId) continue;
      parents.set(head.threadId, head.rootId);
      found.push(rollout);
    }
  }
  return found.filter(({ threadId }) => topmostAncestor(parents, threadId) === rootId);
}

/** The topmost known ancestor, for versions that report only the parent and not the root. */
export function topmostAncestor(parents: ReadonlyMap<string, string>, threadId: string, depth = 0): string {
  const parent = parents.get(threadId);
  return parent === undefined || depth > MAX_DEPTH ? threadId : topmostAncestor(parents, parent, depth + 1);
}

/** Identity of a file's thread; `undefined` if it cannot be read or is no rollout. Heads never change: each is read once. */
export function readHead(path: string, roots: readonly string[] | undefined): Head | undefined {
  const known = heads.get(path);
  if (known !== undefined) return known;
  const first = isCompressed(path) ? firstUnpacked : firstBytes;
  const head = headOfBytes(first(path, HEAD_BYTES, roots).toString("utf8"));
  if (head !== undefined) {
    if (heads.size >= MAX_HEADS) heads.clear();
    heads.set(path, head);
  }
  return head;
}

// --- internal ---

const ID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}";
/** Captures the thread id and the part id. Sync programs add something to the names of copies. */
const NAME = new RegExp(`^rollout-.*?(${ID})(?:_(${ID}))?.*?\\.jsonl$`);

const DAY_MS = 86_400_000;
/** Longest time between the creation of a thread's id and of its file. */
const LATE_MS = 60_000;
const MAX_DEPTH = 32;
/** All ids are in the first few hundred bytes, before the instructions. */
const HEAD_BYTES = 4_096;
const MAX_HEADS = 50_000;

const heads = new Map<string, Head>();

function statsOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10).replaceAll("-", "/");

function* daysIn(root: string, from: string, to: string): Generator<string> {
  for (const year of numbersIn(root, 4)) {
    if (year < from.slice(0, 4) || year > to.slice(0, 4)) continue;
    for (const month of numbersIn(join(root, year), 2)) {
      const ofMonth = `${year}/${month}`;
      if (ofMonth < from.slice(0, 7) || ofMonth > to.slice(0, 7)) continue;
      for (const day of numbersIn(join(root, year, month), 2)) {
        const ofDay = `${ofMonth}/${day}`;
        if (ofDay >= from && ofDay.slice(0, to.length) <= to) yield join(root, year, month, day);
      }
    }
  }
}

/** Milliseconds in an id of version 7. */
function v7Ms(id: string): number | undefined {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-7/.test(id) ? Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) : undefined;
}

/** By thread. */
const rollouts = new FolderMemory((folder, names) => {
  const byThread = new Map<string, Rollout[]>();
  for (const name of rolloutNames(names)) {
    const rollout = rolloutAt(join(folder, name), name);
    if (rollout === undefined) continue;
    const others = byThread.get(rollout.threadId);
    if (others === undefined) byThread.set(rollout.threadId, [rollout]);
    else others.push(rollout);
  }
  return byThread;
});

const names = new FolderMemory((_, found) => found);

const numbersIn = (folder: string, digits: number): readonly string[] =>
  names.of(folder).filter((name) => name.length === digits && /^\d+$/.test(name));
