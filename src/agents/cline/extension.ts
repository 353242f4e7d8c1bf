// apps/vscode/src/core/storage/disk.ts of github.com/cline/cline: one folder per task below the editor's global storage
import { readdir } from "node:fs/promises";
import { join } from "node:path";

/** What is reported where the extension's task files would be needed. */
export const NOT_READ = "task files of Cline's editor extension (VS Code) are not read: use its hooks, without tokens";

/**
 * Task folders of the editor extension on this machine, which are not read.
 *
 * @returns path and number of tasks per editor; nothing for a folder that does not exist or cannot be listed
 */
export async function extensionTasks(home: string): Promise<readonly { path: string; count: number }[]> {
  const folders = USER_FOLDERS.map((folder) => join(home, folder, "User", "globalStorage", EXTENSION, "tasks"));
  const found = await Promise.all(
    folders.map(async (path) => ({
      path,
      count: (await readdir(path).catch(() => [])).filter((name) => /^[0-9]{10,}$/.test(name)).length,
    })),
  );
  return found.filter(({ count }) => count > 0);
}

// --- internal ---

const EXTENSION = "saoudrizwan.claude-dev";
const EDITORS = ["Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf"];

/** Where editors keep their data on Linux, macOS and Windows, and their servers for remote windows. */
const USER_FOLDERS = [
  ...[".config", "Library/Application Support", "AppData/Roaming"].flatMap((base) =>
    EDITORS.map((editor) => `${base}/${editor}`),
  ),
  ...[".vscode-server", ".vscode-server-insiders", ".cursor-server"].map((server) => `${server}/data`),
];
