import type { Command } from "commander";
import { GROUPS } from "./groups.ts";
import type { CommandSetup } from "./setup.ts";

/** Adds the commands that move, compare or remove collected data. */
export function addDataCommands(program: Command, { context, done }: CommandSetup): void {
  program
    .command("run")
    .helpGroup(GROUPS.send)
    .description("run an agent, then drain before exiting with its exit code; for CI jobs and containers that end")
    .argument("<command...>", "after --: the agent's program and its arguments")
    .action(async (command: string[]) => done((await import("../read-and-repair.ts")).run(command, context)));

  program
    .command("preview")
    .helpGroup(GROUPS.send)
    .description("show what the next drain would send, without sending it: a summary, then every request")
    .argument("[session]", "session id, or its beginning (default: everything queued)")
    .option("--json", "print only the request bodies, as OTLP/JSON, one per line", false)
    .action(async (session: string | undefined, options) =>
      done((await import("../read-and-repair.ts")).preview(session, options, context)),
    );

  program
    .command("reconcile")
    .helpGroup(GROUPS.send)
    .description("compare transcripts, store, deliveries and backends token by token; exits 1 if they differ")
    .argument("[session]", "session id, or its beginning (default: sessions of the last 7 days)")
    .option("--since <time>", "age or time, e.g. 24h, 2026-11-14, 2026-11-14T09:00")
    .option("--until <time>", "age or time (default: now)")
    .option("--prometheus <url>", "also query Prometheus, e.g. http://127.0.0.1:9090")
    .option("--jaeger <url>", "also query Jaeger, e.g. http://127.0.0.1:16686")
    .option("--tempo <url>", "also query Tempo, e.g. http://127.0.0.1:3200")
    .option("--sampled", "allow whole traces to be missing, because the gateway samples", false)
    .option(
      "--native",
      "also compare tokens and cost with what the agents' own telemetry says of the same calls",
      false,
    )
    .option("--json", "print JSON", false)
    .action(async (session: string | undefined, options) =>
      done((await import("../read-and-repair.ts")).reconcile(session, options, context)),
    );

  program
    .command("replay")
    .helpGroup(GROUPS.maintain)
    .description("retry quarantined events, e.g. after an update")
    .option("--dry-run", "show what would be retried, without moving it", false)
    .action(async (options) => done((await import("../read-and-repair.ts")).replay(options, context)));

  program
    .command("prune")
    .helpGroup(GROUPS.maintain)
    .description("remove old sessions from the store; totals stay, and nothing is counted again")
    .option("--older-than <age>", "age of the last activity, e.g. 90d, 12w, 36h (default: store.retentionDays)")
    .option("--quarantine", "also remove quarantined payloads of that age", false)
    .option("--dry-run", "show what would be removed, without removing it", false)
    .option("--json", "print JSON", false)
    .action(async (options) => done((await import("../read-and-repair.ts")).prune(options, context)));
}
