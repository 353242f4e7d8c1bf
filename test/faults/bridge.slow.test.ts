// Slow: only `npm run test:all` runs it. A drain killed at every step of the bridge; bridge/deliver.test.ts delivers once.
//
// A drain that is killed, or fails, at every step of the bridge: no envelope is lost, and only the one whose command ran can come twice.
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bridgeCommandStates } from "#store/bridge.ts";
import { readStore } from "#store/read-only.ts";
import { ensureBuilt, sleep } from "../support/program.ts";
import { allowCommand } from "./allow-command.ts";
import { type Fault, faultsFor, nameOf } from "./fault.ts";
import { FaultBuild } from "./program.ts";
import { type State, World } from "./world.ts";

const NAMES = ["bridge.run", "commit.bridge", "commit.inbox"] as const;
/** Limit for the drains after a kill: the bridge starts a command again only after a second. */
const MOST_DRAINS = 40;

let world: World;
let build: FaultBuild;
let reference: readonly string[];
let faults: readonly Fault[];
beforeAll(async () => {
  await ensureBuilt();
  world = new World([{ source: "claude-code", name: "basic" }], { strangers: false });
  build = new FaultBuild();
  const state = prepared();
  const trace = join(world.root, "trace");
  await build.drain(state, { trace });
  reference = arrived();
  const steps = readFileSync(trace, "utf8").split("\n");
  faults = faultsFor(
    NAMES.flatMap((name) => steps.flatMap((step) => (step === name ? [name] : []))),
    (kind) => (kind === "kill" ? 3 : 1),
  );
});
afterAll(() => {
  build?.remove();
  world?.remove();
});

test("undisturbed, each envelope arrives once", () => {
  expect(reference.length).toBeGreaterThan(5);
  expect(new Set(reference).size).toBe(reference.length);
});

test("at every step and for every kind of fault, nothing is lost or changes its order", async () => {
  const problems: string[] = [];
  for (const fault of faults) {
    const state = prepared();
    await build.drain(state, { fault });
    for (let n = 0; n < MOST_DRAINS && isWaiting(state); n++) {
      await build.drain(state);
      if (isWaiting(state)) await sleep(250);
    }
    const got = arrived();
    // The first arrivals, in their order
    if (JSON.stringify([...new Set(got)]) !== JSON.stringify(reference)) {
      problems.push(`${nameOf(fault)}: ${JSON.stringify(got)} instead of ${JSON.stringify(reference)}`);
    }
    const again = got.length - new Set(got).size;
    if (again > 1) problems.push(`${nameOf(fault)}: ${again} envelopes came again`);
    state.remove();
  }
  expect(problems).toEqual([]);
  expect(faults.filter(({ kind }) => kind === "kill").length).toBeGreaterThanOrEqual(14);
});

// --- internal ---

function prepared(): State {
  rmSync(outputOf(), { force: true });
  const state = world.state();
  allowCommand(state, 'cat >> "$HOME/arrived.jsonl"');
  return state;
}

const outputOf = (): string => join(world.home, "arrived.jsonl");

/** Ids in order of arrival. */
const arrived = (): readonly string[] =>
  existsSync(outputOf())
    ? readFileSync(outputOf(), "utf8")
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line).id)
    : [];

/** Whether something is queued, or was not even stored. */
function isWaiting({ places }: State): boolean {
  const states = existsSync(places.storePath) ? readStore(places.storePath, bridgeCommandStates) : undefined;
  return states === undefined || states.length === 0 || states.some(({ queued }) => queued > 0);
}
