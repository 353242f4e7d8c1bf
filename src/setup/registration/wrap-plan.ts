import { realpath } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import type { Context } from "#config/context.ts";
import { UserError } from "#kit/errors.ts";
import { suggest } from "#kit/suggest.ts";
import { exists, isWrapper, ownBinOf, pathOf, programsNamed, wrappersHere } from "./wrappers.ts";

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
