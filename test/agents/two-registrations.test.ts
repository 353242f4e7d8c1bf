// An agent that also runs Claude Code's hooks reports each event twice: through those and through its own.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, test } from "vitest";
import { allAgents } from "#agents/registry.ts";
import { clockAt } from "../support/clock.ts";
import { compareRecorded } from "../support/expected.ts";
import { CASES, hasPlugin, Replay } from "../support/replay.ts";
import type { Expected } from "../support/summary.ts";
import { firstRecordings } from "../support/whole.ts";

/** Agents whose payloads themselves distinguish two events; others are not known to run other agents' hooks. */
const agents = (await allAgents()).filter(
  ({ source, capabilities }) => capabilities.eventIds === "payload" && !hasPlugin(source),
);
const cases = agents.flatMap(({ source }) => {
  const folder = join(CASES, source);
  return existsSync(folder)
    ? readdirSync(folder)
        .filter((name) => existsSync(join(folder, name, "expected.json")))
        .map((name) => ({ source, name }))
    : [];
});

let replay: Replay | undefined;
afterEach(() => replay?.remove());

test.each(firstRecordings(cases))("$source $name: nothing counts twice", async ({ source, name }) => {
  const expected = JSON.parse(readFileSync(join(CASES, source, name, "expected.json"), "utf8")) as Expected;
  replay = new Replay(source, name);
  for (const call of replay.calls) {
    const ms = Date.parse(call.received_at);
    replay.put(call, ms + 3, "claude-code");
    replay.put(call, ms);
  }
  const lastMs = Math.max(...replay.calls.map((call) => Date.parse(call.received_at)));
  await replay.drain({ endIdle: true }, clockAt(lastMs + 1_000));
  compareRecorded(replay.places.storePath, expected);
});
