// Slow: only `npm run test:all` runs it. A store with damaged pages; store/database.test.ts damages it once.
//
// The bounded part of long/damage.faults.ts.
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Receiver, startReceiver } from "../receiver/receiver.ts";
import { garbage, overwritten, PAGE_BYTES, truncated } from "./damage.ts";
import type { Outcome } from "./outcome.ts";
import { FaultBuild } from "./program.ts";
import { damaged, rebuilt } from "./rebuilt.ts";
import { World } from "./world.ts";

let build: FaultBuild;
let world: World;
let receiver: Receiver;
let reference: Outcome;
beforeAll(async () => {
  build = new FaultBuild();
  world = new World([
    { source: "claude-code", name: "subagent" },
    { source: "cursor", name: "basic" },
  ]);
  receiver = await startReceiver();
  const whole = await damaged(build, world, receiver, undefined);
  expect(whole.problems).toEqual([]);
  reference = whole.outcome;
});
afterAll(async () => {
  await receiver?.close();
  world?.remove();
  build?.remove();
});

test("without its header, the store is set aside, and everything later is delivered", async () => {
  const damage = overwritten("store", "header garbage", () => 0, garbage(100, 1));
  const done = await rebuilt(build, world, receiver, reference, damage);
  expect(done).toMatchObject({ problems: [], wasSetAside: true, tokens: { twice: 0 } });
  expect(done.lost).toBeLessThan(reference.spans.size / 2);
});

test("truncated, everything that is still in it is salvaged", async () => {
  const done = await rebuilt(build, world, receiver, reference, truncated("store", 0.97));
  expect(done).toMatchObject({ problems: [], wasSetAside: true, forgotten: 0, lost: 0, added: 0 });
});

test("a commit that is missing in the log loses nothing", async () => {
  const kill = { step: "inbox.settle", occurrence: 12, when: "after", kind: "kill" } as const;
  const damage = overwritten("log", "zeroed", () => 0, Buffer.alloc(PAGE_BYTES));
  const done = await rebuilt(build, world, receiver, reference, damage, kill);
  expect(done).toMatchObject({ problems: [], lost: 0, added: 0, tokens: { missing: 0, twice: 0 } });
});
