import { join } from "node:path";
import { Command, CommanderError } from "commander";
import { groupCommands } from "./commands/definitions/groups.ts";
import { addPagerOption } from "./commands/definitions/pager.ts";
import type { CommandSetup } from "./commands/definitions/setup.ts";
import { refuseSurplusArguments } from "./commands/definitions/surplus.ts";
import { lastingNode } from "./config/lasting-node.ts";
import { homeDirectory, placesOf } from "./config/places.ts";
import { programName } from "./config/program-name.ts";
import { type Context, UserError } from "./context.ts";
import { type HeldOutput, holdable } from "./held-output.ts";
import { setProgramName } from "./model/suggest.ts";
import { safeOutput, safeText } from "./safe-output.ts";
import { nativePartMissing } from "./store/native-part.ts";
import { keepOwnerRights } from "./umask.ts";
import { VERSION } from "./version.ts";

/** Exit codes, the same for every command; shown in the help and in docs/commands.md. */
const EXIT_CODES = "Exit codes: 0 success, 1 failure (the message has the remedy), 2 wrong input or configuration.";

/** Adds a group of commands. */
export type AddCommands = (program: Command, setup: CommandSetup) => void;

/**
 * Runs the command of this process's arguments and sets the exit code.
 *
 * @param packageRoot contains `dist`, `demo`, `collector-config` and `dashboards`
 * @param groups of commands that this program has
 */
export function runProgram(packageRoot: string, groups: readonly AddCommands[]): void {
  keepOwnerRights();
  const stdout = holdable(safeOutput(process.stdout));
  const context = processContext(join(packageRoot, "dist", "openhook-otel.cjs"), stdout);
  setProgramName((isAnywhere) => {
    const { env, platform, programPath } = context;
    const cwd = isAnywhere ? undefined : currentDirectory();
    return programName({ env, platform, cwd, nodePath: process.execPath, programPath });
  });

  let isCutShort = false;
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    // A reader that closes early (`| head`) is not an error, and the command still finishes its work
    if (error.code === "EPIPE") return;
    if (!isCutShort)
      process.stderr.write(`openhook-otel: cannot write all of the output: ${safeText(error.message)}\n`);
    isCutShort = true;
    process.exitCode = 1;
  });
  // If stderr is closed, the exit code still reports failure
  process.stderr.on("error", () => {});

  const hookSource = join(packageRoot, "dist", process.platform === "win32" ? "hook.cjs" : "hook.sh");
  main(process.argv, groups, { context, packageRoot, hookSource, interruption }, stdout).then(
    (code) => {
      process.exitCode = isCutShort ? Math.max(1, code) : code;
    },
    (error: unknown) => {
      const missing = nativePartMissing(error);
      if (error instanceof UserError || missing !== undefined) {
        process.stderr.write(`openhook-otel: ${safeText(missing ?? (error as UserError).message)}\n`);
        process.exitCode = error instanceof UserError ? error.exitCode : 1;
      } else {
        process.stderr.write(`${safeText(error instanceof Error ? (error.stack ?? error.message) : String(error))}\n`);
        process.exitCode = 1;
      }
    },
  );
}

// --- internal ---

function processContext(programPath: string, stdout: HeldOutput): Context {
  return {
    env: process.env,
    // Read on use, because the directory may have been deleted
    get cwd() {
      return workingDirectory();
    },
    platform: process.platform,
    arch: process.arch,
    places: placesOf({ env: process.env, home: homeDirectory(), platform: process.platform }),
    // Most commands read none, and opening it takes 5 ms
    get stdin() {
      return process.stdin;
    },
    stdout,
    stderr: safeOutput(process.stderr),
    now: Date.now,
    nodePath: lastingNode(process.execPath, homeDirectory()),
    programPath,
  };
}

async function main(
  argv: readonly string[],
  groups: readonly AddCommands[],
  setup: Omit<CommandSetup, "done">,
  stdout: HeldOutput,
): Promise<number> {
  let exitCode = 0;
  const done = async (code: Promise<number>): Promise<void> => {
    exitCode = await code;
  };
  const program = emptyProgram();
  refuseSurplusArguments(program);
  program.hook("preAction", (_, command) => {
    if (stdout.isTTY === true && isForPager(command.opts())) stdout.hold();
  });
  for (const addCommands of groups) addCommands(program, { ...setup, done });
  addPagerOption(program);
  try {
    await program.parseAsync([...argv]);
  } catch (error) {
    // Commander has printed the error already; it exits 0 for --help and --version, otherwise the input was wrong
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    throw error;
  } finally {
    await release(stdout, setup.context);
  }
  return exitCode;
}

/** Whether a command's output may go to a pager: texts for people of commands that have `--no-pager`. */
const isForPager = ({ pager, json, csv, envelopes }: Readonly<Record<string, unknown>>): boolean =>
  pager === true && !json && !csv && !envelopes;

/** Shows what was held back until the command had finished. */
async function release(stdout: HeldOutput, context: Context): Promise<void> {
  const text = stdout.take();
  if (text === undefined || text === "") return;
  await (await import("./pager.ts")).show(text, process.stdout.rows, context);
}

function emptyProgram(): Command {
  return groupCommands(new Command("openhook-otel"))
    .description(
      "See what AI coding agents really do: their hooks and transcripts as OpenTelemetry traces and metrics.",
    )
    .version(VERSION, "-V, --version")
    .helpCommand(false)
    .addHelpText("after", `\n${EXIT_CODES}`)
    .showHelpAfterError("(--help lists commands and options)")
    .exitOverride();
}

function workingDirectory(): string {
  const directory = currentDirectory();
  if (directory === undefined)
    throw new UserError("E_CWD", "the current directory was deleted: change to another one", 1);
  return directory;
}

/** `undefined` if it was deleted. */
function currentDirectory(): string | undefined {
  try {
    return process.cwd();
  } catch {
    return undefined;
  }
}

/** Aborted by Ctrl-C and other termination signals. */
function interruption(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => controller.abort());
  return controller.signal;
}
