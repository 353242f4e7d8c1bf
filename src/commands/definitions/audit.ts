import { type Command, Option } from "commander";
import { AUDIT_FORMATS } from "#core/audit/record.ts";
import type { AuditCommand } from "../audit.ts";
import type { ExportAuditOptions } from "../export-audit.ts";
import { GROUPS } from "./groups.ts";

/** Adds `audit` and its subcommands to the program. */
export function addAuditCommands(program: Command, run: (command: AuditCommand) => Promise<void>): void {
  const group = program
    .command("audit")
    .helpGroup(GROUPS.maintain)
    .description("check the audit trail, which audit.enabled keeps; export audit writes it")
    .helpCommand(false);
  group
    .command("verify", { isDefault: true })
    .description("find deleted, changed, reordered and cut records; exits 1 if there are any")
    .option("--file <file>", "check records that were exported or that a backend has, instead of the store; -: stdin")
    .option("--head <head>", "a place that the chain must have: HASH@SEQ, or a file that audit head wrote")
    .option("--public-key <file>", "with --head FILE: the Ed25519 key that must have signed it, in PEM")
    .option("--json", "print JSON", false)
    .action((options) => run({ kind: "verify", ...options }));
  group
    .command("head")
    .description("print where the chain ends, to be kept on another machine")
    .option("--sign <file>", "sign it with this Ed25519 key, in PEM")
    .action((options) => run({ kind: "head", ...options }));
  group
    .command("digest")
    .description("print the digest that the trail has of a command, file or address")
    .argument("<text>", "the command line, the absolute path, or the address")
    .action((text: string) => run({ kind: "digest", text }));
}

/** Adds the trail to `export`. */
export function addAuditExport(group: Command, run: (options: ExportAuditOptions) => Promise<void>): void {
  group
    .command("audit")
    .description("write the audit trail for a security team's tools: one record per line")
    .addOption(new Option("--format <format>", "OTLP/JSON, OCSF, ECS or CSV").choices(AUDIT_FORMATS).default("otlp"))
    .option("--since <time>", "only records since this age or time, e.g. 24h, 2026-11-14")
    .option("-o, --output <file>", "path of the file (default: standard output)")
    .option("--force", "replace an existing file", false)
    // Commander gives options that both have to `export`
    .action((_, command: Command) => {
      if (group.getOptionValueSource("capture") === "cli") command.error("error: --capture is for pages only");
      return run(command.optsWithGlobals());
    });
}
