import { mkdir, readdir, realpath, rename, rmdir, symlink, unlink } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { allRecords, type BackupRecord, dropBackup, saveBackup, sha256 } from "#config/backup.ts";
import type { Context } from "#config/context.ts";
import { missingParent, readFileIfAny, removeFile, writeFileAtomic } from "#config/files.ts";
import { UserError } from "#kit/errors.ts";
import { suggest } from "#kit/suggest.ts";
import { removeHookProgram } from "./hook-program.ts";
import {
  exists,
  isWrapper,
  ownBinOf,
  pathOf,
  programsNamed,
  RECORDED_AS,
  wrappedPrograms,
  wrapperPathOf,
  wrapperProgram,
  wrappersHere,
} from "./wrappers.ts";

/** Where the wrapper of one program goes. */
export interface WrapPlan {
  readonly name: string;
  /** The program that the wrapper runs. */
  readonly program: string;
  /** Where the wrapper goes. */
  readonly path: string;
  /** The wrapper is there already. */
  readonly done: boolean;
}

/**
 * Finds a place for a wrapper; writes nothing.
 *
 * @param directory chosen by the user, relative to the working directory; without one a directory of the user's that PATH
 *        has before the program, else our own
 * @throws UserError for a name that is no program, or if another file is at the wrapper's place
 */
export async function planWrapper(name: string, directory: string | undefined, context: Context): Promise<WrapPlan> {
  const { places, cwd } = context;
  if (!/^[A-Za-z0-9][A-Za-z0-9._+-]*$/.test(name)) {
    const what = name.includes("/") ? "a path; give only the name" : "not a program name";
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
    throw new UserError(
      "E_OCCUPIED",
      `${path} already exists and is not ours: choose another folder with --directory`,
      1,
    );
  }
  return { name, program, path, done: false };
}

/** One line about a wrapper; advice below it where PATH finds the program first. */
export async function wrappedText(plan: WrapPlan, dryRun: boolean, context: Context): Promise<string> {
  const { name, path, program, done } = plan;
  const what = done ? "already wrapped" : dryRun ? "would be wrapped" : "wrapped";
  const first = (await programsNamed(name, context))[0];
  const isFirst = dryRun && !done ? await comesFirst(plan, context) : first?.path === path;
  const line = `${name}: ${what} in ${path}, before ${program}\n`;
  return isFirst ? line : line + adviceFor(path, first?.path ?? program, context);
}

/** Writes the program that every wrapper is a link to, if it is missing or different. */
export async function installWrapper(plans: readonly WrapPlan[], context: Context): Promise<void> {
  const path = wrapperPathOf(context.places);
  const found = plans.map(({ name, program }) => [name, program] as const);
  const program = Buffer.from(wrapperProgram(context, new Map([...(await wrappedPrograms(context)), ...found])));
  if ((await readFileIfAny(path))?.equals(program) === true) return;
  await writeFileAtomic(path, program, { mode: 0o755, forceMode: true });
}

/**
 * Creates the link. The record is written first, so that `unwrap` finds every link.
 *
 * @throws UserError when the link cannot be made; then there is no record either
 */
export async function linkWrapper({ path }: WrapPlan, { places, now }: Context): Promise<void> {
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
    throw new UserError("E_FILE", `cannot create a wrapper at ${path}: ${reason}`, 1, { cause: error });
  }
}

/** Paths at which a program of that name is wrapped, or was by our records. */
export async function wrapperPathsOf(
  name: string,
  recorded: readonly string[],
  context: Context,
): Promise<readonly string[]> {
  const known = recorded.filter((path) => basename(path) === name);
  const possible = [...pathOf(context), ownBinOf(context.places)].map((directory) => join(directory, name));
  const found: string[] = [];
  for (const path of possible) if (await isWrapper(path, context.places)) found.push(path);
  return [...new Set([...known, ...found])];
}

/**
 * Removes a wrapper and its record, and the directories that were made for it.
 *
 * @param isOurs false: something else is at that path now, which stays
 * @throws UserError when it cannot be removed
 */
export async function removeWrapper(
  path: string,
  isOurs: boolean,
  record: BackupRecord | undefined,
  { places }: Context,
): Promise<void> {
  if (isOurs) {
    // The link, never its target
    await unlink(path).catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error);
      throw new UserError("E_FILE", `cannot remove ${path}: ${reason}`, 1, { cause: error });
    });
    await removeMade(dirname(path), record?.madeDirectory ?? (dirname(path) === ownBinOf(places) ? dirname(path) : ""));
  }
  await dropBackup(places.backupDir, path);
}

/** Removes the wrapper program, and the hook program where no agent is enabled. */
export async function removeWrapperProgram(context: Context): Promise<void> {
  const { places } = context;
  const path = wrapperPathOf(places);
  if (await isWrapper(path, places)) await removeFile(path);
  const left = await readdir(ownBinOf(places)).catch(() => ["?"]);
  if (left.length === 0) await rmdir(ownBinOf(places)).catch(() => {});
  if ((await allRecords(places.backupDir)).length === 0) await removeHookProgram(context);
}

// --- internal ---

/** The first usual directory for a user's programs that PATH has before the program and that is free; else our own. */
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

/** Whether PATH has the directory before the program's. */
async function comesFirst({ path, program }: WrapPlan, context: Context): Promise<boolean> {
  const directories = pathOf(context);
  const [ours, theirs] = [directories.indexOf(dirname(path)), directories.indexOf(dirname(program))];
  return ours !== -1 && ours < theirs;
}

function adviceFor(path: string, found: string, { places }: Context): string {
  const directory = dirname(path);
  const shown = directory.startsWith(`${places.home}/`) ? `$HOME${directory.slice(places.home.length)}` : directory;
  return [
    `  It is not used yet, because PATH finds ${found} first. Put its directory first, in ~/.profile or the file that your`,
    `  shell reads instead, after everything else that changes PATH:`,
    `    export PATH="${shown}:$PATH"`,
    "",
  ].join("\n");
}

/** The directory that an earlier wrapper had made for it; the last wrapper in it removes it. */
async function madeFor(path: string, { backupDir }: Context["places"]): Promise<string | undefined> {
  const records = (await allRecords(backupDir)).filter(({ agent }) => agent === RECORDED_AS);
  return records.find(({ madeDirectory }) => madeDirectory !== undefined && path.startsWith(`${madeDirectory}/`))
    ?.madeDirectory;
}

/** Directories that were made for it, from the lowest up to `top`, as long as they are empty. */
async function removeMade(from: string, top: string): Promise<void> {
  for (let at = from; top !== "" && at.startsWith(top); at = dirname(at)) {
    const removed = await rmdir(at).then(
      () => true,
      () => false,
    );
    if (!removed) return;
  }
}
