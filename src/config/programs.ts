import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { delimiter, dirname, isAbsolute, relative, sep } from "node:path";
import { systemProgram } from "#kit/system-program.ts";
import { foldersUpToRoot } from "./project.ts";

/** Whether a path leads to a file that this user can start. */
export function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

type Variables = Readonly<Record<string, string | undefined>>;

/** Whose folders may not add programs to PATH. */
export interface ProgramSearch {
  /** Folders of the file, of the session and of the agent. */
  readonly projects: readonly string[];
  readonly home: string;
}

/**
 * PATH without relative folders, folders of projects and those of `npm run`, so that a repository does not replace programs.
 *
 * @returns the system's folders if nothing is left
 */
export function programPath(env: Variables, { projects, home }: ProgramSearch): string {
  const roots = projects.flatMap((folder) => rootOf(folder, realOf(home)));
  const path = (env["PATH"] ?? env["Path"] ?? "").split(delimiter).filter((one) => {
    if (!isAbsolute(one)) return false;
    const real = realOf(one);
    return !PACKAGES.test(one) && !PACKAGES.test(real) && !roots.some((root) => isIn(one, root) || isIn(real, root));
  });
  return path.length > 0 ? path.join(delimiter) : defaultPath(env);
}

// --- internal ---

const defaultPath = (env: Variables): string =>
  process.platform === "win32" ? dirname(systemProgram("cmd.exe", env)) : "/usr/local/bin:/usr/bin:/bin";

/** `npm run` puts these folders, the project's and those of all folders above it, first into PATH. */
const PACKAGES = /[/\\]node_modules[/\\]\.bin[/\\]?$/;

/** The folders whose programs are left out: the folder, and its repository unless the user's home with own programs is in it. */
function rootOf(folder: string, home: string): readonly string[] {
  const root = foldersUpToRoot(folder).at(-1);
  if (root === undefined) return [];
  if (!isIn(home, root)) return [root, folder];
  return isIn(home, realOf(folder)) ? [] : [realOf(folder), folder];
}

function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function isIn(path: string, folder: string): boolean {
  const rest = relative(folder, path);
  return rest === "" || (rest !== ".." && !rest.startsWith(`..${sep}`) && !isAbsolute(rest));
}
