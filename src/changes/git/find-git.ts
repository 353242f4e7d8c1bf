import { accessSync, constants, existsSync, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { commandEnvironment } from "../../bridge/command-environment.ts";

/**
 * The absolute path of git. Folders of PATH that belong to a project are left out, so that a repository cannot bring its own git.
 *
 * @param projects folders of the repositories that are read
 * @returns `undefined` if git is not installed
 */
export function findGit(
  env: Readonly<Record<string, string | undefined>>,
  { projects, home }: { readonly projects: readonly string[]; readonly home: string },
  platform: NodeJS.Platform = process.platform,
): string | undefined {
  const path = commandEnvironment(env, { projects, home })["PATH"] ?? "";
  const name = platform === "win32" ? "git.exe" : "git";
  const found = path
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find(isProgram);
  if (platform !== "darwin" || found !== MAC_STUB) return found;
  // Without the developer tools this program only opens a window that offers to install them
  return MAC_GITS.find((real) => existsSync(real));
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
