import type { Command } from "commander";
import { GROUPS } from "./groups.ts";
import { NO_REFRESH } from "./option-texts.ts";
import type { CommandSetup } from "./setup.ts";

/** Adds the command that agents start. It is a part of the build of its own: no other command needs the protocol. */
export function addMcpCommand(program: Command, { context, done, interruption }: CommandSetup): void {
  program
    .command("mcp")
    .helpGroup(GROUPS.see)
    .description("answer an agent's questions about its cost: an MCP server, which enable --mcp registers")
    .option("--no-refresh", NO_REFRESH)
    .action(async (options) =>
      done((await import("../mcp.ts")).mcp({ ...options, parent: process.ppid, stop: interruption() }, context)),
    );
}
