import { type Stats, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { FolderMemory } from "../shared/transcript/folder-memory.ts";
import { firstBytes } from "../shared/transcript/open.ts";
import { firstUnpacked, isPacked, packedPath, plainPath } from "../shared/transcript/packed.ts";
import { type Head, headOfBytes } from "./head.ts";

/** A session file that was found, by its name alone. */
export interface Rollout {
  readonly path: string;
  readonly threadId: string;
  /** When the thread was made, where its id says so. */
  readonly bornMs?: number;
  /** A later part: a thread that was taken back goes on in a file of its own, under the same thread id. */
  readonly partId?: string;
}

/** The file of a thread, by its name, packed or not. */
export function rolloutAt(path: string, name: string): Rollout | undefined {
  const [, threadId, partId] = NAME.exec(plainPath(name)) ?? [];
  if (threadId === undefined) return undefined;
  const bornMs = v7Ms(threadId);
  return { path, threadId, ...(bornMs !== undefined && { bornMs }), ...(partId !== undefined && { partId }) };
}

/** Without its folders a path begins with the time at which the file was made. Packed or not, it has one name. */
export const nameOf = (path: string): string => basename(plainPath(path));

/** Names of the rollouts in a folder. While Codex packs one, and while it unpacks it, both forms are there: the plain one counts. */
export function rolloutNames(names: readonly string[]): readonly string[] {
  const all = new Set(names);
  return names.filter((name) => NAME.test(plainPath(name)) && !(isPacked(name) && all.has(plainPath(name))));
}

/** Where a file lies that was told under either form; `undefined` where neither is there. */
export function formThere(path: string): string | undefined {
  return [plainPath(path), packedPath(path)].find((form) => statsOf(form)?.isFile() === true);
}

/** The folders that threads of one Codex lie in: archived ones in another, of which each may be moved for itself. */
export function foldersBeside(path: string): readonly string[] {
  const own = sessionsRoot(path);
  return [...new Set([own, ...FOLDERS.map((name) => join(dirname(own), name))])];
}

/** Below Codex's home. */
export const FOLDERS = ["sessions", "archived_sessions"];

/** The `sessions` folder that a file lies in; of other places the folder itself. */
function sessionsRoot(path: string): string {
  const match = /^(.*)[/\\]\d{4}[/\\]\d{2}[/\\]\d{2}[/\\][^/\\]+$/s.exec(path);
  return match?.[1] ?? dirname(path);
}

/**
 * All rollouts below a `sessions` folder, in order of time: in its folders of days from one to another (`YYYY/MM/DD`, both
 * included), and the folder itself, where older and archived files lie.
 */
function* rolloutsIn(root: string, from = "", to = "9999"): Generator<Rollout> {
  yield* rollouts.of(root);
  for (const folder of daysIn(root, from, to)) yield* rollouts.of(folder);
}

/**
 * The files of one thread, oldest first. The folder of the first is that of the day in the thread's id, give or take a time
 * zone; parts lie in those of the days on which they were made.
 *
 * @param lastPath its newest file, where that is known: of a thread in one piece it is all of it
 */
export function partsOf(folders: readonly string[], threadId: string, lastPath: string | undefined): readonly string[] {
  const last = lastPath === undefined ? undefined : rolloutAt(lastPath, nameOf(lastPath));
  if (lastPath !== undefined && last?.partId === undefined) return [lastPath];
  const bornMs = v7Ms(threadId);
  const lastMs = last?.partId === undefined ? undefined : v7Ms(last.partId);
  const from = bornMs === undefined ? "" : dayOf(bornMs - DAY_MS);
  const to = lastMs === undefined ? "9999" : dayOf(lastMs + DAY_MS);
  const found = new Map<string, string>();
  for (const folder of folders) {
    for (const { path, threadId: id } of rolloutsIn(folder, from, to)) {
      if (id === threadId && !found.has(nameOf(path))) found.set(nameOf(path), path);
    }
  }
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, path]) => path);
}

/**
 * Files of the subagents of a session, at any depth. A subagent is younger than its root, and was started before the root's
 * file was last written to; only the first bytes of files that can be one are read.
 *
 * @param folders that they can lie in
 * @param mainPath the root's own file, the newest of several; `undefined` where it is gone
 */
export function subagentsOf(
  folders: readonly string[],
  rootId: string,
  mainPath: string | undefined,
  roots: readonly string[] | undefined,
): readonly Rollout[] {
  const bornMs = v7Ms(rootId);
  const lastMs = mainPath === undefined ? Number.POSITIVE_INFINITY : (statsOf(mainPath)?.mtimeMs ?? 0);
  const from = bornMs === undefined ? "" : dayOf(bornMs - DAY_MS);
  const to = bornMs === undefined || lastMs === Number.POSITIVE_INFINITY ? "9999" : dayOf(lastMs + DAY_MS);
  const parents = new Map<string, string>();
  const found = new Map<string, Rollout>();
  for (const folder of folders) {
    for (const rollout of rolloutsIn(folder, from, to)) {
      const { path, threadId, bornMs: threadMs } = rollout;
      if (path === mainPath || threadId === rootId || found.has(threadId)) continue;
      if (bornMs !== undefined && threadMs !== undefined && (threadMs < bornMs || threadMs > lastMs + LATE_MS))
        continue;
      const head = readHead(path, roots);
      if (head === undefined || head.rootId === head.threadId) continue;
      parents.set(head.threadId, head.rootId);
      found.set(threadId, rollout);
    }
  }
  return [...found.values()].filter(({ threadId }) => topOf(parents, threadId) === rootId);
}

/** The thread at the top, as far as the parents are known: versions that do not tell the root tell the parent. */
export function topOf(parents: ReadonlyMap<string, string>, threadId: string, depth = 0): string {
  const parent = parents.get(threadId);
  return parent === undefined || depth > MAX_DEPTH ? threadId : topOf(parents, parent, depth + 1);
}

/** Who a file's thread is; `undefined` for what cannot be read or is none. Heads never change: each is read once. */
export function readHead(path: string, roots: readonly string[] | undefined): Head | undefined {
  const known = heads.get(path);
  if (known !== undefined) return known;
  const first = isPacked(path) ? firstUnpacked : firstBytes;
  const head = headOfBytes(first(path, HEAD_BYTES, roots).toString("utf8"));
  if (head !== undefined) {
    if (heads.size >= MAX_HEADS) heads.clear();
    heads.set(path, head);
  }
  return head;
}

// --- internal ---

const ID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}";
/** The thread, and which part of it. */
const NAME = new RegExp(`^rollout-.*?(${ID})(?:_(${ID}))?\\.jsonl$`);

const DAY_MS = 86_400_000;
/** A thread's file is made a moment after its id. */
const LATE_MS = 60_000;
const MAX_DEPTH = 32;
/** All ids stand in the first few hundred bytes, before the instructions. */
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

const rollouts = new FolderMemory((folder, names) =>
  rolloutNames(names).flatMap((name) => {
    const rollout = rolloutAt(join(folder, name), name);
    return rollout === undefined ? [] : [rollout];
  }),
);

const names = new FolderMemory((_, found) => found);

const numbersIn = (folder: string, digits: number): readonly string[] =>
  names.of(folder).filter((name) => name.length === digits && /^\d+$/.test(name));
