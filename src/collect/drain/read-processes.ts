import { readdirSync, statSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { readOwn } from "#kit/own-file.ts";
import { noteAncestors } from "#store/ancestors.ts";
import { MAX_PROCESS_FILE_BYTES, PROCESS_FOLDER, parseProcesses } from "../intake/hook-process-file.ts";
import type { Drain } from "./context.ts";

/**
 * The processes above agents, as hooks wrote them down → store, in one commit. What cannot be read is left out: a session's parent is then
 * unknown.
 */
export function readProcesses({ db, places, now }: Pick<Drain, "db" | "places" | "now">): void {
  const folder = join(places.stateDir, PROCESS_FOLDER);
  const read = namesIn(folder).flatMap((name) => {
    const path = join(folder, name);
    const file = readFile(path, now());
    return file === undefined ? [] : [{ path, ...file }];
  });
  if (read.length === 0) return;
  db.transaction(() => {
    for (const { known } of read) if (known !== undefined) noteAncestors(db, known, known.ancestors);
  }, "commit.note");
  for (const { path } of read) remove(path);
}

// --- internal ---

/** A hook writes its line within milliseconds. */
const WRITTEN_AFTER_MS = 60_000;

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** `undefined`: a hook is still writing it, or it cannot be read now; without `known` it is of no use. */
function readFile(path: string, nowMs: number): { readonly known?: ReturnType<typeof parseProcesses> } | undefined {
  try {
    const { size, mtimeMs } = statSync(path);
    const known = size > MAX_PROCESS_FILE_BYTES ? undefined : parseProcesses(readOwn(path).toString("latin1"), mtimeMs);
    return known === undefined && Math.abs(nowMs - mtimeMs) < WRITTEN_AFTER_MS ? undefined : { known };
  } catch {
    return undefined;
  }
}

function remove(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // The next drain stores the same again
  }
}
