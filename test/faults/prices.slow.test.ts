// Slow: only `npm run test:all` runs it. A drain that is killed again and again while it prices; drain/fill-prices.test.ts
// prices without faults.
//
// A drain that is killed again and again while it prices calls that had no price: each call is priced and counted once.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Receiver, startReceiver } from "../receiver/receiver.ts";
import { ensureBuilt } from "../support/program.ts";
import { differences, envFor } from "./disturbed.ts";
import type { Fault } from "./fault.ts";
import { countersAndRowsIn, outcomeOf } from "./outcome.ts";
import { FaultBuild } from "./program.ts";
import { type Case, type State, World } from "./world.ts";

const RATES = { input: 1, output: 1, cacheRead: 1, cacheWrite: 1, cacheWrite1h: 1 };
const SESSIONS: readonly Case[] = [
  { source: "claude-code", name: "subagent" },
  { source: "codex", name: "basic" },
  { source: "claude-code", name: "multi-turn", isPast: true },
  { source: "codex", name: "reasoning", isPast: true },
];

let build: FaultBuild;
let world: World;
let receiver: Receiver;
beforeAll(async () => {
  await ensureBuilt();
  build = new FaultBuild();
  world = new World(SESSIONS, { strangers: false });
  receiver = await startReceiver();
});
afterAll(async () => {
  await receiver?.close();
  world?.remove();
  build?.remove();
});

/** Runs a command with own prices for all models. */
function run(state: State, args: readonly string[], rule: object, fault?: Fault) {
  const path = join(world.root, "prices.json");
  writeFileSync(path, JSON.stringify({ source: "test", models: { "*": rule } }));
  const env = { ...envFor(receiver), OPENHOOK_OTEL_PRICES_FILE: path };
  return build.run(args, state, { env, ...(fault !== undefined && { fault }) });
}

/** What `sessions` and `report` say, from what is stored. */
async function figuresOf(state: State) {
  const json = async (...args: readonly string[]) =>
    JSON.parse((await run(state, [...args, "--no-refresh", "--json"], RATES)).stdout);
  const listed: readonly { readonly totals: { readonly cost_usd: number | null; readonly unpriced_calls: number } }[] =
    await json("sessions");
  const { rows } = await json("report", "agent", "model", "--since", "2026-01-01");
  return { sessions: listed.map(({ totals }) => totals), rows };
}

/** Settled and imported sessions; no call has a price, because the only one does not apply yet. */
async function unpriced(): Promise<State> {
  const state = world.state();
  for (const command of ["drain", "import"]) {
    expect(await run(state, [command, "--json"], { ...RATES, from: "2090-01-01" })).toMatchObject({ code: 0 });
  }
  const { sessions } = await figuresOf(state);
  expect(sessions.length).toBe(SESSIONS.length);
  expect(sessions.every(({ cost_usd }) => cost_usd === null)).toBe(true);
  receiver.clear();
  return state;
}

async function filled(state: State) {
  expect(await run(state, ["drain", "--json"], RATES)).toMatchObject({ code: 0 });
  const { counters, rows } = countersAndRowsIn(state);
  expect(counters).toEqual(rows);
  return { outcome: outcomeOf(state, receiver), figures: await figuresOf(state) };
}

test("killed before and after each session that it prices, every call is priced and counted once", async () => {
  const reference = await filled(await unpriced());
  const { sessions } = reference.figures;
  expect(sessions.every(({ cost_usd, unpriced_calls }) => Number(cost_usd) > 0 && unpriced_calls === 0)).toBe(true);

  const state = await unpriced();
  const priced: number[] = [];
  const kill = async (step: Fault["step"], occurrence: number, when: Fault["when"]): Promise<void> => {
    const ended = await run(state, ["drain", "--json"], RATES, { step, occurrence, when, kind: "kill" });
    expect(ended.signal).toBe("SIGKILL");
    const { counters, rows } = countersAndRowsIn(state);
    expect(counters).toEqual(rows);
    const { sessions } = await figuresOf(state);
    priced.push(sessions.filter(({ cost_usd }) => cost_usd !== null).length);
  };
  for (const _ of SESSIONS) for (const when of ["before", "after"] as const) await kill("commit.session", 1, when);
  expect(priced).toEqual([0, 1, 1, 2, 2, 3, 3, 4]);
  // The note that these prices were tried
  for (const when of ["before", "after"] as const) await kill("store.write", 2, when);

  const { outcome, figures } = await filled(state);
  expect(differences(reference.outcome, outcome)).toEqual([]);
  expect(figures).toEqual(reference.figures);
});
