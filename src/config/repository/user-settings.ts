import { readdir } from "node:fs/promises";
import { userInfo } from "node:os";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import { readSmall } from "#kit/open.ts";
import { type GitSetting, parseGitConfig } from "./git-config.ts";

/**
 * The git settings of the machine and of its user, in git's order: a later one overrides an earlier one. Never from the environment,
 * which agents set. Included files are followed; of the conditions of `includeIf` only `gitdir`.
 *
 * @param gitDir for the conditions; without it, no condition is met
 * @returns without the settings of a file that git would refuse
 * @throws never
 */
export async function userGitSettings(home: string, gitDir?: string): Promise<readonly GitSetting[]> {
  const files = [systemGitConfig(), join(home, ".config", "git", "config"), join(home, ".gitconfig")];
  return (await Promise.all(files.map((path) => settingsIn(path, { home, gitDir }, 0)))).flat();
}

/**
 * Git's settings for the whole machine. On Windows those of Git for Windows at its usual place: only administrators can write there, while
 * every user could create `C:\etc`. The place is fixed, because a variable could come from a repository.
 */
export const systemGitConfig = (platform: NodeJS.Platform = process.platform): string =>
  platform === "win32" ? "C:\\Program Files\\Git\\etc\\gitconfig" : "/etc/gitconfig";

/** The `HostName` of an ssh host in the user's settings; `undefined` if they name none. @throws never */
export async function sshHostName(host: string, home: string): Promise<string | undefined> {
  let isMeant = true;
  for (const line of await sshLines(join(home, ".ssh", "config"), home, 0)) {
    const [, keyword = "", rest = ""] = /^\s*([A-Za-z]+)(?:\s*=\s*|\s+)(.*?)\s*$/.exec(line) ?? [];
    const words = (rest.match(/"[^"]*"|[^\s"]+/g) ?? []).map((word) => word.replaceAll('"', ""));
    // Conditions of `Match` can run programs, so they are not evaluated
    if (/^match$/i.test(keyword)) isMeant = words.length === 1 && words[0]?.toLowerCase() === "all";
    else if (/^host$/i.test(keyword)) isMeant = isHostIn(words, host);
    // As in ssh, the first value applies
    else if (isMeant && /^hostname$/i.test(keyword) && words[0] !== undefined) return words[0].replaceAll("%h", host);
  }
  return undefined;
}

/**
 * The user of this machine: `user.email` from the user's own git settings, and the operating system's user name. Not from a
 * repository, whose files others can write, nor from the environment, which the agent sets.
 *
 * @throws never
 */
export async function currentUser(home: string) {
  // As in git, the last value applies
  const email = (await userGitSettings(home)).findLast(
    ({ section, subsection, key, value }) =>
      section === "user" && subsection === undefined && key === "email" && value !== "",
  )?.value;
  const name = systemName();
  return {
    ...(email !== undefined && email.length <= MAX_CHARACTERS && { email }),
    ...(name !== undefined && { name }),
  };
}

// --- internal ---

const MAX_BYTES = 1 << 20;
/** As in git and ssh, so that files that include each other are not read forever. */
const MAX_DEPTH = 10;
const MAX_FILES = 100;

interface Where {
  readonly home: string;
  readonly gitDir: string | undefined;
}

async function settingsIn(path: string, where: Where, depth: number): Promise<readonly GitSetting[]> {
  const settings: GitSetting[] = [];
  for (const setting of parseGitConfig(await textOf(path)) ?? []) {
    const isIncluded = setting.key === "path" && isMet(setting, path, where);
    if (!isIncluded) settings.push(setting);
    else if (depth < MAX_DEPTH) {
      const file = pathOf(setting.value, where.home);
      settings.push(...(await settingsIn(resolve(dirname(path), file), where, depth + 1)));
    }
  }
  return settings;
}

function isMet({ section, subsection }: GitSetting, path: string, { home, gitDir }: Where): boolean {
  if (section === "include") return true;
  const [, ignoresCase, written] = /^gitdir(\/i)?:(.+)$/s.exec(subsection ?? "") ?? [];
  if (section !== "includeif" || written === undefined || gitDir === undefined) return false;
  const from = written.startsWith("./") ? join(dirname(path), written.slice(2)) : pathOf(written, home);
  const anywhere = isAbsolute(from) ? from : `**/${from}`;
  const pattern = patternOf(written.endsWith("/") ? `${anywhere.replace(/\/$/, "")}/**` : anywhere);
  return new RegExp(`^${pattern}$`, ignoresCase === undefined ? "s" : "si").test(gitDir.replaceAll("\\", "/"));
}

const pathOf = (path: string, home: string): string => (path.startsWith("~/") ? join(home, path.slice(2)) : path);

/** A pattern of paths as a regular expression: `**` any folders, `*` and `?` within one. */
const patternOf = (glob: string): string =>
  glob.replaceAll(/\*\*\/|\/\*\*|\*|\?|[^*?\w/]/g, (token) => {
    if (token === "**/") return "(?:[^/]+/)*";
    if (token === "/**") return "/.+";
    if (token === "*") return "[^/]*";
    return token === "?" ? "[^/]" : `\\${token}`;
  });

async function sshLines(path: string, home: string, depth: number): Promise<readonly string[]> {
  const lines: string[] = [];
  for (const line of (await textOf(path)).split(/\r?\n/)) {
    const included = /^\s*include(?:\s*=\s*|\s+)(.+?)\s*$/i.exec(line)?.[1];
    if (included === undefined) lines.push(line);
    else if (depth < MAX_DEPTH) {
      for (const file of await filesOf(pathOf(included.replaceAll('"', ""), home), home)) {
        if (lines.length < MAX_BYTES) lines.push(...(await sshLines(file, home, depth + 1)));
      }
    }
  }
  return lines;
}

/** The files of a pattern in its last part, relative to `~/.ssh`. */
async function filesOf(glob: string, home: string): Promise<readonly string[]> {
  const path = resolve(home, ".ssh", glob);
  if (!/[*?]/.test(glob)) return [path];
  const pattern = new RegExp(`^${patternOf(basename(path))}$`);
  const names = await readdir(dirname(path)).catch(() => []);
  const found = names.filter((name) => pattern.test(name) && (!name.startsWith(".") || basename(path).startsWith(".")));
  return found
    .sort()
    .slice(0, MAX_FILES)
    .map((name) => join(dirname(path), name));
}

/** At least one pattern matches, and none of those with `!`. */
function isHostIn(patterns: readonly string[], host: string): boolean {
  const fits = (glob: string): boolean => new RegExp(`^${patternOf(glob)}$`, "i").test(host);
  if (patterns.some((pattern) => pattern.startsWith("!") && fits(pattern.slice(1)))) return false;
  return patterns.some((pattern) => !pattern.startsWith("!") && fits(pattern));
}

/** `""` if there is no such file or it must not be read. */
async function textOf(path: string): Promise<string> {
  try {
    return (await readSmall(path, MAX_BYTES, undefined))?.bytes.toString("utf8") ?? "";
  } catch {
    return "";
  }
}

/** The longest address that SMTP allows. */
const MAX_CHARACTERS = 254;

function systemName(): string | undefined {
  try {
    return userInfo().username;
  } catch {
    // In a container the user may have no name
    return undefined;
  }
}
