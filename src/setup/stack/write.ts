import { rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { removeFile, writeFileAtomic } from "#config/files.ts";
import type { StackPlan } from "./files.ts";
import { recordPathOf } from "./record.ts";

/** Writes and removes the files of a plan. @throws FileError */
export async function writeStack({ folder, writes, removes }: StackPlan): Promise<void> {
  for (const { path, content } of writes) {
    const target = join(folder, path);
    // Containers run as other users and must be able to read them
    await writeFileAtomic(target, content, { mode: 0o644, forceMode: true, dirMode: 0o755 });
  }
  for (const path of removes) await removeFile(join(folder, path));
}

/** Removes files of the stack, its record, and folders that are empty then. @throws FileError */
export async function removeStack(folder: string, paths: readonly string[]): Promise<void> {
  for (const path of paths) await removeFile(join(folder, path));
  await removeFile(recordPathOf(folder));
  await removeEmptyFolders(folder, paths);
}

// --- internal ---

/** Folders of removed files, the deepest first, as long as they are empty. */
async function removeEmptyFolders(folder: string, removed: readonly string[]): Promise<void> {
  const folders = new Set<string>([folder]);
  for (const path of removed) {
    for (let at = dirname(join(folder, path)); at.startsWith(folder) && at !== folder; at = dirname(at))
      folders.add(at);
  }
  for (const path of [...folders].sort((a, b) => b.length - a.length)) await rmdir(path).catch(() => {});
}
