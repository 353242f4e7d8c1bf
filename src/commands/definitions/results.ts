import { Argument, type Command, Option } from "commander";
import { CAPTURE_LEVELS } from "#core/model/capture.ts";
import { suggest } from "#kit/suggest.ts";
import { addAuditExport } from "./audit.ts";
import { GROUPS } from "./groups.ts";
import { NO_REFRESH } from "./option-texts.ts";
import type { CommandSetup } from "./setup.ts";

/** Adds the commands that compare, and those that show results elsewhere or later: in a status line, in a file, in what became of commits. */
export function addResultCommands(program: Command, { context, done, packageRoot }: CommandSetup): void {
  program
    .command("statusline")
    .helpGroup(GROUPS.see)
    .description("print one line with the cost of the session and of today, context use and limits")
    .argument("[agent]", "which agent puts its JSON on stdin, e.g. claude-code (default: none, for shells and tmux)")
    .argument("[end...]", "ignored if it begins with ;")
    .action(async (agent: string | undefined, end: string[]) =>
      done((await import("../read-and-repair.ts")).statusline(agent, end, context)),
    );

  program
    .command("compare")
    .helpGroup(GROUPS.see)
    .description("compare two models, agents, versions or repositories by sessions: is B better or worse than A")
    .addArgument(new Argument("<by>", "what A and B are").choices(["model", "agent", "version", "repository"]))
    .argument(
      "[names...]",
      "A and B; of versions also the agent before them, or only the agent (default: its newest version and the one before)",
    )
    .option("--since <time>", "only sessions that began since this age or time, e.g. 30d, 2026-11-14 (default: all)")
    .option("--until <time>", "only sessions that began before this age or time")
    .option("--agent <agent>", "only this agent, e.g. claude-code")
    .option("--repository <name>", "only this repository")
    .option("--json", "print JSON", false)
    .option("--no-refresh", NO_REFRESH)
    .action(async (by: "model" | "agent" | "version" | "repository", names: string[], options) =>
      done((await import("../read-and-repair.ts")).compare(by, names, options, context)),
    );

  program
    .command("digest")
    .helpGroup(GROUPS.see)
    .description("sum up the last whole week or month, to forward it; without names of people and sessions")
    .addArgument(new Argument("[period]", "what to sum up").choices(["week", "month"]).default("week"))
    .option("--from [url]", "of a team: the address of its Prometheus (default: reconcile.prometheus of your settings)")
    .option("--markdown", "print Markdown, for GitHub, Slack and mail", false)
    .option("--json", "print JSON", false)
    .option("--no-refresh", NO_REFRESH)
    .action(async (period: "week" | "month", options) =>
      done((await import("../read-and-repair.ts")).digest(period, options, context)),
    );

  program
    .command("outcomes")
    .helpGroup(GROUPS.see)
    .description(
      "show what became of the agents' commits: merged, reverted, open, gone, and lines that are still there",
    )
    .option("--all", "also check commits again whose outcome does not change any more", false)
    .option("--json", "print JSON, with each commit", false)
    .action(async (options) =>
      done((await import("../read-and-repair.ts")).outcomes({ ...options, quiet: false }, context)),
    );

  program
    .command("pr-comment")
    .helpGroup(GROUPS.see)
    .description(
      "print what a pull request cost, as Markdown for a comment; in a terminal, gh can post it if you agree",
    )
    .argument(
      "[name]",
      "pull request (#12, its URL), branch, ticket or commit (default: the branch that is checked out)",
    )
    .option("--dry-run", "only print the text, and do not offer to post it", false)
    .option("--no-refresh", NO_REFRESH)
    .addHelpText(
      "after",
      () => `\nTo post it without a question:\n  ${suggest("pr-comment")} | gh pr comment --body-file -`,
    )
    .action(async (name: string | undefined, options) =>
      done((await import("../read-and-repair.ts")).prComment(name, options, context)),
    );

  const group = program
    .command("export")
    .helpGroup(GROUPS.see)
    .description("write a session as a page in one file, to show it to others; needs no server and no network")
    .argument("[session]", "session id, or its beginning, also with .html (default: the newest session)")
    .option("-o, --output <file>", "path of the file; -: standard output (default: <session>.html)")
    .addOption(
      new Option("--capture <level>", "how much the file contains, at most what is stored")
        .choices(CAPTURE_LEVELS)
        .default("metadata"),
    )
    .option("--force", "replace an existing file", false)
    .option("--no-refresh", NO_REFRESH)
    .action(async (session: string | undefined, options) =>
      done((await import("../read-and-repair.ts")).exportSession(session, { ...options, packageRoot }, context)),
    );

  group
    .helpCommand(false)
    .command("agent-trace")
    .description(
      "write which files and lines of commits agents wrote, as Agent Trace records, one JSON line per commit",
    )
    .argument("[name]", "commit, pull request, ticket or branch (default: all commits of the repository you are in)")
    .option("-o, --output <file>", "path of the file (default: standard output)")
    .option("--force", "replace an existing file", false)
    .option("--no-refresh", NO_REFRESH)
    .action(async (name: string | undefined, _, command: Command) => {
      if (group.getOptionValueSource("capture") === "cli") command.error("error: --capture is for pages only");
      // Commander gives options that both have to `export`
      return done((await import("../read-and-repair.ts")).exportTrace(name, command.optsWithGlobals(), context));
    });

  addAuditExport(group, async (options) => done((await import("../read-and-repair.ts")).exportAudit(options, context)));
}
