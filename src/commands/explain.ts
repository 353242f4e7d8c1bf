import { movedRootsOf } from "#collect/transcripts/transcript-roots.ts";
import type { Context } from "#config/context.ts";
import { cardOf } from "#core/rules/cards.ts";
import { UserError } from "#kit/errors.ts";
import { printLines } from "#kit/text/ascii.ts";
import { terminalOf } from "#kit/text/terminal.ts";
import { explain as explained } from "#show/report/explain.ts";
import { explainJson } from "#show/report/explain-json.ts";
import { viewOf } from "#show/report/session-view.ts";
import { explanationLines } from "#show/report/text/explain.ts";
import { titleOf, titleText } from "#show/report/titles.ts";
import { chosenSession } from "#store/sessions/find-session.ts";
import { withOpenStore } from "#store/sessions/open-store.ts";
import { knownFactsOf } from "#store/sessions/read-session.ts";
import { spanSettings } from "#store/sessions/span-settings.ts";
import { sessionById } from "#store/sessions.ts";
import { linesOf } from "./content.ts";
import { withSessionNamed } from "./named-change.ts";
import { noStoreMessage } from "./no-store-message.ts";
import { type RefreshOption, refreshed } from "./refreshed.ts";
import { subscribed } from "./subscribed.ts";
import { showsTitles, type TitlesOption, withPrompts } from "./titles.ts";

interface ExplainOptions extends RefreshOption, TitlesOption {
  readonly json: boolean;
}

/**
 * `openhook-otel explain`: where the time and money of one session went.
 *
 * @param session id, the beginning of one, or `<source>/<id>`; without it the one with the latest activity
 * @returns exit code: 0
 * @throws UserError when there is no such session, more than one, or none at all yet
 */
export async function explain(session: string | undefined, options: ExplainOptions, context: Context): Promise<number> {
  const { behind, agents, loaded } = await refreshed(options, context);
  const subscriptions = await subscribed(context, agents);
  const found = await withSessionNamed(session, context, () =>
    withOpenStore(context, (db) => {
      const stored = chosenSession(db, session);
      if (stored === undefined) return undefined;
      const facts = knownFactsOf(db, { agents }, stored);
      const title = !options.json && showsTitles(options, loaded) ? titleOf(db, { stored, facts }) : undefined;
      return { stored, title, moved: movedRootsOf(db, [stored.source]) };
    }),
  );
  // Read while the store is closed; a JSON document has no content
  const deps = { agents, loaded, moved: found?.moved ?? new Map() };
  const isRead = options.titles === true && !options.json;
  const lines = found !== undefined && isRead ? await linesOf(found.stored, deps, context) : [];
  const explanation =
    found &&
    withOpenStore(context, (db) => {
      const view = viewOf(db, sessionById(db, found.stored.id), { agents, subscriptions }, spanSettings({ loaded }));
      return explained(db, view, { agents }, lines);
    });
  if (explanation === undefined) throw new UserError("E_EMPTY", await noStoreMessage(context, behind), 1);
  const { source } = explanation.view.stored;
  const title = cardOf({ agents }, source)?.title ?? source;
  const [titled] = await withPrompts(
    found === undefined ? [] : [found],
    { agents, loaded, movedRoots: () => deps.moved },
    context,
  );
  const heading = titled?.title === undefined ? "" : titleText(titled.title);
  if (options.json) context.stdout.write(`${JSON.stringify(explainJson(explanation))}\n`);
  else printLines(context, explanationLines(explanation, { title, heading }, terminalOf(context)));
  return 0;
}
