// crates/goose/src/config/paths.rs of github.com/block/goose, read 2026-11-26; tried on Linux
import { existsSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { asString } from "../shared/payload/json.ts";

export const DATABASE = "sessions.db";

/** The folders of databases: in `GOOSE_PATH_ROOT`, in XDG's data folder, and on Windows. */
export function sessionFolders(home: string, env: Readonly<Record<string, string | undefined>>): readonly string[] {
  const data = asString(env["XDG_DATA_HOME"]);
  const moved = asString(env["GOOSE_PATH_ROOT"]);
  return [
    ...(moved !== undefined && isAbsolute(moved) ? [join(moved, "data", "sessions")] : []),
    join(data !== undefined && isAbsolute(data) ? data : join(home, ".local", "share"), "goose", "sessions"),
    join(home, "AppData", "Roaming", "Block", "goose", "data", "sessions"),
  ];
}

/** Paths of the databases folder, relative to a root that contains it. */
export const LAYOUTS: readonly string[] = [
  "sessions",
  join("goose", "sessions"),
  join("data", "sessions"),
  join(".local", "share", "goose", "sessions"),
];

export const databasesIn = (folders: readonly string[]): readonly string[] =>
  [...new Set(folders.map((folder) => join(folder, DATABASE)))].filter((path) => existsSync(path));
