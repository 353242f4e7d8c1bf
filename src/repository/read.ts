import { basename, dirname, isAbsolute } from "node:path";
import { limitName } from "../model/limits.ts";
import type { Repository } from "../model/session.ts";
import { findGit, readGitFile, readHead } from "./git-files.ts";
import { nameOf, withoutCredentials } from "./remote.ts";

/**
 * Reads a folder's repository, branch and commit from the files of `.git`, without starting git or writing anything. Others can
 * write these files, so only regular files inside the git directory are read, and names are limited.
 *
 * @returns `undefined` if the folder does not exist or is in no repository
 * @throws never
 */
export async function readRepository(folder: string): Promise<Repository | undefined> {
  if (!isAbsolute(folder)) return undefined;
  const found = await findGit(folder);
  if (found === undefined) return undefined;
  const { gitDir, commonDir, workTree } = found;
  const url = remoteUrl((await readGitFile(commonDir, "config")) ?? "");
  const { branch, revision } = await readHead(found);
  const shown = url === undefined ? undefined : withoutCredentials(url);
  return {
    name: limitName(nameOf(shown ?? url) ?? (await folderName(commonDir, gitDir, workTree))),
    ...(shown !== undefined && { url: shown }),
    ...(branch !== undefined && { branch }),
    ...(revision !== undefined && { revision }),
  };
}

// --- internal ---

/** The name of a repository without a remote. All its worktrees get the name of the main folder or of the bare repository. */
async function folderName(commonDir: string, gitDir: string, workTree: string): Promise<string> {
  if (commonDir === gitDir || (await readGitFile(commonDir, "HEAD")) === undefined) return basename(workTree);
  const name = basename(commonDir);
  return name === ".git" ? basename(dirname(commonDir)) : name.replace(/\.git$/, "");
}

const MAX_LINE_CHARACTERS = 4_096;

/** The URL of the remote `origin`, otherwise of the first remote. */
function remoteUrl(config: string): string | undefined {
  const remotes = new Map<string, string>();
  let section: string | undefined;
  for (const line of config.split(/\r?\n/)) {
    if (line.length > MAX_LINE_CHARACTERS) continue;
    const text = line.trim();
    if (text.startsWith("[")) section = /^\[remote "([^"]+)"\]/.exec(text)?.[1];
    const [, value] = /^(?:\[[^\]]*\]\s*)?url\s*=(.+)$/.exec(text) ?? [];
    const url = value?.trim();
    if (section !== undefined && url !== undefined && !remotes.has(section)) remotes.set(section, url);
  }
  return remotes.get("origin") ?? [...remotes.values()][0];
}
