// Slow: only `npm run test:all` runs it. Floods and torn input; intake/inbox.test.ts has the rules.
//
// Any value in place of an id, a name or a path, for every agent: nothing throws, nothing is written elsewhere, what is stored is
// bounded, what cannot be stored is quarantined with a reason, and later payloads are processed.
import { afterEach, beforeEach, expect, test } from "vitest";
import { MAX_ID_CHARACTERS } from "#core/rules/limits.ts";
import { tryOddValues } from "./input-run.ts";
import { InputWorld } from "./input-world.ts";

let world: InputWorld;
beforeEach(() => {
  world = new InputWorld();
});
afterEach(() => world.remove());

test("odd values in a payload of every agent, and of OpenHook, are converted or quarantined", async () => {
  // All kinds of payloads: test/faults/long/input.faults.ts
  const tried = await tryOddValues("some");
  expect(tried.inputs).toBeGreaterThan(1_000);

  expect(tried.spans).toBeGreaterThan(200);
});

test("two long ids with the same beginning stay different, and equal ones stay equal", async () => {
  const long = "s".repeat(100_000);
  const started = (id: string) => JSON.stringify({ hook_event_name: "SessionStart", session_id: id, cwd: "/home/dev" });
  for (const id of [`${long}1`, `${long}2`, `${long}1`, `a\0${long}`, `a\u0001${long}`, "a\0", "a\u0001"])
    world.put("claude-code", "SessionStart", started(id));
  await world.drain();
  const ids = world.rows("SELECT session_id FROM sessions").map((row) => String(row["session_id"]));
  expect(new Set(ids).size).toBe(6);
  for (const id of ids) expect(id.length).toBeLessThanOrEqual(MAX_ID_CHARACTERS);
});
