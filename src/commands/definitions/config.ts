import type { Command } from "commander";
import type { ConfigAction } from "../config.ts";
import { GROUPS } from "./groups.ts";

/** Adds `config` and its subcommands. */
export function addConfigCommands(program: Command, run: (action: ConfigAction) => Promise<void>): void {
  const config = program
    .command("config")
    .helpGroup(GROUPS.setUp)
    .description("show or change settings")
    .helpCommand(false);
  config
    .command("show", { isDefault: true })
    .description("show the settings that differ from the default, and where each comes from")
    .option("--all", "show all settings", false)
    .option("--json", "print JSON, with all settings", false)
    .action((options) => run({ kind: "show", ...options }));
  config
    .command("get <key>")
    .description("print one effective value")
    .action((key: string) => run({ kind: "get", key }));
  config
    .command("set <key> <value>")
    .description("write a setting to the configuration file, e.g. set otlp.endpoint http://127.0.0.1:4318")
    .action((key: string, value: string) => run({ kind: "set", key, value }));
  config
    .command("unset <key>")
    .description("remove a setting from the configuration file")
    .action((key: string) => run({ kind: "unset", key }));
  config
    .command("path")
    .description("print the path of the configuration file")
    .action(() => run({ kind: "path" }));
  config
    .command("check-prices [file]")
    .description("check a file of own prices and show its prices (default: the file in prices.file)")
    .action((file?: string) => run({ kind: "check-prices", ...(file !== undefined && { file }) }));
}
