import { posix, win32 } from "node:path";
import type { FileWrite } from "#core/model/file-write.ts";
import type { TranscriptEntry } from "#core/model/transcript.ts";
import type { Redact } from "#core/privacy/redact.ts";
import { limitPath } from "#core/rules/limits.ts";
import { isAbsolutePath } from "#kit/file-uri.ts";

/** A call that changes more places than this writes generated files. */
export const MAX_WRITES = 500;

/** A relative path is one in the folder, whatever this machine's system. */
export function absolutePath(path: string, folder: string | undefined): string {
  if (folder === undefined || isAbsolutePath(path) || !isAbsolutePath(folder)) return path;
  return (folder.startsWith("/") ? posix : win32).join(folder, path);
}

/**
 * What a call wrote, as it is stored: without paths that cannot be stored, and without secrets in them. The files stay on this machine, so
 * their home folder remains.
 *
 * @param clean removes secrets from an absolute path
 * @returns `undefined` if nothing is left
 */
export function storedWrites(
  files: readonly FileWrite[],
  folder: string | undefined,
  clean: (path: string) => string,
): readonly FileWrite[] | undefined {
  const kept = files.slice(0, MAX_WRITES).flatMap((file): readonly FileWrite[] => {
    const given: string | undefined = file.path;
    const path = given === undefined ? undefined : limitPath(absolutePath(given, folder));
    if (path === undefined || path === "") return [];
    const cleaned = clean(path);
    return [cleaned === given ? file : { ...file, path: cleaned }];
  });
  return kept.length === 0 ? undefined : kept;
}

/** An entry with its written files as they are stored. @returns the same object if it has none */
export function withStoredWrites(
  entry: TranscriptEntry,
  folder: string | undefined,
  redactSecrets: Redact,
): TranscriptEntry {
  if ((entry.kind !== "tool_use" && entry.kind !== "tool_result") || entry.files === undefined) return entry;
  const { files, ...rest } = entry;
  const stored = storedWrites(files, folder, redactSecrets);
  return stored === undefined ? rest : { ...rest, files: stored };
}
