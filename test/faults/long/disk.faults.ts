// A full disk, a state directory that is read-only or another user's: the agent notices nothing, the drain reports the problem,
// nothing recorded is lost, and with free space everything is as if nothing had happened.
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, extname, join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type Receiver, startReceiver } from "../../receiver/receiver.ts";
import { ensureBuilt, ROOT } from "../../support/program.ts";
import { bound, limited, type SmallDisk, smallDisk } from "../disk.ts";
import { differences, envFor } from "../disturbed.ts";
import { type Outcome, outcomeOf } from "../outcome.ts";
import { type Ended, FaultBuild } from "../program.ts";
import { record } from "../record.ts";
import { State, World } from "../world.ts";

let build: FaultBuild;
let world: World;
let receiver: Receiver;
let reference: Outcome;
let disk: SmallDisk | undefined;
const recoveryMs: number[] = [];

beforeAll(async () => {
  await ensureBuilt();
  build = new FaultBuild();
  world = new World();
  receiver = await startReceiver();
  const state = world.state();
  expect((await build.drain(state, { env: envFor(receiver) })).code).toBe(0);
  reference = outcomeOf(state, receiver);
}, 120_000);
afterAll(async () => {
  await receiver?.close();
  world?.remove();
  build?.remove();
});
afterEach(() => {
  disk?.remove();
  disk = undefined;
});

const KIB = 1024;
const DISK_BYTES = 64 * KIB * KIB;

/** A separate disk; without one the test is skipped, with the reason. */
function mounted({ skip }: { readonly skip: (why: string) => never }): SmallDisk {
  const made = smallDisk(DISK_BYTES);
  if (typeof made === "string") {
    console.warn(`SKIPPED, not on a real disk: ${made}; the limit on file sizes is tried all the same`);
    return skip(made);
  }
  disk = made;
  return made;
}

/** One line that names the file and what to check, without a stack; or there was enough room. */
function expectClear({ code, stderr }: Ended): void {
  expect(code).toBeOneOf([0, 1]);
  if (code === 0) expect(stderr).toBe("");
  else expect(stderr).toMatch(/^openhook-otel: cannot [^\n]*"\/[^\n]+\n$/);
}

/** Everything is there once the problem is solved. */
async function expectRecovered(state: State): Promise<void> {
  const startMs = performance.now();
  for (const _ of ["once", "for what was left"]) {
    const { code, stderr } = await build.drain(state, { env: envFor(receiver) });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  }
  recoveryMs.push(performance.now() - startMs);
  expect(differences(reference, outcomeOf(state, receiver))).toEqual([]);
}

/** A hook call with a payload of some size, as an agent makes it. */
function hook(state: State, bytes: number, under: readonly string[] = []) {
  const payload = JSON.stringify({ hook_event_name: "Stop", session_id: "s", padding: "x".repeat(bytes) });
  const [program = "", ...args] = [...under, "/bin/sh", join(ROOT, "dist", "hook.sh"), "claude-code", "Stop"];
  const { status, stdout, stderr } = spawnSync(program, args, {
    input: payload,
    env: { ...state.env, OPENHOOK_OTEL_DRAIN: "off" },
    encoding: "utf8",
    timeout: 20_000,
  });
  return { status, stdout, stderr };
}
const SILENT = { status: 0, stdout: "", stderr: "" };

describe("the disk is full", () => {
  const FREE_KIB = [0, 4, 40, 160, 640, 1_500, 3_000];
  test.for(FREE_KIB)("with %i KiB left for the drain", async (freeKiB, context) => {
    const small = mounted(context);
    receiver.clear();
    const state = world.state([0, 1], small.dir);
    small.fill(freeKiB * KIB);
    expectClear(await build.drain(state, { env: envFor(receiver) }));
    expectClear(await build.drain(state, { env: envFor(receiver) }));
    small.free();
    await expectRecovered(state);
  });

  test.for([0, 4, 64])(
    "with %i KiB left for the hook: silent, no rubbish, what is lost is counted, and the next event arrives",
    async (freeKiB, context) => {
      receiver.clear();
      const small = mounted(context);
      const state = world.state([0, 0], small.dir);
      small.fill(freeKiB * KIB);
      for (let call = 0; call < 20; call++) expect(hook(state, 100_000)).toEqual(SILENT);
      const left = readdirSync(state.places.inboxDir).map((name) => join(state.places.inboxDir, name));
      expect(left).toHaveLength(20);
      for (const path of left) expect([extname(path), statSync(path).size]).toEqual([".lost", 0]);
      const status = await build.run(["status", "--json"], state);
      expect(JSON.parse(status.stdout).inbox).toMatchObject({ waiting: 0, lost: 20 });
      small.free();
      expect(hook(state, 100_000)).toEqual(SILENT);
      for (const _ of ["counts them", "not again"]) {
        expectClear(await build.drain(state, { env: envFor(receiver) }));
        expect(readdirSync(state.places.inboxDir)).toEqual([]);
        expect(outcomeOf(state, receiver)).toMatchObject({ lost: 20, waiting: { claimed: 0 } });
      }
      const dropped = receiver.latestPoints().filter(({ name }) => name === "openhook.collector.dropped.count");
      expect(dropped).toMatchObject([{ attributes: { "openhook.collector.reason": "no_room" }, data: { value: 20 } }]);
    },
  );

  test("no file may grow: the same without a separate disk", async () => {
    for (const limitKiB of [0, 64, 700]) {
      receiver.clear();
      const state = world.state();
      expectClear(await build.drain(state, { env: envFor(receiver), under: limited(limitKiB * KIB) }));
      await expectRecovered(state);
      state.remove();
    }
    const state = world.state([0, 0]);
    expect(hook(state, 100_000, limited(8 * KIB))).toEqual(SILENT);
    expect(hook(state, 100_000)).toEqual(SILENT);
    // A file that could not be written completely is no event
    expect(
      readdirSync(state.places.inboxDir)
        .map((name) => extname(name))
        .sort(),
    ).toEqual([".evt", ".lost"]);
  });
});

describe("the state directory cannot be written", () => {
  test("read-only: the drain reports it, the hook prints nothing, and everything is there afterwards", async (context) => {
    const small = mounted(context);
    receiver.clear();
    const state = world.state([0, 1], small.dir);
    small.readOnly(true);
    const ended = await build.drain(state, { env: envFor(receiver) });
    expect(ended.code).toBe(1);
    expectClear(ended);
    expect(hook(state, 1_000)).toEqual(SILENT);
    const status = await build.run(["status"], state);
    expect(status.stderr).toBe("");
    small.readOnly(false);
    await expectRecovered(state);
  });

  test("another user's, or without any permission: the drain reports it, the hook prints nothing", async (context) => {
    const under = bound();
    if (typeof under === "string") {
      console.warn(`SKIPPED, permissions: ${under}`);
      return context.skip(under);
    }
    receiver.clear();
    const state = world.state();
    const parent = join(world.root, "locked");
    mkdirSync(parent);
    const locked = new State(join(parent, "state"), world.home);
    chmodSync(parent, 0o500);
    const ended = await build.drain(locked, { env: envFor(receiver), under });
    expect(ended.code).toBe(1);
    expectClear(ended);
    expect(ended.stderr).toContain(locked.places.stateDir);
    expect(hook(locked, 1_000, under)).toEqual(SILENT);
    expect(existsSync(locked.places.stateDir)).toBe(false);
    chmodSync(parent, 0o700);

    // Our files with a wrong mode: fixed silently
    for (const dir of [state.places.inboxDir, state.places.stateDir]) chmodSync(dir, 0o000);
    await expectRecovered(state);
    expect(readFileSync(join(dirname(state.places.storePath), "store.db")).length).toBeGreaterThan(0);
  });
});

test("these faults are in the report", () => {
  record({
    area: "drain",
    fault: "full disk (tmpfs, limit on file sizes), read-only, no permission",
    runs: recoveryMs.length,
    eventsIn: recoveryMs.length * world.events,
    lost: 0,
    duplicates: 0,
    recoveryMs: Math.ceil(Math.max(...recoveryMs)),
  });
});
