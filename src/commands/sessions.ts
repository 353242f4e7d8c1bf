import { movedRootsOf } from "#collect/transcripts/transcript-roots.ts";
import type { Context } from "#config/context.ts";
import { suggest } from "#kit/suggest.ts";
import { printLines } from "#kit/text/ascii.ts";
import { terminalOf } from "#kit/text/terminal.ts";
import { listPriceNote, subscriptionMark } from "#show/report/prices.ts";
import { timesOf } from "#show/report/question.ts";
import { sessionsAsked } from "#show/report/repositories.ts";
import { summaryJson } from "#show/report/session-json.ts";
import { summarise } from "#show/report/session-summary.ts";
import { sessionTable } from "#show/report/text/session-list.ts";
import { namedAgent, unknownNameText } from "#show/report/text/unknown-name.ts";
import { type SessionTitle, titleOf } from "#show/report/titles.ts";
import { withOpenStore } from "#store/sessions/open-store.ts";
import { sessionById } from "#store/sessions.ts";
import { noStoreMessage } from "./no-store-message.ts";
import { refreshed } from "./refreshed.ts";
import { chosenSessions, endedText } from "./search-sessions.ts";
import type { SessionsOptions } from "./sessions-options.ts";
import { planFilesOf, subscribed } from "./subscribed.ts";
import { showsTitles, withPrompts } from "./titles.ts";
import { printUnreadHere } from "./unread.ts";

/**
 * `openhook-otel sessions`: lists sessions, latest activity first.
 *
 * @returns exit code: 0, also when there is none
 * @throws UserError for a wrong time, and when the store cannot be read
 */
export async function sessions(options: SessionsOptions, context: Context): Promise<number> {
  const { limit, all, agent, repository, json } = options;
  const nowMs = context.now();
  const wanted = {
    all: all === true,
    ...(agent !== undefined && { agent }),
    ...(repository !== undefined && { repository }),
    ...timesOf(options.period, options, nowMs),
  };
  const { behind, agents, loaded } = await refreshed(options, context);
  const chosen = await chosenSessions(options, wanted, { agents, loaded }, context);
  const read = withOpenStore(context, (db) => {
    const named: typeof wanted & { readonly agent?: string } = { ...wanted, ...namedAgent(agent, agents, db) };
    const { ids, total } = chosen ?? sessionsAsked(db, named, limit);
    const listed = ids.map((id) => {
      const summary = summarise(db, sessionById(db, id), { agents });
      const title = !json && showsTitles(options, loaded) ? titleOf(db, summary) : undefined;
      return { ...summary, title };
    });
    const sources = listed.map(({ stored }) => stored.source);
    return {
      named,
      listed,
      more: total - listed.length,
      unknown: listed.length > 0 ? undefined : unknownNameText(db, agents, named),
      movedRoots: movedRootsOf(db, sources),
      planFiles: planFilesOf(db, agents),
    };
  });
  const { agent: source } = read?.named ?? namedAgent(agent, agents, undefined);
  const subscriptions = read && (await subscribed(context, agents, read.planFiles));
  const listed = (read?.listed ?? []).map((one) => ({ ...one, ...subscriptionMark(one.stored, subscriptions) }));
  if (json) context.stdout.write(`${JSON.stringify(listed.map(summaryJson))}\n`);
  else if (read === undefined || listed.length === 0) {
    const isFiltered =
      behind === undefined && read !== undefined && (chosen !== undefined || Object.keys(wanted).length > 1);
    context.stdout.write(`${isFiltered ? (read.unknown ?? noneMatches()) : await noStoreMessage(context, behind)}\n`);
  } else {
    const isForProgram = context.stdout.isTTY !== true && !context.env["COLUMNS"];
    const idle = { nowMs, idleTimeoutMs: loaded.config.session.idleTimeoutMs };
    const titled = await withPrompts(listed, { agents, loaded, movedRoots: () => read.movedRoots }, context);
    const found = titled.map((one) => withLine(one, chosen?.lines.get(one.stored.id)));
    printLines(context, sessionTable(found, idle, terminalOf(context), isForProgram));
    const known = listed.filter((one) => one.onSubscription === true && one.sums.costNanoUsd !== undefined);
    const names = [...new Set(known.map(({ stored }) => stored.source))];
    if (names.length > 0) context.stdout.write(`${listPriceNote(names)}\n`);
    if (read.more > 0) context.stdout.write(`${read.more} more: --limit ${limit + read.more}\n`);
  }
  if (!json && chosen?.ended !== undefined) context.stdout.write(`${endedText(chosen.ended, limit)}\n`);
  if (!json) await printUnreadHere({ agents, loaded }, context, source);
  return 0;
}

// --- internal ---

/** With what was searched instead of the first prompt. */
const withLine = <T extends { readonly title: SessionTitle | undefined }>(one: T, line: string | undefined): T =>
  line === undefined || one.title === undefined ? one : { ...one, title: { ...one.title, prompt: line } };

const noneMatches = (): string => `no session matches; ${suggest("sessions")} without filters lists all`;
