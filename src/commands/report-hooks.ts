import { movedRootsOf } from "#collect/transcripts/transcript-roots.ts";
import type { Context } from "#config/context.ts";
import { cardOf } from "#core/rules/cards.ts";
import { UserError } from "#kit/errors.ts";
import { printLines } from "#kit/text/ascii.ts";
import { ProgressLine } from "#kit/text/progress.ts";
import { terminalOf } from "#kit/text/terminal.ts";
import { inTimeZone, timeZoneName } from "#kit/text/times.ts";
import { hookReport, hookSessions } from "#show/report/hooks/hooks.ts";
import { hooksJson } from "#show/report/hooks/json.ts";
import { hookLines } from "#show/report/hooks/text.ts";
import { type QuestionOptions, questionOf } from "#show/report/question.ts";
import { namedAgent } from "#show/report/text/unknown-name.ts";
import { withOpenStore } from "#store/sessions/open-store.ts";
import { foundHookRuns } from "./hook-runs.ts";
import { noStoreMessage } from "./no-store-message.ts";
import { type ReadContext, type RefreshOption, refreshed } from "./refreshed.ts";

/**
 * `openhook-otel report hook`: the user's own hooks, from the agents' files.
 *
 * @param words `hook`, and `today` or `yesterday`
 * @returns exit code: 0, also without runs
 * @throws UserError for wrong input, and when the store cannot be read
 */
export async function reportHooks(
  words: readonly string[],
  options: QuestionOptions & RefreshOption,
  context: Context,
): Promise<number> {
  const { timeZone } = options;
  await inTimeZone(timeZone, () => hookQuestion(words, options, context.now()));
  const read = await refreshed(options, context);
  return inTimeZone(timeZone, () => print(words, options, read, context));
}

// --- internal ---

const HOOK = /^hooks?$/;
const DEFAULT_LIMIT = 20;

function hookQuestion(words: readonly string[], options: QuestionOptions, nowMs: number) {
  const question = questionOf(
    words.filter((word) => !HOOK.test(word)),
    options,
    nowMs,
  );
  if (!question.isOverview) throw new UserError("E_USAGE", "hook cannot be combined with other groupings");
  if (options.model !== undefined) throw new UserError("E_USAGE", "hooks have no model");
  if (options.csv) throw new UserError("E_USAGE", "a report by hook has no CSV; choose --json");
  const limit = options.limit ?? (options.json ? undefined : DEFAULT_LIMIT);
  return { query: question.query, ...(limit !== undefined && { limit }) };
}

async function print(
  words: readonly string[],
  options: QuestionOptions,
  { behind, agents, loaded }: ReadContext,
  context: Context,
): Promise<number> {
  const asked = hookQuestion(words, options, context.now());
  const found = withOpenStore(context, (db) => {
    const question = { ...asked, query: { ...asked.query, ...namedAgent(options.agent, agents, db) } };
    const of = hookSessions(db, agents, question);
    return { question, of, moved: movedRootsOf(db, new Set(of.sessions.map(({ source }) => source))) };
  });
  if (found === undefined) {
    context.stdout.write(options.json ? "null\n" : `${await noStoreMessage(context, behind)}\n`);
    return 0;
  }
  const { question, of, moved } = found;
  const progress = new ProgressLine(context);
  const { length } = of.sessions;
  const { runs, sessions } = await foundHookRuns(of, { agents, loaded, moved }, context, (index) =>
    progress.line(index / length, `read ${index} of ${length} sessions`),
  ).finally(() => progress.clear());
  const report = hookReport(runs, question, { notRecorded: of.notRecorded, sessions });
  if (options.json) context.stdout.write(`${JSON.stringify(hooksJson(question, report, timeZoneName()))}\n`);
  else {
    const titleIn = (agent: string): string => cardOf({ agents }, agent)?.title ?? agent;
    printLines(context, hookLines(question, report, titleIn, terminalOf(context)));
  }
  return 0;
}
