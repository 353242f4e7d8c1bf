import type { Command } from "commander";
import { wholeNumber } from "../option-values.ts";
import { GROUPS } from "./groups.ts";
import { NO_REFRESH } from "./option-texts.ts";
import type { CommandSetup } from "./setup.ts";

/** Adds the command that draws conclusions from all sessions. */
export function addInsightCommands(program: Command, { context, done }: CommandSetup): void {
  program
    .command("insights")
    .helpGroup(GROUPS.see)
    .description("find what costs money again and again over all sessions, and what to change")
    .option("--since <time>", "age or time, e.g. 7d, month, 2026-11-14 (default: 30 days)")
    .option("--until <time>", "age or time (default: now)")
    .option("--agent <agent>", "only this agent, e.g. claude-code")
    .option("--repository <name>", "only this repository")
    .option("--limit <n>", "maximum number of findings", wholeNumber, 10)
    .option("--json", "print JSON", false)
    .option("--no-refresh", NO_REFRESH)
    .action(async (options) => done((await import("../read-one.ts")).insights(options, context)));
}
