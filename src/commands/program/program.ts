import { join } from "node:path";
import { Command, CommanderError } from "commander";
import type { Context } from "#config/context.ts";
import { suggest } from "#kit/suggest.ts";
import { VERSION } from "#kit/version.ts";
import { groupCommands } from "../definitions/groups.ts";
import { addPagerOption } from "../definitions/pager.ts";
import type { CommandSetup } from "../definitions/setup.ts";
import { refuseSurplusArguments } from "../definitions/surplus.ts";
import type { HeldOutput } from "./held-output.ts";
import { runProcess } from "./run-process.ts";

/** Exit codes, the same for every command; shown in the help and in docs/commands.md. */
const EXIT_CODES = "Exit codes: 0 success, 1 failure (the message has the remedy), 2 wrong input or configuration.";

/** Adds a group of commands. */
type AddCommands = (program: Command, setup: CommandSetup) => void;

/**
 * Runs the command of this process's arguments and sets the exit code.
 *
 * @param packageRoot contains `dist`, `demo`, `collector-config` and `dashboards`
 * @param groups of commands that this program has
 */
export function runProgram(packageRoot: string, groups: readonly AddCommands[]): void {
  const hookSource = join(packageRoot, "dist", process.platform === "win32" ? "hook.cjs" : "hook.sh");
  runProcess(packageRoot, (context, stdout) =>
    main(process.argv, groups, { context, packageRoot, hookSource, interruption }, stdout),
  );
}

// --- internal ---

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
    await program.parseAsync(withHelp(argv, program));
  } catch (error) {
    // Commander has printed the error already; it exits 0 for --help and --version, otherwise the input was wrong
    if (!(error instanceof CommanderError)) throw error;
    const meant = error.code === "commander.unknownCommand" ? OTHER_NAMES.get(argv[2] ?? "") : undefined;
    if (meant !== undefined) setup.context.stderr.write(`(${meant()} does that)\n`);
    return error.exitCode === 0 ? 0 : 2;
  } finally {
    await release(stdout, setup.context);
  }
  return exitCode;
}

/** `help` is `--help`, and `help report` is `report --help`. A word that is no command is refused as such. */
function withHelp([node = "", file = "", first, ...rest]: readonly string[], { commands }: Command): string[] {
  if (first !== "help") return [node, file, ...(first === undefined ? [] : [first, ...rest])];
  const isKnown = rest[0] === undefined || commands.some((command) => command.name() === rest[0]);
  return [node, file, ...rest, ...(isKnown ? ["--help"] : [])];
}

/** What other programs call commands that this one has. */
const OTHER_NAMES: ReadonlyMap<string, () => string> = new Map([
  ["usage", () => suggest("report")],
  ["cost", () => suggest("report")],
  ["daily", () => suggest("report")],
  ...["today", "yesterday", "week", "weekly", "month", "monthly", "project"].map(
    (word) => [word, () => suggest(`report ${word}`)] as const,
  ),
  ...["last", "latest"].map((word) => [word, () => suggest("show")] as const),
  ["ls", () => suggest("sessions")],
  ["list", () => suggest("sessions")],
  ["web", () => suggest("view")],
  ["ui", () => suggest("view")],
  ["open", () => suggest("view")],
  ["setup", () => suggest("start")],
  ["init", () => suggest("start")],
]);

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

/** Aborted by Ctrl-C and other termination signals. */
function interruption(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => controller.abort());
  return controller.signal;
}
