import { lstatSync, statSync } from "node:fs";
import type { TranscriptFile } from "../../../model/agent.ts";
import { asTimeMs } from "../payload/json.ts";
import { firstBytes } from "./open.ts";

/**
 * The existing files among some paths. A file to which several paths link is returned once. Files are sorted by the first time in
 * their text, so the order does not depend on which one was copied or written last.
 *
 * @param paths of files that can all contain lines of one session
 */
export function existingFiles(
  paths: Iterable<string>,
  roots: readonly string[] | undefined,
): readonly [string, ...string[]] | readonly [] {
  const byFile = new Map<string, string>();
  for (const path of new Set(paths)) {
    const file = identityOf(path);
    if (file !== undefined && !byFile.has(file)) byFile.set(file, path);
  }
  const [first, ...others] = byFile.values();
  if (first === undefined) return [];
  if (others.length === 0) return [first];
  const dated = [first, ...others].map((path) => ({ path, startMs: firstTimeIn(path, roots) }));
  const [oldest, ...rest] = dated
    .sort((a, b) => a.startMs - b.startMs || (a.path < b.path ? -1 : 1))
    .map(({ path }) => path);
  return [oldest ?? first, ...rest];
}

/**
 * Parts of a session, without duplicates of the same file (links) and without files that do not exist. Files that cannot be read
 * are kept, so that the reader reports them.
 */
export function distinctParts(parts: readonly TranscriptFile[]): readonly TranscriptFile[] {
  const seen = new Set<string>();
  return parts.filter(({ path }) => {
    const file = identityOf(path) ?? (isThere(path) ? path : undefined);
    if (file === undefined || seen.has(file)) return false;
    seen.add(file);
    return true;
  });
}

// --- internal ---

const HEAD_BYTES = 16_384;

/** Device and inode of a regular file; `undefined` if there is none, or if it is not accessible. */
function identityOf(path: string): string | undefined {
  try {
    const stats = statSync(path, { throwIfNoEntry: false, bigint: true });
    return stats?.isFile() === true ? `${stats.dev}:${stats.ino}` : undefined;
  } catch {
    return undefined;
  }
}

/** Whether anything has this path, such as a folder, a FIFO or a dangling link. */
function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true;
  }
}

/** Infinite if its first bytes contain no time. */
function firstTimeIn(path: string, roots: readonly string[] | undefined): number {
  const head = firstBytes(path, HEAD_BYTES, roots).toString("utf8");
  const time = /"(?:timestamp|startTime)":\s*"([^"\\]{1,40})"/.exec(head)?.[1];
  return asTimeMs(time) ?? Number.POSITIVE_INFINITY;
}
