import { basename, isAbsolute, relative } from "node:path";
import type { Repository } from "#core/model/session.ts";
import { limitName } from "#core/rules/limits.ts";
import { parseGitConfig } from "./git-config.ts";
import { findGit, type GitPlace, readGitFile, readHead } from "./git-files.ts";
import { realAddress } from "./real-address.ts";
import { nameOf, withoutCredentials } from "./remote.ts";
import { userGitSettings } from "./user-settings.ts";

/**
 * Reads a folder's repository, branch and commit from the files of `.git`, without starting git or writing anything. Others can
 * write these files, so only regular files inside the git directory are read, and names are limited.
 *
 * @param home whose settings name other addresses for remotes; a repository of it contains only what git knows of it
 * @returns `undefined` if the folder does not exist or is in no repository
 * @throws never
 */
export async function readRepository(folder: string, home: string): Promise<Repository | undefined> {
  if (!isAbsolute(folder)) return undefined;
  const found = await findGit(folder);
  if (found === undefined || !(await isMeant(found, folder, home))) return undefined;
  const url = await remoteUrl(found, home);
  const { branch, revision } = await readHead(found);
  const shown = url === undefined ? undefined : withoutCredentials(url);
  return {
    name: limitName(nameOf(shown ?? url) ?? (await folderName(found, home))),
    ...(shown !== undefined && { url: shown }),
    ...(branch !== undefined && { branch }),
    ...(revision !== undefined && { revision }),
  };
}

// --- internal ---

/**
 * False for a folder below a home that is a repository of settings ("dotfiles"), unless git knows a file in the folder: the folder is
 * somebody's project, which has no repository.
 */
async function isMeant({ gitDir, workTree }: GitPlace, folder: string, home: string): Promise<boolean> {
  if (workTree !== home || folder === home) return true;
  // Paths are written out in all versions of the index except 4, which is rare
  const index = await readGitFile(gitDir, "index");
  return index?.includes(`${relative(home, folder).replaceAll("\\", "/")}/`) === true;
}

/**
 * The name of a repository without a remote. All its worktrees get the name of the main folder or of the bare repository. The name of a
 * home folder is not used, because it is often the user's.
 */
async function folderName({ commonDir, gitDir, workTree }: GitPlace, home: string): Promise<string> {
  const isAlone = commonDir === gitDir || (await readGitFile(commonDir, "HEAD")) === undefined;
  const main = isAlone ? workTree : (MAIN.exec(commonDir)?.[1] ?? commonDir);
  return main === home ? "~" : basename(main).replace(isAlone ? "" : /\.git$/, "");
}

/** The folder of a repository whose files are in `.git`, in `.bare` beside its worktrees, or in those of jj. */
const MAIN = /^(.+?)[\\/](?:\.git|\.bare|\.jj[\\/]repo[\\/]store[\\/]git)$/;

const MAX_URL_CHARACTERS = 4_096;

/** The address of the remote `origin`, otherwise of the first remote, as git would use it. */
async function remoteUrl({ commonDir, gitDir }: GitPlace, home: string): Promise<string | undefined> {
  const own = parseGitConfig((await readGitFile(commonDir, "config")) ?? "") ?? [];
  const urls = own.filter(
    ({ section, key, value }) =>
      section === "remote" && key === "url" && value !== "" && value.length <= MAX_URL_CHARACTERS,
  );
  const url = (urls.find(({ subsection }) => subsection === "origin") ?? urls[0])?.value;
  if (url === undefined) return undefined;
  return realAddress(url, [...(await userGitSettings(home, gitDir)), ...own], home);
}
