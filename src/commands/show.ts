import { envelopeLines } from "#collect/convert/envelopes.ts";
import { movedRootsOf } from "#collect/transcripts/transcript-roots.ts";
import type { Context } from "#config/context.ts";
import { UserError } from "#kit/errors.ts";
import { suggest } from "#kit/suggest.ts";
import { printLines } from "#kit/text/ascii.ts";
import { plural } from "#kit/text/figures.ts";
import { terminalOf, writeLines } from "#kit/text/terminal.ts";
import { familyOf } from "#show/report/family.ts";
import { familyJson } from "#show/report/family-json.ts";
import { jsonParts } from "#show/report/session-json.ts";
import { type SessionView, viewOf } from "#show/report/session-view.ts";
import { linesOfSpans } from "#show/report/story.ts";
import { sessionLines } from "#show/report/text/session.ts";
import { transcriptJson, transcriptText } from "#show/report/text/unread.ts";
import { titleOf, titleText } from "#show/report/titles.ts";
import { MAX_OPEN_SPANS } from "#show/report/waterfall/fold.ts";
import type { Database } from "#store/database.ts";
import { chosenSession, isNewest } from "#store/sessions/find-session.ts";
import { withOpenStore } from "#store/sessions/open-store.ts";
import { knownFactsOf } from "#store/sessions/read-session.ts";
import { spanSettings } from "#store/sessions/span-settings.ts";
import { type StoredSession, sessionById } from "#store/sessions.ts";
import { linesOf } from "./content.ts";
import { noStoreMessage } from "./no-store-message.ts";
import { type RefreshOption, refreshed } from "./refreshed.ts";
import { changeInsteadOfSession, showChange } from "./show-change.ts";
import { subscribed } from "./subscribed.ts";
import { showsTitles, type TitlesOption, withPrompts } from "./titles.ts";
import { readTranscriptOf } from "./unread.ts";

export interface ShowOptions extends RefreshOption, TitlesOption {
  /** One JSON document. */
  readonly json: boolean;
  /** With `json`: also what was asked and done, in one line each. @default false */
  readonly withContent?: boolean;
  /** The session's OpenHook envelopes, one JSON line each. */
  readonly envelopes: boolean;
  /** Every span, also of a long session. @default false */
  readonly all?: boolean;
  /** Number of a turn: only this one. @default the whole session */
  readonly turn?: number | undefined;
}

/**
 * `openhook-otel show`: a session as a waterfall, from the spans that were or will be exported; or the sessions behind a commit or change.
 *
 * @param session id, the beginning of one, or `<source>/<id>`; without it the one with the latest activity. Or a commit, pull request,
 *   ticket or branch
 * @returns exit code: 0
 * @throws UserError when there is nothing with this name, more than one, or none at all yet
 */
export async function show(session: string | undefined, options: ShowOptions, context: Context): Promise<number> {
  if (options.json && options.envelopes) throw new UserError("E_USAGE", "choose one of --json and --envelopes");
  const { turn } = options;
  const isData = options.envelopes || options.json;
  if (options.withContent === true && !options.json) throw new UserError("E_USAGE", "--with-content is for --json");
  if (isData && turn !== undefined)
    throw new UserError("E_USAGE", "a number of a turn is for people: --json and --envelopes print the whole session");
  const { behind, agents, loaded } = await refreshed(options, context);
  const change =
    session === undefined || isNewest(session) ? undefined : await changeInsteadOfSession(session, context);
  if (change !== undefined) {
    if (options.envelopes || options.withContent === true || turn !== undefined)
      throw new UserError("E_USAGE", "--envelopes, --with-content and a turn are for one session: name a session");
    return showChange(change, options, context);
  }
  const settings = spanSettings({ loaded });
  const subscriptions = await subscribed(context, agents);
  const found = withOpenStore(context, (db) => {
    const stored = chosenSession(db, session);
    if (stored === undefined) return undefined;
    if (options.envelopes) writeLines(context.stdout, envelopeLines(db, stored, loaded.config.openhook.text));
    const facts = knownFactsOf(db, { agents }, stored);
    const title = !isData && showsTitles(options, loaded) ? titleOf(db, { stored, facts }) : undefined;
    return { stored, title, moved: movedRootsOf(db, [stored.source]) };
  });
  if (found === undefined) throw new UserError("E_EMPTY", await noStoreMessage(context, behind), 1);
  if (options.envelopes) return 0;
  const transcript = await readTranscriptOf(found.stored, { agents, loaded }, context);
  const viewIn = (db: Database) => viewOf(db, sessionById(db, found.stored.id), { agents, subscriptions }, settings);
  // Prompts and calls are read from the agent's files, which takes a moment; the store stays closed meanwhile
  const isRead = options.json ? options.withContent === true : options.titles === true;
  const lines = isRead ? await linesOf(found.stored, { agents, loaded, moved: found.moved }, context) : [];
  if (options.json) {
    withOpenStore(context, (db) => {
      const view = viewIn(db);
      const content = isRead ? linesOfSpans(view, lines) : undefined;
      const more = { transcript: transcriptJson(transcript), ...familyJson(familyOf({ db, agents }, view)) };
      for (const part of jsonParts(db, view, more, content)) context.stdout.write(part);
    });
    return 0;
  }
  const [titled = found] = await withPrompts([found], { agents, loaded, movedRoots: () => found.moved }, context);
  const heading = titled.title === undefined ? "" : titleText(titled.title);
  const idle = { nowMs: context.now(), idleTimeoutMs: loaded.config.session.idleTimeoutMs };
  withOpenStore(context, (db) => {
    const view = viewIn(db);
    if (turn !== undefined && turn > view.turns)
      throw new UserError("E_USAGE", `the session has ${plural(view.turns, "turn")}, there is no turn ${turn}`);
    const isLong = options.all !== true && spanCount(view) > MAX_OPEN_SPANS;
    const rowsShown = turn !== undefined ? { turn } : isLong ? ("turns" as const) : ("all" as const);
    const content = linesOfSpans(view, lines);
    const texts = { agents, idle, heading, transcript: transcriptText(transcript), lines: content, rowsShown };
    printLines(context, sessionLines(db, view, texts, terminalOf(context)));
    if (rowsShown === "turns") context.stdout.write(`\n${foldedText(found.stored)}\n`);
  });
  return 0;
}

// --- internal ---

const spanCount = ({ turnList, subagentList, calls, toolCalls }: SessionView): number =>
  turnList.length + subagentList.length + calls.length + toolCalls.length;

function foldedText({ sessionId }: StoredSession): string {
  const one = suggest(`show ${sessionId} 1`);
  const all = suggest(`show ${sessionId} --all`);
  return `The session is long, so its turns are closed; in brackets: rows inside. One turn: ${one}; everything: ${all}`;
}
