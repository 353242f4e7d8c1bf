import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { allAgents } from "#agents/registry.ts";
import { verifyChain } from "#core/audit/verify.ts";
import type { ToolCall } from "#core/model/session.ts";
import { openDatabase } from "#store/database.ts";
import { clockAt } from "../support/clock.ts";
import { CASES, Replay } from "../support/replay.ts";
import { chosenRecordings } from "../support/whole.ts";
import { linksOf, namesIn, recordIn } from "./planted.ts";

const cases = (await allAgents()).flatMap((agent) => {
  const folder = join(CASES, agent.source);
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return names
    .filter((name) => existsSync(join(folder, name, "expected.json")))
    .map((name) => ({ agent, source: agent.source, name }));
});

let replay: Replay | undefined;
afterEach(() => replay?.remove());

describe.each(chosenRecordings(cases))("$source $name", ({ source, name }) => {
  test("each settled call is in the trail once, with its outcome and the files that it changed", async () => {
    replay = new Replay(source, name);
    for (const call of replay.calls) replay.put(call);
    replay.env = { OPENHOOK_OTEL_AUDIT_ENABLED: "true" };
    const clock = clockAt(Date.UTC(2026, 11, 1));
    for (let i = 0; i < 2; i++) await replay.drain({ endIdle: true }, clock);
    const { storePath } = replay.places;
    const links = linksOf({ storePath });
    const calls = callsIn(storePath);
    expect(
      links
        .map((link) => {
          const { agent, session, call, outcome } = recordIn(link);
          const targets = namesIn(link).targets ?? [];
          const written = targets.filter(({ known }) => known === "result").length;
          return JSON.stringify([agent, session, call, outcome, written]);
        })
        .sort(),
    ).toEqual(calls);
    expect(verifyChain(links).ok).toBe(true);
  });
});

/** What the store has of settled calls, in the same form. */
function callsIn(storePath: string): readonly string[] {
  const db = openDatabase(storePath);
  try {
    return db
      .prepare(
        "SELECT s.source, s.session_id, t.call_id, t.status, t.body FROM tool_calls t JOIN sessions s ON s.id = t.session",
      )
      .all()
      .map((row) => {
        const { files = [] } = JSON.parse(String(row["body"])) as ToolCall;
        const written = new Set(files.map(({ path }) => path)).size;
        return JSON.stringify([row["source"], row["session_id"], row["call_id"], row["status"], written]);
      })
      .sort();
  } finally {
    db.close();
  }
}
