import { spawn } from "node:child_process";
import { isAbsolute, join } from "node:path";
import { variableFiles } from "#agents/registry.ts";
import type { Context } from "#config/context.ts";
import { loadConfig } from "#config/load.ts";
import { isProgram } from "#config/programs.ts";
import { foldersOfAgents, namedByRepositories, type RepositoryPlaces, systemHome } from "#config/variables.ts";
import { safeText } from "#kit/safe-output.ts";

/**
 * Shows text on a terminal, in a pager if it is longer than the screen. The pager is the user's `PAGER`, otherwise less if there is one.
 *
 * @param rows lines of the terminal; `undefined`: unknown, so no pager is used
 * @returns when the user has closed the pager, whatever its exit code
 */
export async function show(text: string, rows: number | undefined, context: Context): Promise<void> {
  const pager = isLonger(text, rows, context.stdout.columns) ? await pagerOf(context) : undefined;
  if (pager === undefined || !(await run(pager, text))) context.stdout.write(text);
}

/** The program that shows long output. */
export interface Pager {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * Which pager to use: `undefined` for none. Variables that a file of the current folder's repository names have no effect, because
 * `PAGER` and less' own variables run commands.
 */
export async function pagerOf(context: Context): Promise<Pager | undefined> {
  const { env, platform, places } = context;
  // more of Windows shows neither colours nor UTF-8 in every console
  if (platform === "win32" || env["TERM"] === "dumb") return undefined;
  const isWanted = await loadConfig(context).then(
    ({ config }) => config.display.pager,
    () => true,
  );
  if (!isWanted) return undefined;
  const names = Object.keys(env).filter((name) => env[name] !== undefined && ACTS.test(name));
  const at = { folders: [folderOf(context), ...foldersOfAgents(env)], home: places.home, files: await variableFiles() };
  const theirs = await namedByRepositories(names, await withDoubtfulHome(at, env));
  const own = Object.fromEntries(Object.entries(env).filter(([name]) => !theirs.has(name)));
  const { PAGER: named, PATH: path = SYSTEM_PATH } = own;
  const settings = { ...own, PATH: path, LESS: own["LESS"] ?? "FRX" };
  if (named !== undefined) {
    return /^\s*(?:cat\s*)?$/.test(named) ? undefined : { command: "/bin/sh", args: ["-c", named], env: settings };
  }
  const less = path
    .split(":")
    .filter(isAbsolute)
    .map((folder) => join(folder, "less"))
    .find(isProgram);
  return less === undefined ? undefined : { command: less, args: ["-FRX"], env: settings };
}

// --- internal ---

/** Variables that choose the pager, or with which it runs commands or loads settings or code. */
const ACTS =
  /^(?:PAGER|PATH|HOME|XDG_.*|LESS.*|SHELL|EDITOR|VISUAL|ENV|BASH_ENV|BASH_FUNC.*|LD_.*|DYLD_.*|TERMINFO.*|TERMCAP)$/;
const SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin";

/** A repository that is set as the home folder would otherwise not be searched. */
async function withDoubtfulHome(at: RepositoryPlaces, env: Context["env"]): Promise<RepositoryPlaces> {
  const system = systemHome();
  if (system === undefined || env["HOME"] === system) return at;
  const asHome = { ...at, folders: [...at.folders, at.home], home: system };
  return (await namedByRepositories(["HOME"], asHome)).size > 0 ? asHome : at;
}

/** The pager starts there, and a folder that was deleted has no files. */
function folderOf(context: Context): string {
  try {
    return context.cwd;
  } catch {
    return context.places.home;
  }
}

/** Lines that are wider than the terminal take several rows. The last row is left for the prompt. */
function isLonger(text: string, rows: number | undefined, columns = 80): boolean {
  if (rows === undefined || rows < 2) return false;
  let taken = 0;
  for (const line of text.replace(/\n$/, "").split("\n")) {
    taken += Math.max(1, Math.ceil(line.replaceAll(COLOUR, "").length / Math.max(1, columns)));
    if (taken > rows - 1) return true;
  }
  return false;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with a control character
const COLOUR = /\x1b\[[0-9;]*m/g;

/** Exit codes of a shell for a command that is missing or no program. */
const COULD_NOT_START: ReadonlySet<number> = new Set([126, 127]);

/** @returns whether the pager could be started */
function run({ command, args, env }: Pager, text: string): Promise<boolean> {
  return new Promise((done) => {
    const child = spawn(command, args, { stdio: ["pipe", "inherit", "inherit"], env: { ...env } });
    // Ctrl-C is for the pager
    const ignore = (): void => {};
    process.on("SIGINT", ignore);
    const end = (started: boolean): void => {
      process.off("SIGINT", ignore);
      done(started);
    };
    child.once("error", () => end(false));
    child.once("close", (code) => end(code === null || !COULD_NOT_START.has(code)));
    // The user can close the pager before it has read everything
    child.stdin.on("error", () => {});
    child.stdin.end(safeText(text, true));
  });
}
