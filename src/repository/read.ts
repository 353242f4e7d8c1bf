import { open, stat } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import type { Repository } from "../model/session.ts";

/**
 * Reads a folder's repository, branch and commit from the files of `.git`, without starting git or writing anything.
 *
 * @returns `undefined` if the folder is gone or in no repository
 */
export async function readRepository(folder: string): Promise<Repository | undefined> {
  if (!isAbsolute(folder)) return undefined;
  const found = await findGit(folder);
  if (found === undefined) return undefined;
  const { gitDir, workTree } = found;
  const commonDir = resolve(gitDir, (await small(join(gitDir, "commondir")))?.trim() ?? ".");
  const url = remoteUrl((await small(join(commonDir, "config"))) ?? "");
  const head = (await small(join(gitDir, "HEAD")))?.trim();
  // git never writes a branch name that leads to another folder
  const ref = head === undefined || head.includes("..") ? undefined : /^ref: (refs\/heads\/(.+))$/.exec(head);
  const branch = ref?.[2];
  const revision = ref?.[1] === undefined ? hash(head) : await readRef(gitDir, commonDir, ref[1]);
  const shown = url === undefined ? undefined : withoutCredentials(url);
  return {
    name: nameOf(shown ?? url) ?? basename(workTree),
    ...(shown !== undefined && { url: shown }),
    ...(branch !== undefined && { branch }),
    ...(revision !== undefined && { revision }),
  };
}

/**
 * A remote's address without user, password, query or fragment.
 *
 * @returns `undefined` for addresses that are local paths
 */
export function withoutCredentials(url: string): string | undefined {
  // `name::address` passes the address to a program of that name
  const scp = /^(?:[^@/\s]+@)?([A-Za-z0-9.-]+):(?!\/\/|:)(.+)$/.exec(url);
  if (scp?.[1] !== undefined && scp[2] !== undefined && scp[1].length > 1)
    return `ssh://${scp[1]}/${scp[2].replace(/^\/+/, "")}`;
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch {
    return undefined;
  }
  if (!/^(https?|ssh|git):$/.test(parsed.protocol)) return undefined;
  return `${parsed.protocol}//${parsed.host}${parsed.pathname}`;
}

// --- internal ---

const MAX_BYTES = 1 << 20;
const MAX_PARENTS = 64;

async function findGit(folder: string): Promise<{ gitDir: string; workTree: string } | undefined> {
  let at = folder;
  for (let i = 0; i < MAX_PARENTS; i++) {
    const dotGit = join(at, ".git");
    const kind = await stat(dotGit).catch(() => undefined);
    if (kind?.isDirectory() === true) return { gitDir: dotGit, workTree: at };
    if (kind?.isFile() === true) {
      // In a worktree or submodule this file names the real directory
      const target = /^gitdir: (.+)$/m.exec((await small(dotGit)) ?? "")?.[1];
      return target === undefined ? undefined : { gitDir: resolve(at, target.trim()), workTree: at };
    }
    const parent = dirname(at);
    if (parent === at) return undefined;
    at = parent;
  }
  return undefined;
}

async function readRef(gitDir: string, commonDir: string, ref: string): Promise<string | undefined> {
  const loose = (await small(join(gitDir, ref))) ?? (await small(join(commonDir, ref)));
  if (loose !== undefined) return hash(loose.trim());
  const packed = (await small(join(commonDir, "packed-refs"))) ?? "";
  return hash(
    packed
      .split("\n")
      .find((line) => line.endsWith(` ${ref}`))
      ?.split(" ")[0],
  );
}

const hash = (value: string | undefined): string | undefined =>
  value !== undefined && /^[0-9a-f]{40}([0-9a-f]{24})?$/.test(value) ? value : undefined;

/** The remote called origin, otherwise the first one. */
function remoteUrl(config: string): string | undefined {
  const remotes = new Map<string, string>();
  let section: string | undefined;
  for (const line of config.split(/\r?\n/)) {
    const header = /^\s*\[(.*)\]/.exec(line);
    if (header !== null) section = /^remote "(.+)"$/.exec(header[1] ?? "")?.[1];
    const url = /^\s*url\s*=\s*(.+?)\s*$/.exec(line)?.[1];
    if (section !== undefined && url !== undefined && !remotes.has(section)) remotes.set(section, url);
  }
  return remotes.get("origin") ?? [...remotes.values()][0];
}

function nameOf(url: string | undefined): string | undefined {
  const last = url
    ?.replace(/[?#].*$/, "")
    .replace(/\/+$/, "")
    .split(/[/:\\]/)
    .at(-1)
    ?.replace(/\.git$/, "");
  return last === undefined || last === "" ? undefined : last;
}

async function small(path: string): Promise<string | undefined> {
  try {
    const kind = await stat(path);
    if (!kind.isFile() || kind.size > MAX_BYTES) return undefined;
    const file = await open(path);
    try {
      return await file.readFile("utf8");
    } finally {
      await file.close();
    }
  } catch {
    return undefined;
  }
}
