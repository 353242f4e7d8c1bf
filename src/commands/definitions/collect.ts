import { type Command, Option } from "commander";
import { GROUPS } from "./groups.ts";
import type { CommandSetup } from "./setup.ts";

/** Adds the commands that collect: `drain`, `receive` and `import`. */
export function addCollectCommands(program: Command, { context, done, interruption }: CommandSetup): void {
  program
    .command("drain")
    .helpGroup(GROUPS.send)
    .description("convert queued events and export them; hooks run this automatically")
    .option("--end-idle", "end all open sessions now", false)
    .option("-q, --quiet", "print nothing", false)
    .option("--json", "print JSON", false)
    .addOption(new Option("--events", "only read new events and run the bridge's commands").default(false).hideHelp())
    .addOption(new Option("--outcomes", "only find out what became of commits").default(false).hideHelp())
    .action(async ({ outcomes, ...options }) => {
      if (!outcomes) return done((await import("../drain.ts")).drain(options, context));
      const inBackground = { all: false, quiet: true, json: false };
      return done((await import("../read-and-repair.ts")).outcomes(inBackground, context));
    });

  program
    .command("receive")
    .helpGroup(GROUPS.send)
    .description("receive agents' own telemetry on this machine (see docs/native.md); hooks run this automatically")
    .option("-q, --quiet", "print nothing", false)
    .action(async (options) => done((await import("../read-and-repair.ts")).receive(options, context)));

  program
    .command("import")
    .helpGroup(GROUPS.setUp)
    .description("import past sessions of the agents on this machine; nothing is exported without --export")
    .argument("[agents...]", "e.g. claude-code (default: all agents that keep their sessions)")
    .option("--since <time>", "only sessions active since this age or time, e.g. 90d, 2026-10-01")
    .option("--dry-run", "show what would be imported, without importing it", false)
    .option(
      "--again",
      "import unchanged sessions again, e.g. after an update; exported ones are left as they are",
      false,
    )
    .option("--export", "also export all imported sessions to otlp.endpoint", false)
    .option("--json", "print JSON", false)
    .action(async (names: string[], options) =>
      done((await import("../import.ts")).importPast(names, { ...options, stop: interruption() }, context)),
    );
}
