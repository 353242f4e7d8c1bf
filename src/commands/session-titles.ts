import { movedRootsOf } from "#collect/transcripts/transcript-roots.ts";
import type { Context } from "#config/context.ts";
import type { LoadedConfig } from "#config/load.ts";
import type { Agent } from "#core/model/agent.ts";
import { localTime } from "#kit/text/figures.ts";
import { titleOf, titleText } from "#show/report/titles.ts";
import type { UsageRow } from "#show/report/usage-rows.ts";
import { findSessions } from "#store/queries.ts";
import { withOpenStore } from "#store/sessions/open-store.ts";
import { knownFactsOf } from "#store/sessions/read-session.ts";
import { showsTitles, type TitlesOption, withPrompts } from "./titles.ts";

/**
 * Day and title of the sessions of a table, by their name in its rows.
 *
 * @returns only days if titles are off; empty without sessions, and for more than `MAX_TITLED`
 */
export async function sessionTitles(
  rows: readonly UsageRow[],
  options: TitlesOption,
  deps: { readonly agents: readonly Agent[]; readonly loaded: LoadedConfig },
  context: Context,
): Promise<ReadonlyMap<string, string>> {
  const names = rows.flatMap(({ key: { session } }) => (typeof session === "string" ? [session] : []));
  if (names.length === 0 || names.length > MAX_TITLED) return new Map();
  const read = withOpenStore(context, (db) => {
    const listed = names.flatMap((name) =>
      findSessions(db, name, 1).map((stored) => {
        const facts = knownFactsOf(db, deps, stored);
        return { name, stored, title: showsTitles(options, deps.loaded) ? titleOf(db, { stored, facts }) : undefined };
      }),
    );
    return { listed, moved: movedRootsOf(db, new Set(listed.map(({ stored }) => stored.source))) };
  });
  const titled = await withPrompts(
    read?.listed ?? [],
    { ...deps, movedRoots: () => read?.moved ?? new Map() },
    context,
  );
  return new Map(
    titled.map(({ name, stored, title }) => [
      name,
      [localTime(stored.firstMs).slice(0, DAY_LENGTH), ...(title === undefined ? [] : [titleText(title)])].join(" "),
    ]),
  );
}

// --- internal ---

/** A table with more rows is read by a program, or not at all. */
const MAX_TITLED = 100;

const DAY_LENGTH = "2026-11-14".length;
