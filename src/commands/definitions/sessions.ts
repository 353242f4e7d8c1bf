import { type Command, Option } from "commander";
import { DIMENSIONS } from "#show/report/query.ts";
import { SESSION_SORTS } from "#store/session-sorts.ts";
import { portNumber, turnNumber, wholeNumber } from "../option-values.ts";
import { GROUPS } from "./groups.ts";
import { NO_REFRESH, NO_TITLES } from "./option-texts.ts";
import type { CommandSetup } from "./setup.ts";

/** Adds the commands that show sessions and usage. */
export function addSessionCommands(program: Command, setup: CommandSetup): void {
  addListCommands(program, setup);
  addView(program, setup);
  addSumCommands(program, setup);
}

/** Adds what the program does without a command. */
export function addOverview(program: Command, { context, done }: CommandSetup): void {
  program.action(async () => done((await import("../read-one.ts")).overview(context)));
}

// --- internal ---

/** Adds `sessions` and `show`. */
function addListCommands(program: Command, { context, done }: CommandSetup): void {
  program
    .command("sessions")
    .helpGroup(GROUPS.see)
    .description("list sessions, newest first")
    .argument("[period]", "today, yesterday, week or month (default: all)")
    .option("--limit <n>", "number of sessions", wholeNumber, 20)
    .option("--all", "also sessions that were started and never used", false)
    .option("--agent <agent>", "only this agent, e.g. claude-code")
    .option("--repository <name>", "only this repository")
    .option("--model <model>", "only sessions that used a model with this in its name, e.g. opus")
    .option("--tool <tool>", "only sessions that called a tool with this in its name, e.g. Bash")
    .option("--search <text>", "only sessions with this text in prompts, calls, answers or anything listed")
    .addOption(new Option("--sort <order>", "order of the list").choices(SESSION_SORTS).default("time"))
    .option("--since <time>", "only sessions active since this age or time, e.g. 7d, month, 2026-11-14")
    .option("--until <time>", "only sessions that began before this age or time")
    .option("--no-titles", NO_TITLES)
    .option("--json", "print JSON", false)
    .option("--no-refresh", NO_REFRESH)
    .action(async (period: string | undefined, options) =>
      done((await import("../sessions.ts")).sessions({ ...options, period }, context)),
    );

  program
    .command("show")
    .helpGroup(GROUPS.see)
    .description("show a session as a waterfall, or what a commit or pull request cost and the sessions behind it")
    .argument(
      "[name]",
      "session id, commit, or the beginning of one; latest; pull request (#12, its URL), ticket or branch (default: the newest session)",
    )
    .argument("[turn]", "number of a turn: only this turn", turnNumber)
    .option("--all", "every call of a long session, whose turns are closed otherwise", false)
    .option("--json", "print JSON", false)
    .option("--with-content", "with --json: what was asked and done, in one line each", false)
    .option("--no-refresh", NO_REFRESH)
    .option("--no-titles", NO_TITLES)
    .option("--envelopes", "print OpenHook envelopes, one JSON line each", false)
    .action(async (session: string | undefined, turn: number | undefined, options) =>
      done((await import("../read-one.ts")).show(session, { ...options, turn }, context)),
    );
}

function addView(program: Command, { context, done, packageRoot, interruption }: CommandSetup): void {
  program
    .command("view")
    .helpGroup(GROUPS.see)
    .description("show sessions, usage and tools in your browser; the page is served on this machine only")
    .option("--no-refresh", NO_REFRESH)
    .option("--no-titles", NO_TITLES)
    .option("--port <n>", "port to listen on (default: any free port)", portNumber, 0)
    .option("--no-open", "print the address, do not open a browser")
    .option("--print-url", "print only the address, do not open a browser", false)
    .action(async (options) =>
      done((await import("../view.ts")).view({ ...options, packageRoot, stop: interruption() }, context)),
    );
}

/** Adds `report` and `explain`. */
function addSumCommands(program: Command, { context, done }: CommandSetup): void {
  program
    .command("report")
    .helpGroup(GROUPS.see)
    .description("sum up tokens, cost, turns and tools (default: by day, agent and model)")
    .argument("[by...]", `today, yesterday; one or more of ${DIMENSIONS.join(", ")}; or hook, for your own hooks`)
    .option("--blocks", "by the five-hour and weekly windows of rate limits", false)
    .option("--since <time>", "age or time, e.g. 24h, today, 2026-11-14, 2026-11-14T09:00 (default: 30 days)")
    .option("--until <time>", "age or time (default: now)")
    .option(
      "--time-zone <zone>",
      "zone of days and hours, e.g. UTC, the billing day of providers (default: this machine's)",
    )
    .option("--agent <agent>", "only this agent, e.g. claude-code")
    .option("--model <model>", "only this model")
    .option("--repository <name>", "only this repository")
    .option("--limit <n>", "maximum number of rows", wholeNumber)
    .option("--json", "print JSON", false)
    .option("--no-refresh", NO_REFRESH)
    .option("--no-titles", NO_TITLES)
    .option("--csv", "print CSV", false)
    .action(async (words: string[], options) => done((await import("../report.ts")).report(words, options, context)));

  program
    .command("explain")
    .helpGroup(GROUPS.see)
    .description("explain where a session's time and money went")
    .argument("[session]", "session id, or its beginning (default: the newest session)")
    .option("--json", "print JSON", false)
    .option("--no-refresh", NO_REFRESH)
    .option("--no-titles", NO_TITLES)
    .action(async (session: string | undefined, options) =>
      done((await import("../read-one.ts")).explain(session, options, context)),
    );
}
