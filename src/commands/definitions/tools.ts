import { type Command, Option } from "commander";
import { ENVELOPE_TEXTS } from "#core/model/envelope-types.ts";
import { addAuditCommands } from "./audit.ts";
import { addBridgeCommands } from "./bridge.ts";
import { addConfigCommands } from "./config.ts";
import { GROUPS } from "./groups.ts";
import type { CommandSetup } from "./setup.ts";

/** Adds the remaining commands: conversion, wrappers, the local stack, settings, the hook and the demo. */
export function addToolCommands(
  program: Command,
  { context, done, hookSource, packageRoot, interruption }: CommandSetup,
): void {
  program
    .command("convert")
    .helpGroup(GROUPS.maintain)
    .description("convert native payloads, or a recording of them, to OpenHook v0.1 envelopes, one JSON line each")
    .argument("[file]", "file to read (default, or -: stdin)")
    .option("--source <agent>", "agent that sent the payloads, if they do not name it")
    .option("--event <name>", "native event name, if the payloads do not contain it")
    .addOption(
      new Option("--text <text>", "text of OpenHook v0.1 (default: openhook.text of the settings)").choices([
        ...ENVELOPE_TEXTS,
      ]),
    )
    .option("--validate", "check envelopes instead: print errors with line numbers, and the conformance level", false)
    .option("--discovery <file>", "with --validate: the .openhook.json that the sender used")
    .action(async (file: string | undefined, options) =>
      done((await import("../set-up.ts")).convert(file, options, context)),
    );

  program
    .command("conformance")
    .helpGroup(GROUPS.maintain)
    .description("run OpenHook's conformance kit against a command, or against this program")
    .argument("[command]", "shell command that reads a native payload and writes envelopes (default: this program)")
    .option("--kinds <kinds>", "kinds of cases: convert,validate,session,discover (default for a command: convert)")
    .option("--source <agent>", "only payloads of this agent")
    .addOption(new Option("--level <level>", "only cases up to this level").choices(["1", "2", "3"]))
    .addOption(new Option("--text <text>", "text that this program writes").choices([...ENVELOPE_TEXTS]))
    .action(async (command: string | undefined, options) =>
      done((await import("../set-up.ts")).conformance(command, { ...options, packageRoot }, context)),
    );

  program
    .command("wrap")
    .helpGroup(GROUPS.setUp)
    .description("record every run of gh, aws, kubectl, docker, … as a tool call")
    .argument("[programs...]", "e.g. gh aws kubectl docker (default: list wrapped programs)")
    .option("--directory <path>", "directory for the wrappers; must come before the programs in PATH")
    .option("--dry-run", "show what would be done, without doing it", false)
    .action(async (names: string[], options) =>
      done((await import("../set-up.ts")).wrap(names, { ...options, hookSource }, context)),
    );

  program
    .command("unwrap")
    .helpGroup(GROUPS.setUp)
    .description("remove wrappers")
    .argument("[programs...]", "e.g. gh (default: all wrapped programs)")
    .option("--dry-run", "show what would be done, without doing it", false)
    .action(async (names: string[], options) => done((await import("../set-up.ts")).unwrap(names, options, context)));

  program
    .command("stack")
    .helpGroup(GROUPS.setUp)
    .description("write a compose file with Collector, Jaeger, Tempo, Prometheus and Grafana, and export to them")
    .option("--directory <path>", "directory for the files (default: beside the configuration file)")
    .option("--print", "print compose.yaml only", false)
    .option("-y, --yes", "set otlp.endpoint without asking", false)
    .option("--dry-run", "show what would change, without changing it", false)
    .option("--force", "overwrite files that you have changed", false)
    .option("--undo", "remove the files and restore otlp.endpoint", false)
    .action(async (options) => done((await import("../set-up.ts")).stack(options, context, packageRoot)));

  addAuditCommands(program, async (command) => done((await import("../read-and-repair.ts")).audit(command, context)));

  addBridgeCommands(program, async (action) => done((await import("../read-and-repair.ts")).bridge(action, context)));

  addConfigCommands(program, async (action) => done((await import("../set-up.ts")).config(action, context)));

  program
    .command("hook")
    .helpGroup(GROUPS.maintain)
    .description("record one event from stdin; run by agents; always exits 0")
    .option("--source <agent>", "agent that sends it, e.g. claude-code")
    .option("--event <name>", "native event name, if the payload does not contain it")
    .option("--reply <text>", "text to print afterwards (default: the reply that the agent expects)")
    .option("--payload-env", "read the event from USER_PROMPT instead of stdin", false)
    .option("--payload-argument", "read the event from the last argument instead of stdin", false)
    .addOption(new Option("--drain <when>", "start a drain afterwards").choices(["yes", "if-waiting", "soon", "no"]));

  program
    .command("demo")
    .helpGroup(GROUPS.setUp)
    .description("replay recorded sessions and check every figure; in a terminal, then show two made-up weeks")
    .option("--keep", "keep the demo's home directory and print its path", false)
    .option("--no-open", "print figures of the made-up weeks, do not open a browser")
    .action(async (options) =>
      done((await import("../read-and-repair.ts")).demo({ ...options, packageRoot, interruption }, context)),
    );
}
