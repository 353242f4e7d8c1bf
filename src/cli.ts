import { dirname, join } from "node:path";
import { Command, CommanderError, Option } from "commander";
import { homeDirectory, lastingNode, placesOf } from "./config/places.ts";
import { programName } from "./config/program-name.ts";
import { type Context, UserError } from "./context.ts";
import { setProgramName } from "./model/suggest.ts";
import { portNumber, wholeNumber } from "./option-values.ts";
import { safeOutput, safeText } from "./safe-output.ts";
import { keepOwnerRights } from "./umask.ts";
import { VERSION } from "./version.ts";

/** Exit codes, the same for every command; shown in the help and in docs/commands.md. */
const EXIT_CODES = "Exit codes: 0 success, 1 failure (the message says what to do), 2 wrong input or configuration.";

keepOwnerRights();
const packageRoot = dirname(__dirname);
const hookSource = join(packageRoot, "dist", process.platform === "win32" ? "hook.cjs" : "hook.sh");
const context: Context = {
  env: process.env,
  // Read on use, because the directory may have been deleted
  get cwd() {
    return workingDirectory();
  },
  platform: process.platform,
  arch: process.arch,
  places: placesOf({ env: process.env, home: homeDirectory(), platform: process.platform }),
  stdin: process.stdin,
  stdout: safeOutput(process.stdout),
  stderr: safeOutput(process.stderr),
  now: Date.now,
  nodePath: lastingNode(process.execPath, homeDirectory()),
  programPath: join(packageRoot, "dist", "openhook-otel.cjs"),
};

setProgramName(() => {
  const { env, platform, programPath } = context;
  return programName({ env, platform, cwd: currentDirectory(), nodePath: process.execPath, programPath });
});

let isCutShort = false;
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  // A reader that closes early (`| head`) is not an error, and the command still finishes its work
  if (error.code === "EPIPE") return;
  if (!isCutShort) process.stderr.write(`openhook-otel: cannot write all of the output: ${safeText(error.message)}\n`);
  isCutShort = true;
  process.exitCode = 1;
});
// If stderr is closed, the exit code still reports failure
process.stderr.on("error", () => {});

main(process.argv).then(
  (code) => {
    process.exitCode = isCutShort ? Math.max(1, code) : code;
  },
  async (error: unknown) => {
    const missing = (await import("./store/native-part.ts")).nativePartMissing(error);
    if (error instanceof UserError || missing !== undefined) {
      process.stderr.write(`openhook-otel: ${safeText(missing ?? (error as UserError).message)}\n`);
      process.exitCode = error instanceof UserError ? error.exitCode : 1;
    } else {
      process.stderr.write(`${safeText(error instanceof Error ? (error.stack ?? error.message) : String(error))}\n`);
      process.exitCode = 1;
    }
  },
);

// --- internal ---

async function main(argv: readonly string[]): Promise<number> {
  let exitCode = 0;
  const done = async (code: Promise<number>): Promise<void> => {
    exitCode = await code;
  };
  const program = commands(done);
  try {
    await program.parseAsync([...argv]);
  } catch (error) {
    // Commander has printed the error already; it exits 0 for --help and --version, otherwise the input was wrong
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    throw error;
  }
  return exitCode;
}

function commands(done: (code: Promise<number>) => Promise<void>): Command {
  const program = new Command("openhook-otel")
    .description(
      "See what AI coding agents really do: their hooks and transcripts as OpenTelemetry traces and metrics.",
    )
    .version(VERSION, "-V, --version")
    .helpCommand(false)
    .addHelpText("after", `\n${EXIT_CODES}`)
    .showHelpAfterError("(--help lists commands and options)")
    .exitOverride();
  const scope = () =>
    new Option(
      "--scope <scope>",
      "whose settings to change (default: user, or project if the agent has no user settings)",
    ).choices(["user", "project"]);

  program
    .command("enable")
    .description("register the hook with agents; their next session is recorded")
    .argument("[agents...]", "e.g. claude-code (default: choose from the agents found on this machine)")
    .addOption(scope())
    .option("-y, --yes", "do not ask; without agent names, enable all that are found", false)
    .option("--dry-run", "show what would change, without changing it", false)
    .action(async (names: string[], options) => {
      const [{ enable }, lookup] = await Promise.all([import("./commands/set-up.ts"), agentLookup()]);
      await done(enable(names, { ...options, hookSource }, context, lookup));
    });

  program
    .command("disable")
    .description("remove the hook and restore the agents' settings")
    .argument("[agents...]", "e.g. claude-code (default: all enabled agents)")
    .addOption(scope())
    .option("-y, --yes", "do not ask, even if no agent is named", false)
    .option("--dry-run", "show what would change, without changing it", false)
    .action(async (names: string[], options) => {
      const [{ disable }, lookup] = await Promise.all([import("./commands/set-up.ts"), agentLookup()]);
      await done(disable(names, options, context, lookup));
    });

  program
    .command("status")
    .description("show installed hooks, the queue and the last delivery")
    .option("--json", "print JSON", false)
    .action(async (options) => done((await import("./commands/read-and-repair.ts")).status(options, context)));

  program
    .command("doctor")
    .description("check everything from the agents to the backend, and say what to do")
    .option("--fix", "fix what is safe to fix", false)
    .option("--json", "print JSON", false)
    .action(async (options) => {
      const [{ doctor }, lookup] = await Promise.all([import("./commands/read-and-repair.ts"), agentLookup()]);
      await done(doctor({ ...options, hookSource }, context, lookup));
    });

  program
    .command("sessions")
    .description("list sessions, newest first")
    .option("--limit <n>", "number of sessions", wholeNumber, 20)
    .option("--all", "also sessions that were started and never used", false)
    .option("--json", "print JSON", false)
    .action(async (options) => done((await import("./commands/read-and-repair.ts")).sessions(options, context)));

  program
    .command("show")
    .description("show a session as a waterfall: turns, model calls, tools, tokens and cost")
    .argument("[session]", "session id, or its beginning (default: the newest session)")
    .option("--json", "print JSON", false)
    .option("--envelopes", "print OpenHook envelopes, one JSON line each", false)
    .action(async (session: string | undefined, options) =>
      done((await import("./commands/read-and-repair.ts")).show(session, options, context)),
    );

  program
    .command("view")
    .description("show sessions, usage and tools in your browser; the page is served on this machine only")
    .option("--port <n>", "port to listen on (default: any free port)", portNumber, 0)
    .option("--no-open", "print the address, do not open a browser")
    .option("--print-url", "print only the address, do not open a browser", false)
    .action(async (options) =>
      done((await import("./commands/view.ts")).view({ ...options, packageRoot, stop: interruption() }, context)),
    );

  program
    .command("report")
    .description("sum up tokens, cost, turns and tools (default: by day, agent and model)")
    .argument("[by...]", "one or more of hour, day, week, month, agent, model, repository, tool, session")
    .option("--since <time>", "age or time, e.g. 24h, 2026-11-14, 2026-11-14T09:00 (default: 30 days)")
    .option("--until <time>", "age or time (default: now)")
    .option("--agent <agent>", "only this agent, e.g. claude-code")
    .option("--model <model>", "only this model")
    .option("--repository <name>", "only this repository")
    .option("--limit <n>", "maximum number of rows", wholeNumber)
    .option("--json", "print JSON", false)
    .option("--csv", "print CSV", false)
    .action(async (words: string[], options) =>
      done((await import("./commands/read-and-repair.ts")).report(words, options, context)),
    );

  program
    .command("explain")
    .description("explain where a session's time and money went")
    .argument("[session]", "session id, or its beginning (default: the newest session)")
    .option("--json", "print JSON", false)
    .action(async (session: string | undefined, options) =>
      done((await import("./commands/read-and-repair.ts")).explain(session, options, context)),
    );

  program
    .command("drain")
    .description("convert queued events and export them; hooks run this automatically")
    .option("--end-idle", "end all open sessions now", false)
    .option("-q, --quiet", "print nothing", false)
    .option("--json", "print JSON", false)
    .action(async (options) => done((await import("./commands/drain.ts")).drain(options, context)));

  program
    .command("run")
    .description("run an agent, then drain before exiting with its exit code; for CI jobs and containers that end")
    .argument("<command...>", "after --: the agent's program and its arguments")
    .action(async (command: string[]) => done((await import("./commands/read-and-repair.ts")).run(command, context)));

  program
    .command("import")
    .description("import past sessions of the agents on this machine; nothing is exported unless you ask")
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
      done((await import("./commands/import.ts")).importPast(names, { ...options, stop: interruption() }, context)),
    );

  program
    .command("preview")
    .description("show exactly what the next drain would send, without sending it")
    .argument("[session]", "session id, or its beginning (default: everything queued)")
    .option("--json", "print the request bodies as OTLP/JSON, one per line", false)
    .action(async (session: string | undefined, options) =>
      done((await import("./commands/read-and-repair.ts")).preview(session, options, context)),
    );

  program
    .command("reconcile")
    .description("compare transcripts, store, deliveries and backends token by token; exits 1 if they differ")
    .argument("[session]", "session id, or its beginning (default: sessions of the last 7 days)")
    .option("--since <time>", "age or time, e.g. 24h, 2026-11-14, 2026-11-14T09:00")
    .option("--until <time>", "age or time (default: now)")
    .option("--prometheus <url>", "also query Prometheus, e.g. http://127.0.0.1:9090")
    .option("--jaeger <url>", "also query Jaeger, e.g. http://127.0.0.1:16686")
    .option("--tempo <url>", "also query Tempo, e.g. http://127.0.0.1:3200")
    .option("--sampled", "allow whole traces to be missing, because the gateway samples", false)
    .option("--json", "print JSON", false)
    .action(async (session: string | undefined, options) =>
      done((await import("./commands/read-and-repair.ts")).reconcile(session, options, context)),
    );

  program
    .command("replay")
    .description("retry quarantined events, e.g. after an update")
    .option("--dry-run", "show what would be retried, without moving it", false)
    .action(async (options) => done((await import("./commands/read-and-repair.ts")).replay(options, context)));

  program
    .command("prune")
    .description("remove old sessions from the store; totals stay, and nothing is counted again")
    .option("--older-than <age>", "age of the last activity, e.g. 90d, 12w, 36h (default: store.retentionDays)")
    .option("--quarantine", "also remove quarantined payloads of that age", false)
    .option("--dry-run", "show what would be removed, without removing it", false)
    .option("--json", "print JSON", false)
    .action(async (options) => done((await import("./commands/read-and-repair.ts")).prune(options, context)));

  program
    .command("convert")
    .description("convert native payloads, or a recording of them, to OpenHook v0.1 envelopes, one JSON line each")
    .argument("[file]", "file to read (default, or -: stdin)")
    .option("--source <agent>", "agent that sent the payloads, if they do not say")
    .option("--event <name>", "native event name, if the payloads do not say")
    .option("--validate", "check envelopes instead: print errors with line numbers, and the conformance level", false)
    .option("--discovery <file>", "with --validate: the .openhook.json that the sender used")
    .action(async (file: string | undefined, options) =>
      done((await import("./commands/set-up.ts")).convert(file, options, context)),
    );

  program
    .command("wrap")
    .description("record every run of gh, aws, kubectl, docker, … as a tool call")
    .argument("[programs...]", "e.g. gh aws kubectl docker (default: list wrapped programs)")
    .option("--directory <path>", "directory for the wrappers; must come before the programs in PATH")
    .option("--dry-run", "show what would be done, without doing it", false)
    .action(async (names: string[], options) =>
      done((await import("./commands/set-up.ts")).wrap(names, { ...options, hookSource }, context)),
    );

  program
    .command("unwrap")
    .description("remove wrappers")
    .argument("[programs...]", "e.g. gh (default: all wrapped programs)")
    .option("--dry-run", "show what would be done, without doing it", false)
    .action(async (names: string[], options) =>
      done((await import("./commands/set-up.ts")).unwrap(names, options, context)),
    );

  program
    .command("stack")
    .description("write a compose file with Collector, Jaeger, Tempo, Prometheus and Grafana, and export to them")
    .option("--directory <path>", "directory for the files (default: beside the configuration file)")
    .option("--print", "print compose.yaml only", false)
    .option("-y, --yes", "set otlp.endpoint without asking", false)
    .option("--dry-run", "show what would change, without changing it", false)
    .option("--force", "overwrite files that you have changed", false)
    .option("--undo", "remove the files and restore otlp.endpoint", false)
    .action(async (options) => done((await import("./commands/set-up.ts")).stack(options, context, packageRoot)));

  const config = program.command("config").description("show or change settings").helpCommand(false);
  config
    .command("show", { isDefault: true })
    .description("show effective values and where each comes from")
    .option("--json", "print JSON", false)
    .action(async (options) => done(configure({ kind: "show", ...options })));
  config
    .command("get <key>")
    .description("print one effective value")
    .action(async (key: string) => done(configure({ kind: "get", key })));
  config
    .command("set <key> <value>")
    .description("write a setting to the configuration file, e.g. set otlp.endpoint http://127.0.0.1:4318")
    .action(async (key: string, value: string) => done(configure({ kind: "set", key, value })));
  config
    .command("unset <key>")
    .description("remove a setting from the configuration file")
    .action(async (key: string) => done(configure({ kind: "unset", key })));
  config
    .command("path")
    .description("print the path of the configuration file")
    .action(async () => done(configure({ kind: "path" })));

  program
    .command("hook")
    .description("record one event from stdin; run by agents; always exits 0")
    .option("--source <agent>", "agent that sends it, e.g. claude-code")
    .option("--event <name>", "native event name, if the payload does not say")
    .option("--reply <text>", "text to print afterwards (default: the reply that the agent expects)")
    .option("--payload-env", "read the event from USER_PROMPT instead of stdin", false)
    .option("--payload-argument", "read the event from the last argument instead of stdin", false)
    .addOption(new Option("--drain <when>", "start a drain afterwards").choices(["yes", "if-waiting", "no"]));

  program
    .command("demo")
    .description("replay recorded sessions through the real hook, drain and exporter, and show what arrived")
    .option("--keep", "keep the demo's home directory and print its path", false)
    .action(async (options) =>
      done((await import("./commands/read-and-repair.ts")).demo(options, context, packageRoot)),
    );

  return program;
}

async function configure(action: import("./commands/config.ts").ConfigAction): Promise<number> {
  return (await import("./commands/set-up.ts")).config(action, context);
}

async function agentLookup() {
  const { allAgents, findAgent } = await import("./agents/registry.ts");
  return { list: allAgents, find: findAgent };
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
