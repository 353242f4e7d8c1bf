import { expect, test } from "vitest";
import { allAgents } from "#agents/registry.ts";
import { NOTHING_SETTLED } from "#core/model/session.ts";
import { buildSession } from "#core/session/build.ts";
import { recentSessions } from "#store/queries.ts";
import { readStore } from "#store/read-only.ts";
import { expectsTranscript, sessionFactsOf } from "#store/sessions/read-session.ts";
import { unsettledSession } from "#store/sessions/unsettled-session.ts";
import { Replay } from "../support/replay.ts";

const agents = await allAgents();

test.each(["claude-code", "codex", "cursor"])(
  "a settled session of %s is as if it were built from no facts",
  async (source) => {
    const of = new Replay(source, "basic");
    try {
      for (const call of of.calls) of.put(call);
      await of.drain({ endIdle: true });
      const compared = readStore(of.places.storePath, (db) =>
        recentSessions(db, 9).map((stored) => {
          const facts = sessionFactsOf({ agents }, stored);
          const isExpected = expectsTranscript({ db, agents }, stored);
          const input = { facts, events: [], entries: [], context: NOTHING_SETTLED, expectsTranscript: isExpected };
          return [unsettledSession({ db, agents }, stored), buildSession(input)] as const;
        }),
      );
      expect(compared?.length).toBeGreaterThan(0);
      for (const [unsettled, built] of compared ?? []) expect(unsettled).toStrictEqual(built);
    } finally {
      of.remove();
    }
  },
);
