import { basename, isAbsolute, relative } from "node:path";
import type { Repository } from "#core/model/session.ts";
import { limitName, MAX_NAME_CHARACTERS } from "#core/rules/limits.ts";
import { type GitSetting, parseGitConfig } from "./git-config.ts";
import { findGit, type GitPlace, readGitFile, readHead } from "./git-files.ts";
import { sshHostName, userGitSettings } from "./user-settings.ts";

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

/**
 * A remote's address without user, password, query or fragment.
 *
 * @returns `undefined` for addresses that are local paths, are too long, or may contain a user or password where we cannot
 *   remove it
 * @throws never
 */
export function withoutCredentials(url: string): string | undefined {
  if (url.length > MAX_URL_CHARACTERS) return undefined;
  return url.includes("://") ? cleanUrl(url) : cleanScpAddress(url);
}

/**
 * The last part of an address or path, without `.git`.
 *
 * @returns `undefined` if there is none, or if it may contain a user or password
 * @throws never
 */
export function nameOf(url: string | undefined): string | undefined {
  const end = url?.slice(-MAX_URL_CHARACTERS).replace(/[?#].*$/s, "");
  const last = end
    ?.split(/[/:\\]/)
    .findLast((part) => part !== "")
    ?.replace(/\.git$/, "");
  return last === undefined || last === "" || last.includes("@") || last.length > MAX_NAME_CHARACTERS
    ? undefined
    : last;
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

const MAX_READ_CHARACTERS = 4_096;

/** The address of the remote `origin`, otherwise of the first remote, as git would use it. */
async function remoteUrl({ commonDir, gitDir }: GitPlace, home: string): Promise<string | undefined> {
  const own = parseGitConfig((await readGitFile(commonDir, "config")) ?? "") ?? [];
  const urls = own.filter(
    ({ section, key, value }) =>
      section === "remote" && key === "url" && value !== "" && value.length <= MAX_READ_CHARACTERS,
  );
  const url = (urls.find(({ subsection }) => subsection === "origin") ?? urls[0])?.value;
  if (url === undefined) return undefined;
  return realAddress(url, [...(await userGitSettings(home, gitDir)), ...own], home);
}

/**
 * The address that git and ssh use for a remote: people name the same repository by `url.<base>.insteadOf` and by a `Host` of their ssh
 * settings.
 *
 * @param settings of the machine, the user and the repository
 * @throws never
 */
async function realAddress(url: string, settings: readonly GitSetting[], home: string): Promise<string> {
  const address = rewritten(url, settings);
  const [, start, host, end] = SSH.exec(address) ?? SCP.exec(address) ?? [];
  if (start === undefined || host === undefined || end === undefined) return address;
  const named = (await sshHostName(host, home)) ?? host;
  // The IP address of a proxy says less than the name that everybody uses
  const real = /^[\d.]+$|:/.test(named) ? host : named;
  const usual = BEHIND_443[real.toLowerCase()];
  if (usual === undefined) return `${start}${real}${end}`;
  return `${start}${usual}${end.replace(/^:443(?=\/)/, "")}`;
}

const SSH = /^((?:git\+)?ssh:\/\/(?:[^/@]*@)?)([^/:@]+)((?::\d+)?\/.*)$/s;
/** `[user@]host:path` */
const SCP = /^((?:[^/:@]+@)?)([A-Za-z0-9._-]{2,}|[^/:@]{2,})(:(?!\/\/|:).+)$/s;

/** Other names of the same servers, for networks that allow only port 443. */
const BEHIND_443: Readonly<Record<string, string>> = {
  "ssh.github.com": "github.com",
  "altssh.gitlab.com": "gitlab.com",
  "altssh.bitbucket.org": "bitbucket.org",
};

/** As in git, the longest beginning that fits applies; of equal ones the first. */
function rewritten(url: string, settings: readonly GitSetting[]): string {
  const fitting = settings
    .filter(({ section, key, value }) => section === "url" && key === "insteadof" && url.startsWith(value))
    .reduce<GitSetting | undefined>((a, b) => (a !== undefined && a.value.length >= b.value.length ? a : b), undefined);
  return fitting?.subsection === undefined ? url : fitting.subsection + url.slice(fitting.value.length);
}

const MAX_URL_CHARACTERS = 2_048;

function cleanUrl(url: string): string | undefined {
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch {
    return undefined;
  }
  if (!/^(https?|ssh|git):$/.test(parsed.protocol) || hasUser(parsed.pathname)) return undefined;
  return `${parsed.protocol}//${parsed.host}${parsed.pathname}`;
}

/** `[user@]host:path`, and `user:password@host/path` without a scheme. */
function cleanScpAddress(url: string): string | undefined {
  const [authority = ""] = url.split("/", 1);
  const rest = url.slice(authority.lastIndexOf("@") + 1);
  // `name::address` runs the git remote helper of that name; with two colons we cannot know where a password ends
  const [, host, path] = /^([A-Za-z0-9.-]+):(?!\/\/|:)([^:].*)$/s.exec(rest) ?? [];
  if (host !== undefined && path !== undefined) {
    const isUsual = host.length > 1 && !path.split("/", 1)[0]?.includes(":") && !hasUser(path);
    return isUsual ? `ssh://${host}/${path.replace(/^\/{1,9}/, "")}` : undefined;
  }
  const hasPassword = /^[^@]*:[^@]*@/.test(authority);
  return hasPassword && /^[A-Za-z0-9.-]+\/./.test(rest) && !hasUser(rest) ? `ssh://${rest}` : undefined;
}

/**
 * Whether a path may contain credentials: a password with a slash looks like a part of the path. A scope (`/@acme/shop`) is
 * allowed.
 */
const hasUser = (path: string): boolean => /[^/]@/.test(path) || /%40/.test(path);
