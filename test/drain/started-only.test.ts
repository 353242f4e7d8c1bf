// Agents report starts of sessions that are never used: these sessions are stored, and counted nowhere.
import { afterEach, expect, test } from "vitest";
import { allAgents } from "#agents/registry.ts";
import { usage } from "#show/report/usage.ts";
import { counterValues } from "#store/counters.ts";
import { openDatabase } from "#store/database.ts";
import { recentSessions } from "#store/queries.ts";
import { MadeSession } from "../support/made-session.ts";

let session: MadeSession | undefined;
afterEach(() => session?.remove());

const agents = await allAgents();

function storedIn(made: MadeSession) {
  const db = openDatabase(made.storePath);
  try {
    return {
      counted: usage(db, { agents }, { by: [] })[0]?.sessions ?? 0,
      listed: recentSessions(db, 9).length,
      all: recentSessions(db, 9, true).length,
      metrics: [...counterValues(db)].filter(({ metric }) => metric === "openhook.session.count").length,
    };
  } finally {
    db.close();
  }
}

test("a start that nothing follows is listed as open, then only with all others, and is never counted", async () => {
  session = new MadeSession();
  await session.hook("SessionStart", { source: "startup" });
  await session.drain();
  expect(storedIn(session)).toEqual({ counted: 0, listed: 1, all: 1, metrics: 0 });
  await session.drain({ endIdle: true });
  expect(storedIn(session)).toEqual({ counted: 0, listed: 0, all: 1, metrics: 0 });
  expect(session.spans()).toEqual([]);
});

test("a session that is used only later begins with its first use", async () => {
  session = new MadeSession();
  await session.hook("SessionStart", { source: "startup" });
  await session.drain({ endIdle: true });
  await session.hook("UserPromptSubmit", { prompt_id: "p1", prompt: "go on" });
  await session.user("p1");
  await session.answer();
  await session.hook("Stop", { prompt_id: "p1" });
  await session.hook("SessionEnd", { reason: "other" });
  await session.drain();
  expect(storedIn(session)).toEqual({ counted: 1, listed: 1, all: 1, metrics: 1 });
  expect(session.spans()).not.toEqual([]);
});
