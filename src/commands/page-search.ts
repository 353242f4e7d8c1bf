import { foundIn } from "#collect/transcripts/search-content.ts";
import { movedRootsOf } from "#collect/transcripts/transcript-roots.ts";
import type { Context } from "#config/context.ts";
import { monotonicMs } from "#kit/time.ts";
import type { ViewDeps } from "#show/view/deps.ts";
import { withOpenStore } from "#store/sessions/open-store.ts";
import { type ContentDeps, sourceOf } from "./content.ts";
import { showsContent } from "./titles.ts";

/** The search of the page's server in the agents' files. Empty if the settings forbid it. */
export function pageSearch(deps: Omit<ContentDeps, "moved">, context: Context): Pick<ViewDeps, "foundIn"> {
  if (!showsContent(deps.loaded.config)) return {};
  return {
    async foundIn(sessions, text, isFirst) {
      const endMs = monotonicMs() + MAX_MS;
      const sources = new Set(sessions.map(({ source }) => source));
      const moved = withOpenStore(context, (db) => movedRootsOf(db, sources)) ?? new Map();
      const lines = new Map<number, string>();
      for (const [searched, session] of sessions.entries()) {
        const isEnough = monotonicMs() > endMs || (isFirst && lines.size > 0);
        if (searched > 0 && isEnough) return { lines, searched };
        // A session has the time of its own that all its content has
        const source = await sourceOf(session, { ...deps, moved }, context);
        const line = source && (await foundIn(source.reader, session, text, source.query));
        if (line !== undefined) lines.set(session.id, line);
      }
      return { lines, searched: sessions.length };
    },
  };
}

// --- internal ---

/** For a part of the sessions: the page shows what it has found, and asks for the next part. */
const MAX_MS = 250;
