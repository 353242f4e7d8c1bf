import type { Context } from "#config/context.ts";
import { printLines } from "#kit/text/ascii.ts";
import { terminalOf, wrapped } from "#kit/text/terminal.ts";
import { targetOf } from "#setup/registration/settings.ts";
import { configuredNames } from "#show/report/configured.ts";
import { insights as found } from "#show/report/insights/insights.ts";
import { insightsJson } from "#show/report/insights/insights-json.ts";
import { type QuestionOptions, rangeOf } from "#show/report/question.ts";
import { insightLines } from "#show/report/text/insights.ts";
import { namedAgent } from "#show/report/text/unknown-name.ts";
import { unreadJson, unreadText } from "#show/report/text/unread.ts";
import { withOpenStore } from "#store/sessions/open-store.ts";
import { spanSettings } from "#store/sessions/span-settings.ts";
import { noStoreMessage } from "./no-store-message.ts";
import { type RefreshOption, refreshed } from "./refreshed.ts";
import { subscribed } from "./subscribed.ts";
import { unreadIn } from "./unread.ts";

interface InsightOptions
  extends Pick<QuestionOptions, "since" | "until" | "agent" | "repository" | "json">,
    RefreshOption {
  readonly limit: number;
}

/**
 * `openhook-otel insights`: what costs money again and again over all sessions, and what to change.
 *
 * @returns exit code: 0, also when nothing stands out
 * @throws UserError for wrong input, and when the store cannot be read
 */
export async function insights(options: InsightOptions, context: Context): Promise<number> {
  const nowMs = context.now();
  const { sinceMs, untilMs = nowMs } = rangeOf(options, [], nowMs);
  const { behind, agents, loaded } = await refreshed(options, context);
  const { repository } = options;
  const servers = await configuredNames(agents, "mcp", targetOf(context));
  const subscriptions = await subscribed(context, agents);
  const report = withOpenStore(context, (db) => {
    const chosen = { ...namedAgent(options.agent, agents, db), ...(repository !== undefined && { repository }) };
    const deps = { agents, settings: spanSettings({ loaded }), servers, subscriptions };
    return found(db, deps, { sinceMs, untilMs: Math.min(untilMs, nowMs), ...chosen });
  });
  const unread = report === undefined ? undefined : await unreadIn({ sinceMs }, { loaded }, context);
  if (options.json) {
    const document = report === undefined ? null : { ...insightsJson(report, options.limit), ...unreadJson(unread) };
    context.stdout.write(`${JSON.stringify(document)}\n`);
  } else if (report === undefined) context.stdout.write(`${await noStoreMessage(context, behind)}\n`);
  else {
    const terminal = terminalOf(context);
    printLines(context, insightLines(report, options.limit, terminal));
    if (unread !== undefined) printLines(context, wrapped({ text: "" }, unreadText(unread), terminal));
  }
  return 0;
}
