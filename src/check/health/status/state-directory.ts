import { constants, existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import type { Context } from "#config/context.ts";
import { isAccessible, readPart } from "./files.ts";
import type { Status } from "./shape.ts";

/** The first directory that the hook or a drain must write to and cannot; empty if there is none. */
export async function unwritableRemark({ places }: Context): Promise<readonly string[]> {
  const lost = "events are lost until it is writable; check its owner and mode";
  for (const dir of [places.stateDir, places.inboxDir, places.claimedDir]) {
    const existing = nearestExisting(dir);
    if (!(await isDirectory(existing))) return [`${existing} is not a directory: ${lost}`];
    if (!(await isAccessible(existing, constants.W_OK | constants.X_OK)))
      return [`cannot write to ${existing}: ${lost}`];
  }
  return [];
}

/** The log of background drains, and its last lines. */
export async function logOf(path: string): Promise<Status["log"]> {
  const tail = await readPart(path, (size) => Math.max(0, size - LOG_TAIL_BYTES), LOG_TAIL_BYTES);
  const lines = tail.split("\n").filter((line) => line !== "");
  return { path, exists: existsSync(path), last_lines: lines.slice(-LOG_LINES) };
}

/** The path itself, or the nearest directory above it that exists. */
export function nearestExisting(path: string): string {
  let at = path;
  while (!existsSync(at) && dirname(at) !== at) at = dirname(at);
  return at;
}

// --- internal ---

const isDirectory = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );

const LOG_TAIL_BYTES = 4096;
const LOG_LINES = 3;
