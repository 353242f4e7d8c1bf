// internal/projects and internal/config of github.com/charmbracelet/crush, September 2026, read 2026-11-26
import { existsSync, readdirSync, statSync } from "node:fs";
import { basename, dirname, isAbsolute, join } from "node:path";
import { readSmallSync } from "#kit/open.ts";
import { asArray, asObject, asString, parsedObject } from "../shared/payload/json.ts";

export const DATABASE = "crush.db";

/** The folder with the database in a project, unless the option `data_directory` moves it. */
export const DATA_FOLDER = ".crush";

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Folders with Crush's databases: one per project. Crush lists them in a file; without it (older versions), those of projects
 * directly in the home folder are found. A hook names its project itself.
 */
export function dataFolders(home: string, env: Environment): readonly string[] {
  const listed = listedIn(projectsFile(home, env));
  const named = asString(env["CRUSH_PROJECT_DIR"]);
  return [
    ...new Set([
      ...(named !== undefined && isAbsolute(named) ? [join(named, DATA_FOLDER)] : []),
      ...(listed.length > 0 ? listed : foldersIn(home)),
      join(home, DATA_FOLDER),
    ]),
  ];
}

/** Databases in a folder that a user named: a data folder, a project, or a folder with projects. */
export function databasesBelow(folder: string): readonly string[] {
  const folders = [folder, join(folder, DATA_FOLDER), ...foldersIn(folder), ...listedIn(projectsFile(folder, {}))];
  return [...new Set(folders)].map((one) => join(one, DATABASE)).filter((path) => existsSync(path));
}

/** Whether there is a database in these folders. */
export const hasSessions = (home: string, env: Environment): boolean =>
  dataFolders(home, env).some((folder) => databasesBelow(folder).length > 0);

/** The project of a database, unless its folder was moved. */
export const projectOf = (path: string): string | undefined =>
  basename(dirname(path)) === DATA_FOLDER ? dirname(dirname(path)) : undefined;

// --- internal ---

const projectsFile = (home: string, env: Environment): string =>
  join(asString(env["XDG_DATA_HOME"]) ?? join(home, ".local", "share"), "crush", "projects.json");

/** The list has about 200 bytes per project. */
const MAX_LIST_BYTES = 4 << 20;

/** The data folders in Crush's list of projects. */
function listedIn(path: string): readonly string[] {
  if (!isSmallFile(path)) return [];
  return asArray(readProjects(path)).flatMap((project) => {
    const folder = asString(asObject(project)?.["data_dir"]);
    return folder === undefined || !isAbsolute(folder) || dirname(folder) === folder ? [] : [folder];
  });
}

function isSmallFile(path: string): boolean {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    return found?.isFile() === true && found.size <= MAX_LIST_BYTES;
  } catch {
    return false;
  }
}

function readProjects(path: string): unknown {
  try {
    return parsedObject(readSmallSync(path, MAX_LIST_BYTES, undefined) ?? "")?.["projects"];
  } catch {
    return undefined;
  }
}

/** Data folders of the projects in a folder. */
function foldersIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && !entry.name.startsWith("."))
      .map(({ name }) => join(folder, name, DATA_FOLDER))
      .filter((data) => existsSync(join(data, DATABASE)))
      .sort();
  } catch {
    return [];
  }
}
