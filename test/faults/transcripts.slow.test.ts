// Slow: only `npm run test:all` runs it. A drain killed within a transcript; drain/late-transcript.test.ts reads in parts.
//
// A drain that is killed in the middle of a transcript that it reads in slices; see also long/transcripts.faults.ts.
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Receiver, startReceiver } from "../receiver/receiver.ts";
import { envFor } from "./disturbed.ts";
import { type Outcome, outcomeOf } from "./outcome.ts";
import { FaultBuild } from "./program.ts";
import { type State, World } from "./world.ts";

let build: FaultBuild;
let world: World;
let receiver: Receiver;
beforeAll(async () => {
  build = new FaultBuild();
  world = new World([{ source: "claude-code", name: "multi-turn" }], { strangers: false });
  receiver = await startReceiver();
});
afterAll(async () => {
  await receiver?.close();
  world?.remove();
  build?.remove();
});

/** More than one slice, of lines without facts. */
const PADDING = `${JSON.stringify({ type: "padding", text: "x".repeat(1_000) })}\n`.repeat(3_000);

async function drained(state: State): Promise<Outcome> {
  const { code, stderr } = await build.drain(state, { env: envFor(receiver) });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return outcomeOf(state, receiver);
}

test("killed between two slices of a long transcript, it reads the rest", async () => {
  const [path = ""] = [...world.transcripts].sort((a, b) => statSync(b).size - statSync(a).size);
  const lines = readFileSync(path, "utf8").split("\n");
  const middle = Math.floor(lines.length / 2);
  writeFileSync(path, `${lines.slice(0, middle).join("\n")}\n${PADDING}${lines.slice(middle).join("\n")}`);
  const reference = await drained(world.state());
  expect(reference.tokens).toBeGreaterThan(0);

  receiver.clear();
  const state = world.state();
  const fault = { step: "commit.transcript", occurrence: 1, when: "after", kind: "kill" } as const;
  expect((await build.drain(state, { env: envFor(receiver), fault })).signal).toBe("SIGKILL");
  const outcome = await drained(state);
  expect(outcome.tokens).toBe(reference.tokens);
  expect([...outcome.spans]).toEqual([...reference.spans]);
});
