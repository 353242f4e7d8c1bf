import { constants, setPriority } from "node:os";
import { type Checked, checkOutcomes } from "#changes/check-outcomes.ts";
import { dueCommits } from "#changes/due-commits.ts";
import { outcomeLines, outcomesJson } from "#changes/outcome-text.ts";
import { DrainLog } from "#collect/drain/log.ts";
import { restartWithoutRepositoryVariables } from "#collect/drain/repository-environment.ts";
import type { Context } from "#config/context.ts";
import { loadConfig } from "#config/load.ts";
import { messageOf } from "#kit/errors.ts";
import { printLines } from "#kit/text/ascii.ts";
import { terminalOf } from "#kit/text/terminal.ts";
import { commitsWithOutcomes, summariesOf } from "#store/outcomes.ts";
import { withOpenStore } from "#store/sessions/open-store.ts";
import { drainNow } from "./drain.ts";
import { drainDeps } from "./drain-deps.ts";
import { noStoreMessage } from "./no-store-message.ts";

interface OutcomesOptions {
  /** Also commits whose outcome does not change any more. */
  readonly all: boolean;
  /** Print nothing; problems go to the log only. For the daily run that a drain starts. */
  readonly quiet: boolean;
  readonly json: boolean;
}

/**
 * `openhook-otel outcomes`: asks git what became of the agents' commits, stores it, and prints sums by repository. Nothing is fetched.
 *
 * @returns exit code: 0; 1 when the results could not be stored
 * @throws UserError if there is a store that cannot be read
 */
export async function outcomes(options: OutcomesOptions, context: Context): Promise<number> {
  if (options.quiet) {
    if (await restartWithoutRepositoryVariables(context, ["--outcomes"])) return 0;
    yieldToOthers();
  }
  const due = withOpenStore(context, (db) => dueCommits(db, context.now(), options.all));
  if (due === undefined) {
    if (!options.quiet) context.stdout.write(options.json ? "null\n" : `${await noStoreMessage(context)}\n`);
    return 0;
  }
  const { ticketPattern } = (await loadConfig(context)).config.changes;
  const checked = await checkOutcomes(due, context, options.quiet ? DAILY_MS : BY_HAND_MS, ticketPattern);
  const problem = await store(checked, context);
  if (options.quiet) return problem === undefined ? 0 : 1;
  const commits = withOpenStore(context, commitsWithOutcomes) ?? [];
  const problems = problem === undefined ? checked.problems : [...checked.problems, problem];
  const summaries = summariesOf(commits);
  if (options.json) context.stdout.write(`${JSON.stringify(outcomesJson(commits, summaries, problems))}\n`);
  else printLines(context, outcomeLines(summaries, problems, terminalOf(context)));
  return problem === undefined ? 0 : 1;
}

// --- internal ---

/** In the background, beside agents that work. */
const DAILY_MS = 60_000;
const BY_HAND_MS = 10 * 60_000;

/** Git inherits the priority. */
function yieldToOthers(): void {
  try {
    setPriority(constants.priority.PRIORITY_LOW);
  } catch {
    // Not allowed here
  }
}

/** Stores the results in a drain, which also counts and sends them. @returns why that failed */
async function store({ outcomes, edited, problems }: Checked, context: Context): Promise<string | undefined> {
  const log = new DrainLog(context);
  for (const line of problems) log.line(`outcomes: ${line}`);
  try {
    if (outcomes.length === 0) return undefined;
    const found = { outcomes, edited };
    const report = await drainNow(await drainDeps(context, log.line), {
      endIdle: false,
      quiet: false,
      outcomes: found,
    });
    return report === undefined ? "another drain is running and did not finish; try again later" : undefined;
  } catch (error) {
    log.line(messageOf(error));
    return messageOf(error);
  } finally {
    await log.flush();
  }
}
