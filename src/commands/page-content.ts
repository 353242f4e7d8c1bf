import { movedRootsOf } from "#collect/transcripts/transcript-roots.ts";
import type { Context } from "#config/context.ts";
import { monotonicMs } from "#kit/time.ts";
import type { ViewDeps } from "#show/view/deps.ts";
import { withOpenStore } from "#store/sessions/open-store.ts";
import type { StoredSession } from "#store/sessions.ts";
import { type ContentDeps, foundInSessions, linesOf, partOf } from "./content.ts";
import { showsContent } from "./titles.ts";

/** For the page's server, which asks while it runs; the store is opened for the agents' moved folders. */
export function contentReaders(
  deps: Omit<ContentDeps, "moved">,
  context: Context,
): Pick<ViewDeps, "contentLines" | "contentOf" | "foundIn"> {
  if (!showsContent(deps.loaded.config)) return {};
  const withMoved = (...sessions: readonly StoredSession[]): ContentDeps => {
    const sources = new Set(sessions.map(({ source }) => source));
    return { ...deps, moved: withOpenStore(context, (db) => movedRootsOf(db, sources)) ?? new Map() };
  };
  return {
    contentLines: (session) => linesOf(session, withMoved(session), context),
    contentOf: (session, wanted) => partOf(session, wanted, withMoved(session), context),
    foundIn: (sessions, text) => {
      const endMs = monotonicMs() + MAX_SEARCH_MS;
      return foundInSessions(sessions, text, () => monotonicMs() < endMs, withMoved(...sessions), context);
    },
  };
}

// --- internal ---

/** For a part of the sessions: the page shows what it has found, and asks for the next part. */
const MAX_SEARCH_MS = 250;
