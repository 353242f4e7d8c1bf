import { lstat, rename, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import { retryOnce } from "#kit/errors.ts";
import { step } from "#kit/fault-points.ts";
import { type InboxDirs, REASON_SUFFIX } from "./inbox-dirs.ts";

/**
 * Quarantines a claimed file, with the reason beside it (`<name>.reason`, JSON). Nothing is deleted.
 *
 * @returns its new path
 * @throws what the file system throws if it cannot be moved; it is still claimed then. If the reason cannot be written, the file
 *         is moved without one.
 */
export async function quarantine(
  dirs: InboxDirs,
  file: { readonly path: string; readonly facts?: IntakeFacts },
  reason: string,
  atMs: number,
): Promise<string> {
  return setAside(dirs, file.path, basename(file.path), { reason, facts: file.facts, atMs });
}

/** Why a file was quarantined, for the file beside it. */
interface Reason {
  readonly reason: string;
  readonly facts?: IntakeFacts | undefined;
  readonly atMs: number;
}

/**
 * Moves a file into the quarantine under a given name. Like `quarantine`, for files that are not claimed.
 *
 * @returns its new path
 */
export async function setAside(
  dirs: InboxDirs,
  path: string,
  name: string,
  { reason, facts, atMs }: Reason,
): Promise<string> {
  const to = join(dirs.quarantineDir, name);
  const text = { reason, source: facts?.source, event: facts?.event, at: new Date(atMs).toISOString() };
  // The reason first, so that no file is there without one
  const note = `${to}${REASON_SUFFIX}`;
  await retryOnce(() =>
    step("inbox.reason", () => writeFile(note, `${JSON.stringify(text)}\n`, { mode: 0o600 })),
  ).catch(() => {});
  await retryOnce(() => step("inbox.quarantine", () => renameFile(path, to)));
  return to;
}

/** Renames a file. An error is ignored if the file has the new name anyway, as it can happen over a network. */
export async function renameFile(from: string, to: string): Promise<void> {
  await rename(from, to).catch(async (error: unknown) => {
    if (codeOf(error) !== "ENOENT" || (await lstat(to).catch(() => undefined)) === undefined) throw error;
  });
}

// --- internal ---

const codeOf = (error: unknown): unknown => (error instanceof Error && "code" in error ? error.code : undefined);
