import type { Context } from "#config/context.ts";
import { cardOf } from "#core/rules/cards.ts";
import { UserError } from "#kit/errors.ts";
import { printLines } from "#kit/text/ascii.ts";
import { terminalOf } from "#kit/text/terminal.ts";
import { explain as explained } from "#show/report/explain.ts";
import { explainJson } from "#show/report/explain-json.ts";
import { viewOf } from "#show/report/session-view.ts";
import { explanationLines } from "#show/report/text/explain.ts";
import { chosenSession } from "#store/sessions/find-session.ts";
import { withOpenStore } from "#store/sessions/open-store.ts";
import { spanSettings } from "#store/sessions/span-settings.ts";
import { withSessionNamed } from "./named-change.ts";
import { noStoreMessage } from "./no-store-message.ts";
import { type RefreshOption, refreshed } from "./refreshed.ts";
import { subscribed } from "./subscribed.ts";

interface ExplainOptions extends RefreshOption {
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
  const explanation = await withSessionNamed(session, context, () =>
    withOpenStore(context, (db) => {
      const stored = chosenSession(db, session);
      if (stored === undefined) return undefined;
      return explained(db, viewOf(db, stored, { agents, subscriptions }, spanSettings({ loaded })), { agents });
    }),
  );
  if (explanation === undefined) throw new UserError("E_EMPTY", await noStoreMessage(context, behind), 1);
  const { source } = explanation.view.stored;
  const title = cardOf({ agents }, source)?.title ?? source;
  if (options.json) context.stdout.write(`${JSON.stringify(explainJson(explanation))}\n`);
  else printLines(context, explanationLines(explanation, title, terminalOf(context)));
  return 0;
}
