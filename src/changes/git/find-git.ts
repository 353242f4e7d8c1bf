import { accessSync, constants, existsSync, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { programPath } from "#config/programs.ts";

/** Where programs are looked for. */
interface Search {
  /** Folders of the repositories that are read. */
  readonly projects: readonly string[];
  readonly home: string;
}

/** The absolute path of git, as `findProgram` finds it. @returns `undefined` if git is not installed */
export function findGit(
  env: Readonly<Record<string, string | undefined>>,
  search: Search,
  platform: NodeJS.Platform = process.platform,
): string | undefined {
  const found = findProgram("git", env, search, platform);
  if (platform !== "darwin" || found !== MAC_STUB) return found;
  // Without the developer tools this program only opens a window that offers to install them
  return MAC_GITS.find((real) => existsSync(real));
}

/**
 * The absolute path of a program. Folders of PATH that belong to a project are left out, so that a repository cannot bring its own.
 *
 * @returns `undefined` if it is not installed
 */
export function findProgram(
  name: string,
  env: Readonly<Record<string, string | undefined>>,
  search: Search,
  platform: NodeJS.Platform,
): string | undefined {
  const path = programPath(env, search);
  const file = platform === "win32" ? `${name}.exe` : name;
  return path
    .split(delimiter)
    .map((folder) => join(folder, file))
    .find(isProgram);
}

// --- internal ---

const MAC_STUB = "/usr/bin/git";
const MAC_GITS = [
  "/Library/Developer/CommandLineTools/usr/bin/git",
  "/Applications/Xcode.app/Contents/Developer/usr/bin/git",
];

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
