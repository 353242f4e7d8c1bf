import { join } from "node:path";
import type { LocatedSession, LocateQuery } from "#core/model/transcript-reader.ts";
import { entriesIn, foldersBelow, located, reportUnreadable } from "../shared/transcript/past.ts";
import { FOLDERS, nameOf, type Rollout, readHead, rolloutAt, rolloutNames, topmostAncestor } from "./rollouts.ts";

/**
 * Finds main threads in the order of the times in their file names, then the roots of subagents whose root file is missing. Only
 * the first line shows whether a thread is a main thread. `files` needs it too, so each first line is read only once.
 */
export async function* locate(query: LocateQuery): AsyncGenerator<LocatedSession> {
  /** All files of each thread, oldest first: the first one has its start time. */
  const threads = new Map<string, readonly [Rollout, ...Rollout[]]>();
  for (const folder of await foldersBelow(query, LAYOUTS)) {
    for (const rollout of await rolloutsBelow(folder, query)) {
      const others = threads.get(rollout.threadId);
      threads.set(rollout.threadId, others === undefined ? [rollout] : inOrder(others, rollout));
    }
  }
  const mains = new Set<string>();
  const parents = new Map<string, string>();
  const subagents: Rollout[] = [];
  for (const rollouts of [...threads.values()].sort((a, b) => byName(a[0], b[0]))) {
    // One of several files can be a stub without a first line
    const rollout = rollouts.findLast(({ path }) => readHead(path, query.roots) !== undefined) ?? rollouts[0];
    const head = readHead(rollout.path, query.roots);
    if (head === undefined) await reportUnreadable(rollout.path, query, NO_HEAD);
    else if (head.rootId !== head.threadId) {
      parents.set(head.threadId, head.rootId);
      subagents.push(rollout);
    } else if (!mains.has(head.threadId)) {
      mains.add(head.threadId);
      const paths = rollouts.map(({ path }) => path);
      yield located({ sessionId: head.threadId, path: rollout.path, mains: paths }, query);
    }
  }
  for (const { path, threadId } of subagents) {
    const sessionId = topmostAncestor(parents, threadId);
    if (mains.has(sessionId)) continue;
    mains.add(sessionId);
    yield located({ sessionId, path }, query);
  }
}

// --- internal ---

/** Paths of the sessions' folders, relative to a root that contains them. */
const LAYOUTS = ["", ".codex"].flatMap((home) => FOLDERS.map((folder) => join(home, folder)));

const NO_HEAD =
  "its first line has no thread id: not a session, or written by an early version, which recorded no tokens";
const DIGITS = [4, 2, 2];

function inOrder([first, ...rest]: readonly [Rollout, ...Rollout[]], one: Rollout): readonly [Rollout, ...Rollout[]] {
  const [oldest = first, ...others] = [first, ...rest, one].sort(byName);
  return [oldest, ...others];
}

/** By file name, which begins with the time. */
function byName({ path: a }: Rollout, { path: b }: Rollout): number {
  const [one, other] = [nameOf(a), nameOf(b)];
  return one === other ? 0 : one < other ? -1 : 1;
}

/** Files in the folder itself, such as archived ones, and in its date folders. */
async function rolloutsBelow(folder: string, query: LocateQuery, depth = 0): Promise<readonly Rollout[]> {
  const found: Rollout[] = [];
  let old = 0;
  const entries = await entriesIn(folder, query);
  const names = new Set(rolloutNames(entries.map(({ name }) => name)));
  for (const { name, path, isFolder } of entries) {
    if (isFolder) {
      const isNumber = name.length === DIGITS[depth] && /^\d+$/.test(name);
      if (isNumber) found.push(...(await rolloutsBelow(path, query, depth + 1)));
      continue;
    }
    const rollout = names.has(name) ? rolloutAt(path, name) : undefined;
    if (rollout !== undefined) found.push(rollout);
    else if (/^rollout-.*\.json$/.test(name)) old++;
  }
  if (old > 0)
    query.onProblem(
      folder,
      new Error(`${sessions(old)} of a version before Codex was written in Rust, which recorded no tokens`),
    );
  return found;
}

const sessions = (count: number): string => (count === 1 ? "1 session is" : `${count} sessions are`);
