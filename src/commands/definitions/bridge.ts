import type { Command } from "commander";
import type { BridgeAction } from "../bridge.ts";
import { GROUPS } from "./groups.ts";

/** Adds `bridge` and its subcommands to the program. */
export function addBridgeCommands(program: Command, run: (action: BridgeAction) => Promise<void>): void {
  const bridge = program
    .command("bridge")
    .helpGroup(GROUPS.send)
    .description("hand every event, as an OpenHook envelope, to the commands in .openhook.json that you allow")
    .helpCommand(false);
  bridge
    .command("status", { isDefault: true })
    .description("show registration files, whether they are allowed, and what their commands got")
    .option("--json", "print JSON", false)
    .action((options) => run({ kind: "status", ...options }));
  bridge
    .command("allow [file]")
    .description(
      "show the commands of a registration file, and allow them if you agree (default: those that apply here)",
    )
    .option("-y, --yes", "do not ask", false)
    .action((path: string | undefined, options) => run({ kind: "allow", path, ...options }));
  bridge
    .command("revoke [file]")
    .description("withdraw consent (default: to the files that apply here)")
    .option("--all", "to all files", false)
    .action((path: string | undefined, options) => run({ kind: "revoke", path, ...options }));
  bridge
    .command("test [file]")
    .description("run allowed commands once with a sample event, and show what they print")
    .action((path: string | undefined) => run({ kind: "test", path }));
}
