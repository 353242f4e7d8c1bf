import { mkdir, realpath, rename, symlink, unlink } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { allRecords, dropBackup, saveBackup, sha256 } from "../config/backup.ts";
import { missingParent, readFileIfAny, writeFileAtomic } from "../config/files.ts";
import { type Context, UserError } from "../context.ts";
import { suggest } from "../model/suggest.ts";
import { installHookProgram } from "../registration/hook-program.ts";
import { withUserErrors } from "../registration/settings-edit.ts";
import {
  exists,
  isWrapper,
  ownBinOf,
  pathOf,
  programsNamed,
  RECORDED_AS,
  wrapperPathOf,
  wrapperProgram,
  wrappersHere,
} from "../registration/wrappers.ts";

export interface WrapOptions {
  /** Where the wrapper goes. @default a directory of the user's that PATH has before the program, else one of ours */
  readonly directory?: string;
  /** Say what would be done, do nothing. */
  readonly dryRun: boolean;
  /** The shipped hook program, absolute. */
  readonly hookSource: string;
}

/**
 * `openhook-otel wrap gh aws`: puts a wrapper before each program, so that every call of it is told. Without a name: lists
 * what is wrapped. Nothing of anybody else's is changed, and no file that is there already is written over.
 *
 * @returns the exit code: 0 done, also where PATH must still be changed (the report says how)
 * @throws UserError for anything the user can mend; then none of the programs was wrapped
 */
export async function wrap(names: readonly string[], options: WrapOptions, context: Context): Promise<number> {
  if (context.platform === "win32") {
    throw new UserError("E_PLATFORM", "programs can be wrapped where there is a POSIX shell, not on Windows");
  }
  return withUserErrors(async () => {
    if (names.length === 0) return list(context);
    const plans: Plan[] = [];
    for (const name of new Set(names)) plans.push(await planOf(name, options, context));
    if (!options.dryRun) {
      await installHookProgram(context, options.hookSource);
      await installWrapper(context);
    }
    for (const plan of plans) {
      if (!options.dryRun && !plan.done) await link(plan, context);
      context.stdout.write(await reportOf(plan, options.dryRun, context));
    }
    if (options.dryRun) context.stdout.write("Dry run: nothing was written.\n");
    return 0;
  });
}

// --- internal ---

interface Plan {
  readonly name: string;
  /** What it stands before. */
  readonly program: string;
  /** Where it goes. */
  readonly path: string;
  readonly done: boolean;
}

async function planOf(name: string, { directory }: WrapOptions, context: Context): Promise<Plan> {
  const { places, cwd } = context;
  if (!/^[A-Za-z0-9][A-Za-z0-9._+-]*$/.test(name)) {
    const what = name.includes("/") ? "a path; give the name alone" : "no program's name";
    throw new UserError("E_USAGE", `${JSON.stringify(name)} is ${what}, e.g. gh`);
  }
  if (name === "openhook-otel") throw new UserError("E_USAGE", "openhook-otel itself cannot be wrapped");
  const program = (await programsNamed(name, context)).find(({ ours }) => !ours)?.path;
  if (program === undefined) {
    throw new UserError("E_PROGRAM", `${name} was not found in PATH: install it first, then wrap it`, 1);
  }
  const there = (await wrappersHere(context)).find((path) => basename(path) === name);
  const target = directory === undefined ? undefined : join(resolve(cwd, directory), name);
  if (there !== undefined && (target === undefined || target === there)) {
    return { name, program, path: there, done: true };
  }
  if (there !== undefined) {
    throw new UserError("E_WRAPPED", `${name} is wrapped in ${there}: ${suggest(`unwrap ${name}`)} first`);
  }
  const path = target ?? (await placeFor(name, program, context));
  if (await isWrapper(path, places)) return { name, program, path, done: false };
  if (await exists(path)) {
    throw new UserError("E_OCCUPIED", `${path} is there already and not ours: name another place with --directory`, 1);
  }
  return { name, program, path, done: false };
}

/** The first of the usual places of a user's own programs that PATH has before the program and that is free; else ours. */
async function placeFor(name: string, program: string, context: Context): Promise<string> {
  const { home } = context.places;
  const own = ownBinOf(context.places);
  const usual = new Set([own, join(home, ".local", "bin"), join(home, "bin")]);
  const real = (path: string) => realpath(path).catch(() => path);
  const last = await real(dirname(program));
  for (const directory of pathOf(context)) {
    if ((await real(directory)) === last) break;
    const path = join(directory, name);
    if (usual.has(directory) && (!(await exists(path)) || (await isWrapper(path, context.places)))) return path;
  }
  return join(own, name);
}

async function installWrapper(context: Context): Promise<void> {
  const path = wrapperPathOf(context.places);
  const program = Buffer.from(wrapperProgram(context));
  if ((await readFileIfAny(path))?.equals(program) === true) return;
  await writeFileAtomic(path, program, { mode: 0o755, forceMode: true });
}

/** The record first: `unwrap` must know of everything that is there. */
async function link({ path }: Plan, { places, now }: Context): Promise<void> {
  const target = wrapperPathOf(places);
  const madeDirectory = (await madeFor(path, places)) ?? (await missingParent(path));
  const record = {
    path,
    afterSha256: sha256(target),
    at: new Date(now()).toISOString(),
    agent: RECORDED_AS,
    scope: "user" as const,
    ...(madeDirectory === undefined ? {} : { madeDirectory }),
  };
  await saveBackup(places.backupDir, record, undefined);
  try {
    await mkdir(dirname(path), { recursive: true });
    if (await isWrapper(path, places)) {
      const temporary = `${path}.${process.pid}.tmp`;
      await symlink(target, temporary);
      await rename(temporary, path).catch(async (error: unknown) => {
        await unlink(temporary).catch(() => {});
        throw error;
      });
    } else await symlink(target, path);
  } catch (error) {
    await dropBackup(places.backupDir, path);
    const reason = error instanceof Error ? error.message : String(error);
    throw new UserError("E_FILE", `cannot put a wrapper to ${path}: ${reason}`, 1, { cause: error });
  }
}

/** The directory may be one that an earlier wrapper was the first in; whichever goes last takes it away. */
async function madeFor(path: string, { backupDir }: Context["places"]): Promise<string | undefined> {
  const records = (await allRecords(backupDir)).filter(({ agent }) => agent === RECORDED_AS);
  return records.find(({ madeDirectory }) => madeDirectory !== undefined && path.startsWith(`${madeDirectory}/`))
    ?.madeDirectory;
}

async function reportOf(plan: Plan, dryRun: boolean, context: Context): Promise<string> {
  const { name, path, program, done } = plan;
  const what = done ? "already wrapped" : dryRun ? "would be wrapped" : "wrapped";
  const first = (await programsNamed(name, context))[0];
  const isFirst = dryRun && !done ? await comesFirst(plan, context) : first?.path === path;
  const line = `${name}: ${what} in ${path}, before ${program}\n`;
  return isFirst ? line : line + adviceFor(path, first?.path ?? program, context);
}

/** Whether PATH has the directory before the program's. */
async function comesFirst({ path, program }: Plan, context: Context): Promise<boolean> {
  const directories = pathOf(context);
  const [at, last] = [directories.indexOf(dirname(path)), directories.indexOf(dirname(program))];
  return at !== -1 && at < last;
}

function adviceFor(path: string, found: string, { places }: Context): string {
  const directory = dirname(path);
  const shown = directory.startsWith(`${places.home}/`) ? `$HOME${directory.slice(places.home.length)}` : directory;
  return [
    `  PATH finds ${found} before it, so it is not used yet. Put its directory first where your shell and your agents are`,
    `  started from, in ~/.profile or what your shell reads in its stead, behind everything else that changes PATH:`,
    `    export PATH="${shown}:$PATH"`,
    "",
  ].join("\n");
}

async function list(context: Context): Promise<number> {
  const paths = await wrappersHere(context);
  if (paths.length === 0) context.stdout.write(`No program is wrapped. Wrap one with ${suggest("wrap gh")}\n`);
  for (const path of paths) {
    const name = basename(path);
    const programs = await programsNamed(name, context);
    const program = programs.find(({ ours }) => !ours)?.path;
    if (program === undefined) context.stdout.write(`${name}: wrapped in ${path}, but the program is not in PATH\n`);
    else context.stdout.write(await reportOf({ name, path, program, done: true }, false, context));
  }
  return 0;
}
