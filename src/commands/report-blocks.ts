import { allReportedLimits } from "#collect/drain/rate-limits.ts";
import type { Context } from "#config/context.ts";
import { printLines } from "#kit/text/ascii.ts";
import { terminalOf } from "#kit/text/terminal.ts";
import { inTimeZone, timeZoneName } from "#kit/text/times.ts";
import { blockQuestionOf, blocksOf, NO_BLOCKS, queryOf } from "#show/report/blocks/blocks.ts";
import { blocksJson } from "#show/report/blocks/json.ts";
import { blockLines } from "#show/report/blocks/text.ts";
import type { QuestionOptions } from "#show/report/question.ts";
import { namedAgent } from "#show/report/text/unknown-name.ts";
import { noUsageText } from "#show/report/text/usage-notes.ts";
import { sessionFilesOf } from "#store/positions.ts";
import { sessionCounts } from "#store/queries.ts";
import { withOpenStore } from "#store/sessions/open-store.ts";
import { noStoreMessage } from "./no-store-message.ts";
import { type ReadContext, type RefreshOption, refreshed } from "./refreshed.ts";
import { subscribed } from "./subscribed.ts";

/**
 * `openhook-otel report --blocks`: usage by the five-hour and weekly windows in which providers limit it.
 *
 * @param words dimensions: refused
 * @returns exit code: 0, also when there is no usage
 * @throws UserError for options that cannot be combined, and when the store cannot be read
 */
export async function reportBlocks(
  words: readonly string[],
  options: QuestionOptions & RefreshOption,
  context: Context,
): Promise<number> {
  const { timeZone } = options;
  await inTimeZone(timeZone, () => blockQuestionOf(words, options, context.now()));
  const read = await refreshed(options, context);
  return inTimeZone(timeZone, () => print(words, options, read, context));
}

// --- internal ---

async function print(
  words: readonly string[],
  options: QuestionOptions,
  { behind, agents }: Pick<ReadContext, "behind" | "agents">,
  context: Context,
): Promise<number> {
  const nowMs = context.now();
  const asked = blockQuestionOf(words, options, nowMs);
  const known = withOpenStore(context, (db) => {
    const of = agents.map(
      ({ source, rateLimitsOf }) => [source, rateLimitsOf ? sessionFilesOf(db, source) : []] as const,
    );
    return { agent: namedAgent(options.agent, agents, db), files: new Map(of) };
  });
  const question = { ...asked, ...(known?.agent ?? namedAgent(options.agent, agents, undefined)) };
  const files = known?.files;
  const limits = await allReportedLimits(agents, (source) => files?.get(source) ?? [], context.places.stateDir);
  const subscriptions = await subscribed(context, agents);
  const found = withOpenStore(context, (db) => {
    const report = blocksOf(db, agents, limits, question, subscriptions);
    const isEmpty = report.tables.every(({ total }) => total === undefined);
    if (isEmpty && sessionCounts(db).sessions === 0) return undefined;
    return { report, advice: isEmpty ? noUsageText(db, agents, { query: queryOf(question, nowMs) }) : undefined };
  });
  const report = found?.report;
  if (options.json) {
    context.stdout.write(`${JSON.stringify(blocksJson(question, report ?? NO_BLOCKS, nowMs, timeZoneName()))}\n`);
  } else if (report === undefined) context.stdout.write(`${await noStoreMessage(context, behind)}\n`);
  else if (found?.advice !== undefined) context.stdout.write(`${found.advice}\n`);
  else printLines(context, blockLines(question, report, nowMs, terminalOf(context)));
  return 0;
}
