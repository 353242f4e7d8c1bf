import { movedRootsOf } from "#collect/transcripts/transcript-roots.ts";
import type { Context } from "#config/context.ts";
import { printLines } from "#kit/text/ascii.ts";
import { terminalOf } from "#kit/text/terminal.ts";
import { answerLines, answerOf } from "#show/report/text/answer.ts";
import { storedSources } from "#store/session-list.ts";
import { withOpenStore } from "#store/sessions/open-store.ts";
import { refreshed } from "./refreshed.ts";
import { showsTitles, withPrompts } from "./titles.ts";

/** The agents of all stored sessions; `undefined` without a store. @throws UserError when it cannot be read */
export const storedAgents = (context: Context): ReadonlySet<string> | undefined =>
  withOpenStore(context, storedSources);

/**
 * Prints what is most worth knowing of the stored sessions.
 *
 * @param options `next`: with the commands to try next
 * @returns false, and prints nothing, if there is none
 */
export async function printAnswer(context: Context, { next = true } = {}): Promise<boolean> {
  const { agents, loaded } = await refreshed({}, context);
  const terminal = terminalOf(context);
  const found = withOpenStore(context, (db) => {
    const answer = answerOf(db, agents, context.now(), terminal);
    const source = answer?.dearest?.stored.source;
    return answer && { answer, moved: movedRootsOf(db, source === undefined ? [] : [source]) };
  });
  if (found === undefined) return false;
  const { answer, moved } = found;
  const isTitled = answer.dearest !== undefined && showsTitles({ titles: true }, loaded);
  const [dearest] = isTitled
    ? await withPrompts([answer.dearest], { agents, loaded, movedRoots: () => moved }, context)
    : [answer.dearest];
  const shown = { ...answer, ...(dearest !== undefined && { dearest }) };
  printLines(context, ["", ...answerLines(shown, terminal, next)]);
  return true;
}
