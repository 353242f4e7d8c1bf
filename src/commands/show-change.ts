import { allAgents } from "#agents/registry.ts";
import type { Context } from "#config/context.ts";
import { loadConfigAndPrices } from "#config/own-prices.ts";
import { UserError } from "#kit/errors.ts";
import { suggest } from "#kit/suggest.ts";
import { printLines } from "#kit/text/ascii.ts";
import { printable, terminalOf } from "#kit/text/terminal.ts";
import { changeJson, changeReport } from "#show/report/change-report.ts";
import type { NamedChange } from "#show/report/find-change.ts";
import { changeLines } from "#show/report/text/change.ts";
import { findSessions, recentSessions } from "#store/queries.ts";
import { withOpenStore } from "#store/sessions/open-store.ts";
import { ambiguous, describeChange, findNamed, knownToBeNone } from "./named-change.ts";
import { sessionTitles } from "./session-titles.ts";
import type { TitlesOption } from "./titles.ts";

/**
 * The commit or change that the user named.
 *
 * @returns `undefined` if it is the name of a session, or there is no store yet
 * @throws UserError if there is nothing with this name, or more than one
 */
export async function changeInsteadOfSession(name: string, context: Context): Promise<NamedChange | undefined> {
  const stored = withOpenStore(context, (db) => ({
    newest: recentSessions(db, 1)[0],
    sessions: findSessions(db, name, MAX_SESSIONS),
  }));
  if (stored?.newest === undefined) return undefined;
  const { sessions, newest } = stored;
  const { found, revision } = await findNamed(name, context, sessions.length === 0);
  const [only] = found;
  if (only !== undefined && found.length + sessions.length > 1) {
    const ids = sessions.map((one) => `session ${one.source}/${one.sessionId}`);
    throw ambiguous(name, [...ids, ...found.map(describeChange)]);
  }
  if (only !== undefined || sessions.length > 0) return only;
  throw new UserError(
    "E_SESSION",
    (await knownToBeNone(name, revision, context)) ??
      `no session begins with "${printable(name)}"; it is no commit, pull request, ticket or branch of a session either: ` +
        `${suggest("sessions")} and ${suggest("report change")} list what is known, the newest is "${printable(newest.sessionId)}"`,
    1,
  );
}

/** `openhook-otel show <commit>`, `<pull request>`: what it cost, and the sessions behind it. @returns exit code: 0 */
export async function showChange(
  change: NamedChange,
  options: TitlesOption & { readonly json: boolean },
  context: Context,
): Promise<number> {
  const [agents, loaded] = await Promise.all([allAgents(), loadConfigAndPrices(context)]);
  const report = withOpenStore(context, (db) => changeReport(db, agents, change));
  if (report === undefined) return 0;
  if (options.json) context.stdout.write(`${JSON.stringify(changeJson(report))}\n`);
  else {
    const titles = await sessionTitles(report.rows, options, { agents, loaded }, context);
    printLines(context, changeLines(report, terminalOf(context), titles));
  }
  return 0;
}

// --- internal ---

const MAX_SESSIONS = 5;
