import { spawn } from "node:child_process";
import { confirm, isCancel } from "@clack/prompts";
import { findProgram } from "#changes/git/git.ts";
import type { Context } from "#config/context.ts";
import { readRepository } from "#config/repository/read.ts";
import { DEFAULT_BRANCHES } from "#core/rules/change-facts.ts";
import { UserError } from "#kit/errors.ts";
import { printable } from "#kit/text/terminal.ts";
import { changeComment } from "#show/report/change-comment.ts";
import { changeReport } from "#show/report/change-report.ts";
import { type NamedChange, pullRequestOf } from "#show/report/find-change.ts";
import { withOpenStore } from "#store/sessions/open-store.ts";
import { describeChange, namedChange } from "./named-change.ts";
import { isInteractive, promptStreams } from "./prompts.ts";
import { type RefreshOption, refreshed } from "./refreshed.ts";

interface PrCommentOptions extends RefreshOption {
  /** Only print; do not offer to give the text to `gh`. */
  readonly dryRun: boolean;
}

/**
 * `openhook-otel pr-comment`: what a pull request cost, as Markdown on stdout. In a terminal it then asks whether the user's `gh` should
 * post it; without one it starts nothing.
 *
 * @param name pull request, branch or commit; without it the branch that is checked out
 * @returns exit code: 0; 1 if `gh` failed
 * @throws UserError if there is no such change, or nothing is known of it, so that a pipe posts nothing
 */
export async function prComment(
  name: string | undefined,
  options: PrCommentOptions,
  context: Context,
): Promise<number> {
  const { agents } = await refreshed(options, context);
  const wanted = name ?? (await checkedOutBranch(context));
  const change = await changeOf(wanted, context);
  const comment = withOpenStore(context, (db) => changeComment(changeReport(db, agents, change), agents));
  if (comment === undefined) {
    const isDefault = change.kind === "branch" && DEFAULT_BRANCHES.has(change.name);
    const why = isDefault
      ? "work on it is no change; name a pull request, branch or commit"
      : "there is nothing to say";
    throw new UserError("E_EMPTY", `no work counts for ${describeChange(change)}: ${why}`, 1);
  }
  context.stdout.write(comment);
  if (options.dryRun || !isInteractive(context)) return 0;
  return offerToPost(comment, change, context);
}

// --- internal ---

async function checkedOutBranch({ cwd, places }: Context): Promise<string> {
  const branch = (await readRepository(cwd, places.home))?.branch;
  if (branch !== undefined) return branch;
  throw new UserError("E_EMPTY", "no branch is checked out here: name a pull request, branch or commit", 1);
}

/** The named change. A branch is replaced by its pull request, which also has work that was done on other branches or machines. */
async function changeOf(name: string, context: Context): Promise<NamedChange> {
  const change = await namedChange(name, context);
  const pull = change.kind === "branch" ? withOpenStore(context, (db) => pullRequestOf(db, change)) : undefined;
  return pull ?? change;
}

/** Shows the command of `gh`, and runs it if the user agrees. If no pull request is named, `gh` uses that of the current branch. */
async function offerToPost(comment: string, { kind, url, name }: NamedChange, context: Context): Promise<number> {
  const { env, cwd, places, platform, stderr } = context;
  const target = url ?? (kind === "branch" ? name : undefined);
  const args = ["pr", "comment", ...(target === undefined ? [] : [target]), "--body-file", "-"];
  const gh = findProgram("gh", env, { projects: [cwd], home: places.home }, platform);
  if (gh === undefined) {
    stderr.write("gh is not installed: paste the text yourself\n");
    return 0;
  }
  const message = `Post this with "gh ${args.map(printable).join(" ")}"?`;
  const choice = await confirm({ message, initialValue: false, ...promptStreams(context) });
  if (isCancel(choice) || !choice) return 0;
  return new Promise((done) => {
    const child = spawn(gh, args, { cwd, env: { ...env }, stdio: ["pipe", "inherit", "inherit"] });
    child.on("error", (error) => {
      stderr.write(`gh cannot be started: ${printable(error.message)}\n`);
      done(1);
    });
    child.on("close", (code) => done(code === 0 ? 0 : 1));
    // gh may end without reading everything
    child.stdin.on("error", () => {});
    child.stdin.end(comment);
  });
}
