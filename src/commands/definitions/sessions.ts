import type { Command } from "commander";
import { portNumber } from "../option-values.ts";
import { GROUPS } from "./groups.ts";
import { NO_REFRESH, NO_TITLES } from "./option-texts.ts";
import { addListCommands, addSumCommands } from "./read.ts";
import type { CommandSetup } from "./setup.ts";

/** Adds the commands that show sessions and usage. */
export function addSessionCommands(program: Command, setup: CommandSetup): void {
  addListCommands(program, setup);
  addView(program, setup);
  addSumCommands(program, setup);
}

// --- internal ---

function addView(program: Command, { context, done, packageRoot, interruption }: CommandSetup): void {
  program
    .command("view")
    .helpGroup(GROUPS.see)
    .description("show sessions, usage and tools in your browser; the page is served on this machine only")
    .option("--no-refresh", NO_REFRESH)
    .option("--no-titles", NO_TITLES)
    .option("--port <n>", "port to listen on (default: any free port)", portNumber, 0)
    .option("--no-open", "print the address, do not open a browser")
    .option("--print-url", "print only the address, do not open a browser", false)
    .action(async (options) =>
      done((await import("../view.ts")).view({ ...options, packageRoot, stop: interruption() }, context)),
    );
}
