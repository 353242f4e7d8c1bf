import { foundIn } from "#collect/transcripts/search-content.ts";
import { movedRootsOf } from "#collect/transcripts/transcript-roots.ts";
import type { Context } from "#config/context.ts";
import { ProgressLine } from "#kit/text/progress.ts";
import { printable } from "#kit/text/terminal.ts";
import { monotonicMs } from "#kit/time.ts";
import { foundInStore } from "#show/report/found-in-store.ts";
import { sessionsAsked } from "#show/report/repositories.ts";
import { namedAgent } from "#show/report/text/unknown-name.ts";
import type { FirstListed } from "#store/session-list.ts";
import { sessionsUsing, sortedSessions } from "#store/session-order.ts";
import { withOpenStore } from "#store/sessions/open-store.ts";
import { type StoredSession, sessionById } from "#store/sessions.ts";
import { type ContentDeps, sourceOf } from "./content.ts";
import type { SessionsOptions } from "./sessions-options.ts";

interface Chosen extends FirstListed {
  /** Where the text is, of sessions that contain it in the agent's own file. */
  readonly lines: ReadonlyMap<number, string>;
  /** Why files were left unread; absent if all were read, or none had to be. */
  readonly ended?: "time" | "limit";
}

/** A sentence about a search that did not read everything. */
export const endedText = (ended: "time" | "limit", limit: number): string =>
  ended === "limit"
    ? `older sessions were not searched: --limit ${limit * 2}`
    : `the search ended after ${MAX_MS / 1000} s, so there can be more; --since and --agent make it shorter`;

/**
 * The sessions that match the filters which need more than the list: model, tool, text and order.
 *
 * @returns `undefined` without such a filter, or without a store
 */
export async function chosenSessions(
  { model, tool, search, sort = "time", limit }: SessionsOptions,
  wanted: Parameters<typeof sessionsAsked>[1],
  deps: Omit<ContentDeps, "moved">,
  context: Context,
): Promise<Chosen | undefined> {
  if ([model, tool, search].every((one) => one === undefined) && sort === "time") return undefined;
  const read = withOpenStore(context, (db) => {
    const all = sessionsAsked(db, { ...wanted, ...namedAgent(wanted.agent, deps.agents, db) }, Number.MAX_SAFE_INTEGER);
    const ids = sortedSessions(db, sessionsUsing(db, all.ids, { model, tool }), sort);
    const inStore = search === undefined ? undefined : foundInStore(db, ids, search, deps);
    const others = inStore === undefined ? [] : ids.filter((id) => !inStore.has(id)).map((id) => sessionById(db, id));
    return { ids, inStore, others, moved: movedRootsOf(db, new Set(others.map(({ source }) => source))) };
  });
  if (read === undefined) return undefined;
  const { ids, inStore, others, moved } = read;
  if (inStore === undefined || search === undefined)
    return { ids: ids.slice(0, limit), total: ids.length, lines: new Map() };
  const { lines, ended } = await foundInFiles(others, search, limit, { ...deps, moved }, context);
  const matching = ids.filter((id) => inStore.has(id) || lines.has(id));
  const shown = matching.slice(0, limit);
  // Of sessions that were not searched nobody knows how many match
  if (ended !== undefined) return { ids: shown, total: shown.length, lines, ended };
  return { ids: shown, total: matching.length, lines };
}

// --- internal ---

/**
 * The sessions whose prompts, calls or answers contain a text, from the agents' own files, in the given order.
 */
async function foundInFiles(
  sessions: readonly StoredSession[],
  text: string,
  limit: number,
  deps: ContentDeps,
  context: Context,
): Promise<Pick<Chosen, "lines" | "ended">> {
  const lines = new Map<number, string>();
  const progress = new ProgressLine(context);
  const endMs = monotonicMs() + MAX_MS;
  let isDone = false;
  const hasTime = (): boolean => !isDone && monotonicMs() < endMs;
  const lineIn = async (session: StoredSession): Promise<string | undefined> => {
    const source = await sourceOf(session, deps, context);
    return source && foundIn(source.reader, session, text, { ...source.query, hasTime });
  };
  const started: Promise<string | undefined>[] = [];
  try {
    for (const [index, { id }] of sessions.entries()) {
      if (lines.size >= limit) return { lines, ended: "limit" };
      // The next files are read while this one is searched
      for (const next of sessions.slice(started.length, index + AT_ONCE)) started.push(lineIn(next));
      const newest = [...lines.values()].at(-1);
      const found = `found ${lines.size}${newest === undefined ? "" : `, last: ${printable(newest)}`}`;
      progress.line(index / sessions.length, `searched ${index} of ${sessions.length} sessions, ${found}`);
      const line = await started[index];
      if (line !== undefined) lines.set(id, line);
      if (!hasTime()) return { lines, ended: "time" };
    }
    return { lines };
  } finally {
    isDone = true;
    await Promise.allSettled(started);
    progress.clear();
  }
}

const AT_ONCE = 4;
/** Somebody waits for the result. */
const MAX_MS = 10_000;
