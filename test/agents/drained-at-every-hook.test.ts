import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { allAgents } from "../../src/agents/registry.ts";
import { booksOfAll } from "../faults/load.ts";
import { clockAt } from "../support/clock.ts";
import { CASES, Replay } from "../support/replay.ts";

const agents = await allAgents();
const cases = agents.flatMap((agent) => {
  const folder = join(CASES, agent.source);
  return existsSync(folder)
    ? readdirSync(folder)
        .filter((name) => existsSync(join(folder, name, "expected.json")))
        .map((name) => ({ agent, source: agent.source, name }))
    : [];
});
let replay: Replay | undefined;
afterEach(() => replay?.remove());
describe.each(cases)("$source $name", ({ source, name }) => {
  // Nothing may be settled before all of it was told: what a transcript says would mend it here
  test("hooks alone: a drain after every hook tells what one drain tells", { timeout: 60_000 }, async () => {
    const books = async (isEach: boolean) => {
      replay = new Replay(source, name, { withTranscripts: false });
      for (const call of replay.calls) {
        replay.put(call);
        if (isEach) await replay.drain({}, clockAt(Date.parse(call.received_at)));
      }
      await replay.drain({ endIdle: true });
      const told = Object.fromEntries(booksOfAll(replay.places.storePath));
      replay.remove();
      return told;
    };
    expect(await books(true)).toEqual(await books(false));
  });
});
