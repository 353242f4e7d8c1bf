import { spawnSync } from "node:child_process";
import { constants } from "node:fs";
import { access, lstat, open, readlink, realpath, stat } from "node:fs/promises";
import { basename, delimiter, dirname, isAbsolute, join } from "node:path";
import wrapperSource from "#collect/intake/wrapper.sh?raw";
import { allRecords } from "#config/backup.ts";
import type { Context } from "#config/context.ts";
import { readFileIfAny } from "#config/files.ts";
import type { Places } from "#config/places.ts";

/** Used instead of an agent's name in backup records of `wrap`. */
export const RECORDED_AS = "wrap";

/** The target of every wrapper link. Beside the hook program, which it starts. */
export const wrapperPathOf = ({ hookPath }: Places): string => join(dirname(hookPath), "wrapper");

/** Directory for wrappers that have no directory before their program in PATH; only this program writes there. */
export const ownBinOf = ({ hookPath }: Places): string => join(dirname(hookPath), "bin");

/**
 * The shipped wrapper for this machine: with the hook's path, where the programs are, and an `env` that can reset ignored signals.
 *
 * @param programs paths by name
 */
export function wrapperProgram({ places, env }: Context, programs: ReadonlyMap<string, string>): string {
  const standard = join(places.home, ".local", "share", "openhook-otel", "hook") === places.hookPath;
  // The caller's home, because it differs between containers
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell expands it
  const hook = standard ? '"${HOME:-$w_home}/.local/share/openhook-otel/hook"' : quoted(places.hookPath);
  const lines = [...programs].map(([name, path]) => `${name}=${path}`).filter((line) => !line.includes("\n"));
  return wrapperSource
    .replace(/^w_home='' /m, () => `w_home=${quoted(places.home)} `)
    .replace(/^w_hook='' /m, () => `w_hook=${hook} `)
    .replace(/^w_programs='' /m, () => `w_programs=${quoted(lines.sort().join("\n"))} `)
    .replace(/^w_env='' /m, () => `w_env=${quoted(resettingEnv(env) ?? "")} `);
}

/** Where each wrapped program is, by name: as `wrap` found it, unless it is gone. */
export async function wrappedPrograms(context: Context): Promise<ReadonlyMap<string, string>> {
  const known = programsIn((await readFileIfAny(wrapperPathOf(context.places)))?.toString() ?? "");
  const programs = new Map<string, string>();
  for (const name of new Set((await wrappersHere(context)).map((path) => basename(path)))) {
    const before = known.get(name);
    const isThere = before !== undefined && (await exists(before));
    const path = isThere ? before : (await programsNamed(name, context)).find(({ ours }) => !ours)?.path;
    if (path !== undefined) programs.set(name, path);
  }
  return programs;
}

/** Distinct directories of PATH, in order. */
export const pathOf = ({ env }: Pick<Context, "env">): readonly string[] => [
  ...new Set((env["PATH"] ?? "").split(delimiter).filter(isAbsolute)),
];

/** Every executable of that name in PATH, in order. `ours`: it leads to a wrapper. */
export async function programsNamed(
  name: string,
  context: Context,
): Promise<readonly { readonly path: string; readonly ours: boolean }[]> {
  const found: { path: string; ours: boolean }[] = [];
  for (const directory of pathOf(context)) {
    const path = join(directory, name);
    const isProgram = await stat(path).then(
      (file) => file.isFile(),
      () => false,
    );
    if (!isProgram || !(await isExecutable(path))) continue;
    found.push({ path, ours: await isWrapper(path, context.places) });
  }
  return found;
}

/** True for a link to our wrapper, even if that is gone, and for a copy of it. */
export async function isWrapper(path: string, places: Places): Promise<boolean> {
  const target = await readlink(path).catch(() => undefined);
  if (target === wrapperPathOf(places)) return true;
  const real = await realpath(path).catch(() => undefined);
  if (real === undefined) return false;
  if (real === (await realpath(wrapperPathOf(places)).catch(() => undefined))) return true;
  const head = await firstBytes(real, MARK.length).catch(() => undefined);
  return head === MARK;
}

/** True if the name exists, dangling links included. */
export const exists = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  );

/** Paths of our wrappers, from our records and from PATH, sorted. */
export async function wrappersHere(context: Context): Promise<readonly string[]> {
  const records = (await allRecords(context.places.backupDir)).filter(({ agent }) => agent === RECORDED_AS);
  const recorded = records.map(({ path }) => path);
  const names = new Set(recorded.map((path) => basename(path)));
  const inPath = [...pathOf(context), ownBinOf(context.places)].flatMap((dir) => [...names].map((n) => join(dir, n)));
  const there: string[] = [];
  for (const path of new Set([...recorded, ...inPath])) if (await isWrapper(path, context.places)) there.push(path);
  return there.sort();
}

// --- internal ---

const MARK = "#!/bin/sh\n# openhook-otel wrapper\n";

/** What `wrapperProgram` wrote into an installed wrapper. */
function programsIn(wrapper: string): ReadonlyMap<string, string> {
  const text = /^w_programs='((?:[^']|'\\'')*)'/m.exec(wrapper)?.[1]?.replaceAll("'\\''", "'") ?? "";
  return new Map([...text.matchAll(/^([^=]+)=(.*)$/gm)].map(([, name = "", path = ""]) => [name, path]));
}

/** Quotes any text for a POSIX shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

const isExecutable = (path: string): Promise<boolean> =>
  access(path, constants.X_OK).then(
    () => true,
    () => false,
  );

async function firstBytes(path: string, count: number): Promise<string> {
  const file = await open(path, "r");
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(count), 0, count, 0);
    return buffer.toString("latin1", 0, bytesRead);
  } finally {
    await file.close();
  }
}

/** An `env` that can reset signals: GNU coreutils 8.31 or later. */
function resettingEnv(env: Context["env"]): string | undefined {
  return ["/usr/bin/env", "/bin/env"].find((program) => {
    const { status } = spawnSync(program, ["--default-signal=INT,QUIT", "/bin/sh", "-c", "exit 7"], {
      env: { ...env },
      stdio: "ignore",
      timeout: 5_000,
    });
    return status === 7;
  });
}
