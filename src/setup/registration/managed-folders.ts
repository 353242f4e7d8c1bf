import { existsSync } from "node:fs";
import { rmdir } from "node:fs/promises";
import { readFileIfAny, writeFileAtomic } from "#config/files.ts";
import type { ManagedMachine } from "#core/model/installer.ts";
import { pathsOf } from "./managed-places.ts";

/** In the hook program's folder: a JSON list of the folders that were made. */
export const FOLDERS_RECORD = "folders.json";

/** The folders that `enable --managed` makes for these files. */
export function missingFolders(paths: readonly string[], platform: NodeJS.Platform): readonly string[] {
  const missing = paths.flatMap((path) => foldersAbove(path, platform).filter((folder) => !existsSync(folder)));
  return [...new Set(missing)];
}

/** Records folders, before they are made, so that `disable --managed` can remove them. The hook program's folder must exist. */
export async function recordFolders(folders: readonly string[], machine: ManagedMachine): Promise<void> {
  const recorded = await recordedFolders(machine);
  const all = [...new Set([...recorded, ...folders])].sort();
  if (all.length > recorded.length) await write(all, machine);
}

/**
 * Removes the folders of these files that `enable --managed` has made, if nothing is in them. One that stays is the administrator's from
 * now on.
 *
 * @param used files of agents that are still enabled
 */
export async function removeMadeFolders(
  paths: readonly string[],
  used: readonly string[],
  machine: ManagedMachine,
): Promise<void> {
  const recorded = await recordedFolders(machine);
  const above = (files: readonly string[]) => new Set(files.flatMap((path) => foldersAbove(path, machine.platform)));
  const [unused, kept] = [above(paths), above(used)];
  const done = recorded.filter((folder) => unused.has(folder) && !kept.has(folder));
  if (done.length === 0) return;
  // The deepest first. `rmdir` refuses a folder with anything in it, and a link
  for (const folder of [...done].sort((a, b) => b.length - a.length)) await rmdir(folder).catch(() => {});
  await write(
    recorded.filter((folder) => !done.includes(folder)),
    machine,
  );
}

// --- internal ---

const recordPath = ({ platform, programFolder }: ManagedMachine): string =>
  pathsOf(platform).join(programFolder, FOLDERS_RECORD);

const write = (folders: readonly string[], machine: ManagedMachine): Promise<void> =>
  writeFileAtomic(recordPath(machine), `${JSON.stringify(folders, null, 2)}\n`, { mode: 0o644 });

/** None if the file is missing or damaged: then every folder stays. */
async function recordedFolders(machine: ManagedMachine): Promise<readonly string[]> {
  const text = (await readFileIfAny(recordPath(machine)))?.toString("utf8") ?? "[]";
  try {
    const folders: unknown = JSON.parse(text);
    return Array.isArray(folders) ? folders.filter((folder) => typeof folder === "string") : [];
  } catch {
    return [];
  }
}

/** From the file's own folder up to below the root. */
function foldersAbove(path: string, platform: NodeJS.Platform): readonly string[] {
  const { dirname } = pathsOf(platform);
  const folders: string[] = [];
  for (let folder = dirname(path); folder !== dirname(folder); folder = dirname(folder)) folders.push(folder);
  return folders;
}
