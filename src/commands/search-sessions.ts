import { foundIn } from "#collect/transcripts/search-content.ts";
import { movedRootsOf } from "#collect/transcripts/transcript-roots.ts";
import type { Context } from "#config/context.ts";
import { cardOf } from "#core/rules/cards.ts";
import { ProgressLine } from "#kit/text/progress.ts";
import { monotonicMs } from "#kit/time.ts";
import { sessionsAsked } from "#show/report/repositories.ts";
import { namedAgent } from "#show/report/text/unknown-name.ts";
import type { Database } from "#store/database.ts";
import { type FirstListed, settledToolNames } from "#store/session-list.ts";
import { sessionsUsing, sortedSessions } from "#store/session-order.ts";
import { withOpenStore } from "#store/sessions/open-store.ts";
import { knownFactsOf } from "#store/sessions/read-session.ts";
import { type StoredSession, sessionById } from "#store/sessions.ts";
import { type ContentDeps, sourceOf } from "./content.ts";
import type { SessionsOptions } from "./sessions.ts";

interface Chosen extends FirstListed {
  /** Where the text is, of sessions that contain it in the agent's own file. */
  readonly lines: ReadonlyMap<number, string>;
  /** False: the time was over, so there can be more. */
  readonly isWhole: boolean;
}

export const SEARCH_ENDED = "The search ended after 10 s, so there can be more; --since and --agent make it shorter.";

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
    return { ids: ids.slice(0, limit), total: ids.length, lines: new Map(), isWhole: true };
  const { lines, isWhole } = await foundInFiles(others, search, limit, { ...deps, moved }, context);
  const matching = ids.filter((id) => inStore.has(id) || lines.has(id));
  return { ids: matching.slice(0, limit), total: matching.length, lines, isWhole };
}

// --- internal ---

/** The sessions whose stored facts contain a text: id, agent, repository, branch, folder, models, tools; case-insensitive. */
function foundInStore(
  db: Database,
  ids: readonly number[],
  text: string,
  { agents }: Pick<ContentDeps, "agents">,
): ReadonlySet<number> {
  const searched = text.toLowerCase();
  const modelsOf = db.prepare("SELECT DISTINCT model FROM usage WHERE session = ?");
  const found = new Set<number>();
  for (const id of ids) {
    const stored = sessionById(db, id);
    const { repository } = knownFactsOf(db, { agents }, stored);
    const texts = [
      ...[stored.sessionId, stored.source, cardOf({ agents }, stored.source)?.title, stored.cwd],
      ...[repository?.name, repository?.branch ?? stored.branch],
      ...modelsOf.all(id).map((row) => row["model"]),
      ...settledToolNames(db, id, MAX_TOOLS),
    ];
    if (texts.some((one) => typeof one === "string" && one.toLowerCase().includes(searched))) found.add(id);
  }
  return found;
}

/**
 * The sessions whose prompts, calls or answers contain a text, from the agents' own files, in the given order.
 *
 * @returns `isWhole` false: the time was over, so there can be more
 */
async function foundInFiles(
  sessions: readonly StoredSession[],
  text: string,
  limit: number,
  deps: ContentDeps,
  context: Context,
): Promise<Pick<Chosen, "lines" | "isWhole">> {
  const lines = new Map<number, string>();
  const progress = new ProgressLine(context);
  const endMs = monotonicMs() + MAX_MS;
  const hasTime = (): boolean => monotonicMs() < endMs;
  try {
    for (const [index, session] of sessions.entries()) {
      if (!hasTime()) return { lines, isWhole: false };
      if (lines.size >= limit) break;
      progress.line(index / sessions.length, `searching ${index} of ${sessions.length} sessions`);
      const source = await sourceOf(session, deps, context);
      const line = source && (await foundIn(source.reader, session, text, { ...source.query, hasTime }));
      if (line !== undefined) lines.set(session.id, line);
    }
  } finally {
    progress.clear();
  }
  return { lines, isWhole: hasTime() };
}

/** Of one session; more than any has. */
const MAX_TOOLS = 1000;
/** Somebody waits for the result. */
const MAX_MS = 10_000;
