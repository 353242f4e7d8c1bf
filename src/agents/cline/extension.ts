// Folders and files as in github.com/cline/cline, apps/vscode/src/core/storage/disk.ts of August 2026, read 2026-11-26
import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { dataFolder, type Environment, isFileName } from "./places.ts";
import { taskFolders } from "./task-folders.ts";

// The editor extension (until 3.x) keeps one folder per task below the editor's global storage; JetBrains and the CLI 2.x keep
// the same files in Cline's data folder. Later versions of the extension keep sessions where the CLI does.

/**
 * What the user sees; `claude_messages.json` is its earlier name, which the extension replaces when a task is opened.
 */
const UI_FILES = ["ui_messages.json", "claude_messages.json"] as const;

/** What is sent to the model. */
export const API_FILE = "api_conversation_history.json";
export const METADATA_FILE = "task_metadata.json";
/** Written by later versions of the extension that continue a task. */
export const WRITEBACK_FILE = "sdk_writeback.json";

/** Folders with one folder per task, on Linux, macOS and Windows; they may not exist. */
export const taskRoots = (env: Environment, home: string): readonly string[] => [
  join(dataFolder(env, home), "tasks"),
  ...taskFolders().map((folder) => join(home, folder)),
];

/** The same folders, relative to a folder that a user named. */
export const TASK_LAYOUTS: readonly string[] = [
  "tasks",
  join("data", "tasks"),
  join(".cline", "data", "tasks"),
  join("saoudrizwan.claude-dev", "tasks"),
];

/** The file with a task's figures; `undefined` if the folder has none. */
export function uiFileIn(folder: string): string | undefined {
  return UI_FILES.map((name) => join(folder, name)).find((path) => existsSync(path));
}

/** The files of a task, in all folders. */
export const uiFilesOf = (folders: readonly string[], taskId: string): readonly string[] =>
  isFileName(taskId) ? folders.flatMap((folder) => uiFileIn(join(folder, taskId)) ?? []) : [];

export const isUiFile = (path: string): boolean => UI_FILES.some((name) => name === basename(path));

/** Tasks are named after the time at which they began. */
export const isTaskId = (name: string): boolean => /^\d{13}$/.test(name);
