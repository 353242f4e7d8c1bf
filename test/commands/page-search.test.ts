// The page's search in the agents' own files: the first answer is quick, the others have more.
import { afterEach, expect, test } from "vitest";
import { allAgents } from "#agents/registry.ts";
import { pageSearch } from "#commands/page-search.ts";
import { loadConfig } from "#config/load.ts";
import { recentSessions } from "#store/queries.ts";
import { readStore } from "#store/read-only.ts";
import { contextAt } from "../support/context.ts";
import { Replay } from "../support/replay.ts";

let of: Replay | undefined;
afterEach(() => of?.remove());

async function searched() {
  of = new Replay("claude-code", "two-sessions-at-once");
  for (const call of of.calls) of.put(call);
  await of.drain({ endIdle: true });
  const { places } = of;
  const sessions = readStore(places.storePath, (db) => recentSessions(db, 9)) ?? [];
  const { context } = contextAt(places);
  const { foundIn } = pageSearch({ agents: await allAgents(), loaded: await loadConfig({ env: {}, places }) }, context);
  if (foundIn === undefined) throw new Error("the settings forbid the search");
  return { sessions, foundIn };
}

test("the first answer ends with the first session that has the text, and the others search on", async () => {
  const { sessions, foundIn } = await searched();
  expect(sessions).toHaveLength(2);
  const [newest, other] = sessions.map(({ id }) => id);
  const first = await foundIn(sessions, TEXT, true);
  expect([[...first.lines.keys()], first.searched]).toEqual([[newest], 1]);
  const next = await foundIn(sessions.slice(1), TEXT, false);
  expect([[...next.lines.keys()], next.searched]).toEqual([[other], 1]);
});

test("an answer without a find goes on", async () => {
  const { sessions, foundIn } = await searched();
  expect(await foundIn(sessions, "nowhere to be found", true)).toEqual({ lines: new Map(), searched: 2 });
});

// --- internal ---

/** Both prompts have it. */
const TEXT = "in two steps";
