import type { Context } from "#config/context.ts";
import { UserError } from "#kit/errors.ts";
import { printLines } from "#kit/text/ascii.ts";
import { terminalOf, wrapped, writeLines } from "#kit/text/terminal.ts";
import { inTimeZone, timeZoneName } from "#kit/text/times.ts";
import { targetOf } from "#setup/registration/settings.ts";
import { configuredKind, configuredNames } from "#show/report/configured.ts";
import { monthOutlooks, outlookJson, outlookLines } from "#show/report/month.ts";
import { isOfThisMonth, type QuestionOptions, questionOf } from "#show/report/question.ts";
import { namedAgent } from "#show/report/text/unknown-name.ts";
import { unreadJson, unreadText } from "#show/report/text/unread.ts";
import { noUsageText } from "#show/report/text/usage-notes.ts";
import { usageReportLines } from "#show/report/text/usage-report.ts";
import { csvLines, reportJson } from "#show/report/usage-data.ts";
import { EMPTY_REPORT, usageReport } from "#show/report/usage-report.ts";
import { withOpenStore } from "#store/sessions/open-store.ts";
import { spanSettings } from "#store/sessions/span-settings.ts";
import { noStoreMessage } from "./no-store-message.ts";
import { type ReadContext, type RefreshOption, refreshed } from "./refreshed.ts";
import { sessionTitles } from "./session-titles.ts";
import { subscribed } from "./subscribed.ts";
import type { TitlesOption } from "./titles.ts";
import { printUnreadHere, unreadHere, unreadIn } from "./unread.ts";

export type ReportOptions = QuestionOptions & RefreshOption & TitlesOption & { readonly blocks?: boolean };

/**
 * `openhook-otel report`: usage by time, agent, model, repository, tool, session, commit or change.
 *
 * @param by dimensions; none: days, with summaries by agent and model
 * @returns exit code: 0, also when there is no usage
 * @throws UserError for wrong input, and when the store cannot be read
 */
export async function report(by: readonly string[], options: ReportOptions, context: Context): Promise<number> {
  if (options.blocks === true) return (await import("./report-blocks.ts")).reportBlocks(by, options, context);
  if (by.some((word) => /^hooks?$/.test(word)))
    return (await import("./report-hooks.ts")).reportHooks(by, options, context);
  if (options.json && options.csv) throw new UserError("E_USAGE", "choose one of --json and --csv");
  const { timeZone } = options;
  // What is wrong is said first. The import has no time zone
  await inTimeZone(timeZone, () => questionOf(by, options, context.now()));
  const read = await refreshed(options, context);
  return inTimeZone(timeZone, () => print(by, options, read, context));
}

// --- internal ---

async function print(
  by: readonly string[],
  options: ReportOptions,
  { behind, agents, loaded }: ReadContext,
  context: Context,
): Promise<number> {
  const asked = questionOf(by, options, context.now());
  const isData = options.json || options.csv;
  const subscriptions = await subscribed(context, agents);
  const kind = configuredKind(asked.query.by);
  const more = {
    spans: spanSettings({ loaded }),
    ...(kind !== undefined && { configured: await configuredNames(agents, kind, targetOf(context)) }),
  };
  const found = withOpenStore(context, (db) => {
    const question = {
      ...asked,
      query: { ...asked.query, home: context.places.home, ...namedAgent(options.agent, agents, db) },
    };
    const result = usageReport(db, agents, question, context.now(), isData, subscriptions, more);
    if (result === undefined) return undefined;
    const outlook = isOfThisMonth(question)
      ? monthOutlooks(db, { agents }, loaded.config.budget, { nowMs: context.now() })
      : undefined;
    return {
      question,
      result,
      outlook,
      advice: result.total === undefined && !isData ? noUsageText(db, agents, question) : "",
    };
  });
  const question = found?.question ?? {
    ...asked,
    query: { ...asked.query, ...namedAgent(options.agent, agents, undefined) },
  };
  const result = found?.result ?? EMPTY_REPORT;
  const unread = found === undefined ? undefined : await unreadIn(question.query, { loaded }, context);
  if (options.json) {
    const unread_formats = await unreadHere({ agents, loaded }, context, question.query.agent);
    context.stdout.write(
      `${JSON.stringify({ ...reportJson(question, result, timeZoneName()), ...(found?.outlook && { outlook: found.outlook.map(outlookJson) }), ...unreadJson(unread), unread_formats })}\n`,
    );
  } else if (options.csv) writeLines(context.stdout, csvLines(question.query, result.rows));
  else if (found === undefined) context.stdout.write(`${await noStoreMessage(context, behind)}\n`);
  else if (result.total === undefined) context.stdout.write(`${found.advice}\n`);
  else {
    const terminal = terminalOf(context);
    const titles = await sessionTitles(result.rows, options, { agents, loaded }, context);
    printLines(context, usageReportLines(question, result, terminal, titles));
    printLines(context, outlookLines(found.outlook ?? [], terminal));
    if (unread !== undefined) printLines(context, wrapped({ text: "" }, unreadText(unread), terminal));
  }
  if (!isData) await printUnreadHere({ agents, loaded }, context, question.query.agent);
  return 0;
}
