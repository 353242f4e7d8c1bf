import { dirname, join } from "node:path";
import { Command, CommanderError, Option } from "commander";
import { homeDirectory, lastingNode, placesOf } from "./config/places.ts";
import { type Context, UserError } from "./context.ts";
import { safeOutput, safeText } from "./safe-output.ts";
import { VERSION } from "./version.ts";

/** Exit codes, the same for every command: shown in the help and in the README. */
const EXIT_CODES = "Exit codes: 0 done, 1 it failed (the message says what to do), 2 wrong input or configuration.";

const packageRoot = dirname(__dirname);
const hookSource = join(packageRoot, "dist", process.platform === "win32" ? "hook.cjs" : "hook.sh");
const context: Context = {
  env: process.env,
  // asked for by those who need it: it may have been deleted
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

let isCutShort = false;
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  // A reader that goes away early (`| head`) is no error of ours, and what was begun is brought to its end all the same
  if (error.code === "EPIPE") return;
  if (!isCutShort) process.stderr.write(`openhook-otel: cannot write all of the output: ${safeText(error.message)}\n`);
  isCutShort = true;
  process.exitCode = 1;
});
// Whom nobody can tell what went wrong, the exit code tells
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
    // Commander has told the user already; its own exits are wrong input, or help and version that were asked for
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
    .showHelpAfterError("(openhook-otel --help shows what there is)")
    .exitOverride();
  const scope = () =>
    new Option(
      "--scope <scope>",
      "whose settings; without it the user's, or the project's where an agent has no others",
    ).choices(["user", "project"]);

  program
    .command("enable")
    .description("register our hook with agents, so that their next session is collected")
    .argument("[agents...]", "e.g. claude-code; without one, you choose from those found on this machine")
    .addOption(scope())
    .option("-y, --yes", "do not ask; where no agent is named, take all that are found", false)
    .option("--dry-run", "show what would change, write nothing", false)
    .action(async (names: string[], options) => {
      const [{ enable }, lookup] = await Promise.all([import("./commands/enable.ts"), agentLookup()]);
      await done(enable(names, { ...options, hookSource }, context, lookup));
    });

  program
    .command("disable")
    .description("take our hook out again; settings come back as they were")
    .argument("[agents...]", "without one, all that were enabled")
    .addOption(scope())
    .option("-y, --yes", "do not ask, also where no agent is named", false)
    .option("--dry-run", "show what would change, write nothing", false)
    .action(async (names: string[], options) => {
      const [{ disable }, lookup] = await Promise.all([import("./commands/disable.ts"), agentLookup()]);
      await done(disable(names, options, context, lookup));
    });

  program
    .command("status")
    .description("what is installed, what waits, and how the last drain went")
    .option("--json", "as JSON", false)
    .action(async (options) => done((await import("./commands/status.ts")).status(options, context)));

  program
    .command("doctor")
    .description("try everything between the agents and the backend, and say what to do")
    .option("--fix", "mend what can be mended without a question", false)
    .option("--json", "as JSON", false)
    .action(async (options) => {
      const [{ doctor }, lookup] = await Promise.all([import("./commands/doctor.ts"), agentLookup()]);
      await done(doctor({ ...options, hookSource }, context, lookup));
    });

  program
    .command("sessions")
    .description("list sessions, newest first")
    .option("--limit <n>", "how many", wholeNumber, 20)
    .option("--json", "as JSON", false)
    .action(async (options) => done((await import("./commands/sessions.ts")).sessions(options, context)));

  program
    .command("show")
    .description("show a session as a waterfall: turns, model calls, tools, tokens and cost")
    .argument("[session]", "session id or the beginning of one; without it, the newest")
    .option("--json", "as JSON", false)
    .option("--envelopes", "as OpenHook envelopes, one JSON line each", false)
    .action(async (session: string | undefined, options) =>
      done((await import("./commands/show.ts")).show(session, options, context)),
    );

  program
    .command("view")
    .description("show sessions, usage and tools as a page in your browser: on this machine, for you alone")
    .option("--port <n>", "where it listens; without it, any port that is free", portNumber, 0)
    .option("--no-open", "print the address, open nothing")
    .option("--print-url", "print the address and nothing else, open nothing", false)
    .action(async (options) =>
      done((await import("./commands/view.ts")).view({ ...options, packageRoot, stop: interruption() }, context)),
    );

  program
    .command("report")
    .description("sum up tokens, cost, turns and tools; without a word by day, agent and model")
    .argument("[by...]", "hour, day, week, month, agent, model, repository, tool, session; several, too")
    .option("--since <time>", "an age or a time, e.g. 24h, 2026-11-14, 2026-11-14T09:00; without it, 30 days")
    .option("--until <time>", "the same; without it, now")
    .option("--agent <agent>", "of one agent, e.g. claude-code")
    .option("--model <model>", "of one model")
    .option("--repository <name>", "in one repository")
    .option("--limit <n>", "rows at most", wholeNumber)
    .option("--json", "as JSON", false)
    .option("--csv", "as CSV", false)
    .action(async (words: string[], options) =>
      done((await import("./commands/report.ts")).report(words, options, context)),
    );

  program
    .command("explain")
    .description("where the minutes and the money of a session went, in plain words")
    .argument("[session]", "session id or the beginning of one; without it, the newest")
    .option("--json", "as JSON", false)
    .action(async (session: string | undefined, options) =>
      done((await import("./commands/explain.ts")).explain(session, options, context)),
    );

  program
    .command("drain")
    .description("convert what waits and send it; hooks start this by themselves")
    .option("--end-idle", "end open sessions now", false)
    .option("-q, --quiet", "print nothing", false)
    .option("--json", "as JSON", false)
    .action(async (options) => done((await import("./commands/drain.ts")).drain(options, context)));

  program
    .command("import")
    .description("past sessions of the agents on this machine into the store; nothing of them is sent unless you ask")
    .argument("[agents...]", "e.g. claude-code; without one, all that keep their sessions")
    .option("--since <time>", "only sessions active since an age or a time, e.g. 90d, 2026-10-01")
    .option("--dry-run", "show what would be imported, write nothing", false)
    .option("--again", "read again what was imported before and not sent, as after an update", false)
    .option("--export", "also send what was imported, now or before, to otlp.endpoint", false)
    .option("--json", "as JSON", false)
    .action(async (names: string[], options) =>
      done((await import("./commands/import.ts")).importPast(names, { ...options, stop: interruption() }, context)),
    );

  program
    .command("preview")
    .description("convert what waits and show what the next drain would send, to the byte; sends nothing")
    .argument("[session]", "session id or the beginning of one; without it, everything that waits")
    .option("--json", "the bodies of the requests, OTLP/JSON, one a line", false)
    .action(async (session: string | undefined, options) =>
      done((await import("./commands/preview.ts")).preview(session, options, context)),
    );

  program
    .command("reconcile")
    .description("compare transcripts, store, delivery and what backends answer, to the token; exits 1 if they differ")
    .argument("[session]", "session id or the beginning of one; without it, those of the last 7 days")
    .option("--since <time>", "an age or a time, e.g. 24h, 2026-11-14, 2026-11-14T09:00")
    .option("--until <time>", "the same; without it, now")
    .option("--prometheus <url>", "also ask Prometheus, e.g. http://127.0.0.1:9090")
    .option("--jaeger <url>", "also ask Jaeger, e.g. http://127.0.0.1:16686")
    .option("--tempo <url>", "also ask Tempo, e.g. http://127.0.0.1:3200")
    .option("--sampled", "the gateway samples: a trace may be missing whole", false)
    .option("--json", "as JSON", false)
    .action(async (session: string | undefined, options) =>
      done((await import("./commands/reconcile.ts")).reconcile(session, options, context)),
    );

  program
    .command("replay")
    .description("try again what no agent was recognised in, e.g. after an update")
    .option("--dry-run", "show what would be tried again, move nothing", false)
    .action(async (options) => done((await import("./commands/replay.ts")).replay(options, context)));

  program
    .command("prune")
    .description("take old sessions out of the store; counters keep their sums, and nothing is ever counted again")
    .option("--older-than <age>", "since their last activity, e.g. 90d, 12w, 36h; without it, store.retentionDays")
    .option("--quarantine", "also remove payloads that were set aside this long ago", false)
    .option("--dry-run", "show what would go, remove nothing", false)
    .option("--json", "as JSON", false)
    .action(async (options) => done((await import("./commands/prune.ts")).prune(options, context)));

  program
    .command("convert")
    .description("native payloads, or a recording of them, to OpenHook v0.1 envelopes, one JSON line each")
    .argument("[file]", "- or nothing for stdin")
    .option("--source <agent>", "who sent them, where they do not say so")
    .option("--event <name>", "the agent's name of the event, where they do not say so")
    .option("--validate", "check envelopes instead: errors with line numbers, and the conformance level", false)
    .option("--discovery <file>", "with --validate: the .openhook.json through which they came")
    .action(async (file: string | undefined, options) =>
      done((await import("./commands/convert.ts")).convert(file, options, context)),
    );

  program
    .command("wrap")
    .description("put a wrapper before command-line programs, so that every call of them is collected")
    .argument("[programs...]", "e.g. gh aws kubectl docker; without one, what is wrapped")
    .option("--directory <path>", "where the wrappers go; PATH must have it before the programs")
    .option("--dry-run", "say what would be done, do nothing", false)
    .action(async (names: string[], options) =>
      done((await import("./commands/wrap.ts")).wrap(names, { ...options, hookSource }, context)),
    );

  program
    .command("unwrap")
    .description("take wrappers away again")
    .argument("[programs...]", "without one, all")
    .option("--dry-run", "say what would be done, do nothing", false)
    .action(async (names: string[], options) =>
      done((await import("./commands/unwrap.ts")).unwrap(names, options, context)),
    );

  program
    .command("stack")
    .description("write Collector, Jaeger, Tempo, Prometheus and Grafana for this machine, and send to them")
    .option("--directory <path>", "where the files go; without it, beside the configuration file")
    .option("--print", "print compose.yaml, do nothing", false)
    .option("-y, --yes", "do not ask before otlp.endpoint is set", false)
    .option("--dry-run", "show what would change, write nothing", false)
    .option("--force", "write over what you have changed", false)
    .option("--undo", "take the files away again, and put otlp.endpoint back", false)
    .action(async (options) => done((await import("./commands/stack.ts")).stack(options, context, packageRoot)));

  const config = program.command("config").description("show or change settings").helpCommand(false);
  config
    .command("show", { isDefault: true })
    .description("effective values and where each comes from")
    .option("--json", "as JSON", false)
    .action(async (options) => done(configure({ kind: "show", ...options })));
  config
    .command("get <key>")
    .description("one effective value")
    .action(async (key: string) => done(configure({ kind: "get", key })));
  config
    .command("set <key> <value>")
    .description("write a setting to the configuration file, e.g. set otlp.endpoint http://127.0.0.1:4318")
    .action(async (key: string, value: string) => done(configure({ kind: "set", key, value })));
  config
    .command("unset <key>")
    .description("take a setting out of the configuration file")
    .action(async (key: string) => done(configure({ kind: "unset", key })));
  config
    .command("path")
    .description("where the configuration file lies")
    .action(async () => done(configure({ kind: "path" })));

  program
    .command("hook")
    .description("take one event from stdin, as agents do; always exits 0")
    .option("--source <agent>", "who sends it, e.g. claude-code")
    .option("--event <name>", "the agent's name of the event, where the payload does not say")
    .option("--reply <text>", "what to print afterwards; without it, what that agent waits for")
    .option("--payload-env", "the event is in USER_PROMPT; stdin is left alone", false)
    .option("--payload-argument", "the event is the last argument; stdin is left alone", false)
    .addOption(new Option("--drain <when>", "start a drain afterwards").choices(["yes", "if-waiting", "no"]));

  program
    .command("demo")
    .description("replay recorded sessions through the real hook, drain and exporter, and show what arrived")
    .option("--keep", "keep the demo's home directory and say where it is", false)
    .action(async (options) => done((await import("./commands/demo.ts")).demo(options, context, packageRoot)));

  return program;
}

async function configure(action: import("./commands/config.ts").ConfigAction): Promise<number> {
  return (await import("./commands/config.ts")).config(action, context);
}

async function agentLookup() {
  const { allAgents, findAgent } = await import("./agents/registry.ts");
  return { list: allAgents, find: findAgent };
}

function workingDirectory(): string {
  try {
    return process.cwd();
  } catch (error) {
    throw new UserError("E_CWD", "the directory that you are in was deleted: change to another one", 1, {
      cause: error,
    });
  }
}

/** Aborted by Ctrl-C, and by whoever else asks us to end. */
function interruption(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => controller.abort());
  return controller.signal;
}

/** NaN for anything else: JavaScript takes ` 5`, `1e3` and `0x10` for numbers, too. */
function digits(text: string): number {
  return /^\d+$/.test(text) ? Number(text) : Number.NaN;
}

function portNumber(text: string): number {
  const value = digits(text);
  if (!(value <= 65_535))
    throw new UserError("E_USAGE", `--port takes a number from 0 to 65535, not ${JSON.stringify(text)}`);
  return value;
}

function wholeNumber(text: string): number {
  const value = digits(text);
  if (!(value >= 1))
    throw new UserError("E_USAGE", `--limit takes a whole number from 1 on, not ${JSON.stringify(text)}`);
  // The store counts no further
  return Math.min(value, Number.MAX_SAFE_INTEGER);
}
