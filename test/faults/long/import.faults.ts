// An import that is killed, interrupted, raced, or has no room: the imported sessions are kept, nothing counts twice, and the next import
// continues.
import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { FaultPoint } from "#kit/fault-points.ts";
import { claudePath, claudeSession, NOTHING, plus, sessionIdOf, type Totals, writeLines } from "../../import/claude.ts";
import { packedCount, storedTotals } from "../../import/totals.ts";
import { startReceiver } from "../../receiver/receiver.ts";
import { ensureBuilt, PROGRAM, sleep, until } from "../../support/program.ts";
import { bound, limited, smallDisk } from "../disk.ts";
import { type Fault, faultsFor, nameOf } from "../fault.ts";
import { type Ended, FaultBuild } from "../program.ts";
import { record } from "../record.ts";
import { State } from "../world.ts";

const STARTED_MS = Date.parse("2026-10-03T10:00:00Z");
const HOUR_MS = 3_600_000;

/** Many small sessions: several commits in a row. */
const SMALL = 1_100;
/** Some large ones: 150 MB. */
const LARGE = 300;

let build: FaultBuild;
let root: string;
const homes = { small: "", large: "" };
const totals: Record<keyof typeof homes, Totals> = { small: NOTHING, large: NOTHING };
let states = 0;

beforeAll(async () => {
  await ensureBuilt();
  build = new FaultBuild();
  root = mkdtempSync(join(tmpdir(), "openhook-import-"));
  for (const name of ["small", "large"] as const) {
    const home = join(root, name);
    homes[name] = home;
    const made = Array.from({ length: name === "small" ? SMALL : LARGE }, (_, n) => {
      const id = sessionIdOf(n);
      const size = name === "small" ? { turns: 1, steps: 2 } : { turns: 12, steps: 5, resultLength: 9_000 };
      const one = claudeSession({ id, startMs: STARTED_MS + n * HOUR_MS, ...size });
      writeLines(claudePath({ home }, id), one.lines);
      return one.totals;
    });
    totals[name] = plus(...made);
  }
}, 120_000);
afterAll(() => {
  build?.remove();
  if (root !== undefined) rmSync(root, { recursive: true, force: true, maxRetries: 10 });
});

const stateOf = (home: keyof typeof homes): State => new State(join(root, `state-${++states}`), homes[home]);

/** A run of the built program. */
function start(state: State, args: readonly string[] = ["import", "--json"], under: readonly string[] = []) {
  const [program = "", ...rest] = [...under, process.execPath, PROGRAM, ...args];
  const child: ChildProcess = spawn(program, rest, { cwd: "/", env: state.env, stdio: ["ignore", "pipe", "pipe"] });
  const texts = { stdout: "", stderr: "" };
  child.stdout?.on("data", (data: Buffer) => {
    texts.stdout += String(data);
  });
  child.stderr?.on("data", (data: Buffer) => {
    texts.stderr += String(data);
  });
  const ended = new Promise<Omit<Ended, "tookMs">>((done) =>
    child.on("close", (code, signal) => done({ code, signal, ...texts })),
  );
  return { child, ended };
}

async function finished(state: State, home: keyof typeof homes): Promise<void> {
  const { code, stderr } = await start(state).ended;
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(storedTotals(state.places.storePath)).toEqual(totals[home]);
  expect(packedCount(state.places.storePath)).toBe(totals[home].sessions);
}

/** Checks that all sessions are complete. */
function expectWhole(state: State, home: keyof typeof homes): number {
  const { sessions, calls } = storedTotals(state.places.storePath);
  expect(packedCount(state.places.storePath)).toBe(sessions);
  expect(calls).toBe((sessions * totals[home].calls) / totals[home].sessions);
  return sessions;
}

describe("an import that is killed", () => {
  test("at each of its steps: the next import completes it", async () => {
    const traced = stateOf("small");
    const trace = join(root, "trace");
    expect((await build.run(["import", "--json"], traced, { trace })).code).toBe(0);
    const steps = readFileSync(trace, "utf8").trim().split("\n") as FaultPoint[];
    expect(steps.filter((step) => step === "commit.transcript").length).toBeGreaterThan(2);
    traced.remove();
    const faults = faultsFor(steps, (kind) => (kind === "kill" ? 3 : 0)).filter(({ kind }) => kind === "kill");
    expect(faults.length).toBeGreaterThan(15);
    for (const fault of faults) {
      const state = stateOf("small");
      const { signal } = await build.run(["import", "--json"], state, { fault });
      expect(signal, nameOf(fault)).toBe("SIGKILL");
      if (existsSync(state.places.storePath) && isMade(fault)) expectWhole(state, "small");
      await finished(state, "small");
      state.remove();
    }
    record({
      area: "drain",
      fault: "import: SIGKILL before and after each of its steps",
      runs: faults.length,
      eventsIn: faults.length * SMALL,
      lost: 0,
      duplicates: 0,
    });
  }, 600_000);

  test("by errors of the store and the disk: reported in one line, completed the next time", async () => {
    const faults: readonly Fault[] = (["ENOSPC", "EIO", "throw"] as const).flatMap((kind) =>
      ([1, 2] as const).map((occurrence) => ({ step: "commit.transcript", occurrence, when: "before", kind })),
    );
    for (const fault of faults) {
      const state = stateOf("small");
      const { code, stderr } = await build.run(["import"], state, { fault });
      expect(code, nameOf(fault)).toBe(1);
      expect(stderr).toMatch(/cannot commit|injected/);
      expect(expectWhole(state, "small")).toBe((fault.occurrence - 1) * 500);
      await finished(state, "small");
      state.remove();
    }
  }, 300_000);

  test("at moments spread over its whole duration: the next import completes it", async () => {
    const whole = stateOf("large");
    const startMs = performance.now();
    await finished(whole, "large");
    const tookMs = performance.now() - startMs;
    whole.remove();
    const [runs, seen]: [number, Set<number>] = [16, new Set()];
    for (let i = 0; i < runs; i++) {
      const state = stateOf("large");
      const { child, ended } = start(state);
      await sleep((tookMs * (i + 0.5)) / runs);
      child.kill("SIGKILL");
      await ended;
      if (existsSync(state.places.storePath)) seen.add(storedTotals(state.places.storePath).sessions);
      await finished(state, "large");
      state.remove();
    }
    record({
      area: "drain",
      fault: "import: SIGKILL at times spread over it",
      runs,
      eventsIn: runs * LARGE,
      lost: 0,
      duplicates: 0,
      note: `sessions stored by then: ${[...seen].sort((a, b) => a - b).join(", ")}`,
    });
  }, 300_000);
});

describe("Ctrl-C", () => {
  test.each(["SIGINT", "SIGTERM"] as const)(
    "%s: stops soon, reports it, exits with 130; the next import continues",
    async (signal) => {
      let stopped = 0;
      const whole = stateOf("large");
      const beganMs = performance.now();
      await start(whole, ["import"]).ended;
      const tookMs = performance.now() - beganMs;
      whole.remove();
      for (const share of [0.3, 0.5, 0.6]) {
        const state = stateOf("large");
        const { child, ended } = start(state, ["import"]);
        await sleep(share * tookMs);
        await until("it has begun", () => existsSync(state.places.storePath) || child.exitCode !== null);
        const startMs = performance.now();
        child.kill(signal);
        const { code, stdout } = await ended;
        expect(performance.now() - startMs).toBeLessThan(10_000);
        expect(code).toBeOneOf([0, 130]);
        if (code === 130) {
          stopped++;
          expect(stdout).toMatch(/stopped after \d+ sessions?; the imported sessions are kept/);
          expectWhole(state, "large");
        }
        await finished(state, "large");
        state.remove();
      }
      expect(stopped).toBeGreaterThan(0);
    },
    300_000,
  );

  test("while it sends: exit 130, the rest stays queued, and everything is sent once", async () => {
    const receiver = await startReceiver();
    const state = stateOf("small");
    try {
      await finished(state, "small");
      const env = { ...state.env, OPENHOOK_OTEL_OTLP_ENDPOINT: receiver.url };
      const sending = Object.assign(Object.create(State.prototype), { places: state.places });
      Object.defineProperty(sending, "env", { value: env });
      const { child, ended } = start(sending, ["import", "--export"]);
      await until("something arrived", () => receiver.spans.length > 0 || child.exitCode !== null, 60_000);
      child.kill("SIGINT");
      expect((await ended).code).toBeOneOf([0, 130]);
      await start(sending, ["import", "--export"]).ended;
      const { sessions, turns, calls, tools } = totals.small;
      expect(receiver.spansById().size).toBe(sessions + turns + calls + tools);
      expect(receiver.spans.length).toBe(receiver.spansById().size);
      expect(storedTotals(state.places.storePath)).toEqual(totals.small);
    } finally {
      await receiver.close();
      state.remove();
    }
  }, 300_000);
});

describe("at the same time", () => {
  test("two imports: everything counts once, and neither fails", async () => {
    const state = stateOf("large");
    const both = await Promise.all([start(state).ended, start(state).ended]);
    expect(both.map(({ code, stderr }) => ({ code, stderr }))).toEqual([
      { code: 0, stderr: "" },
      { code: 0, stderr: "" },
    ]);
    const imported = both.map(({ stdout }) => JSON.parse(stdout).agents["claude-code"].imported);
    expect(imported.sort((a, b) => a - b)).toEqual([0, LARGE]);
    await finished(state, "large");
    state.remove();
  }, 120_000);

  test("a hook's drain returns, and its work is done after the import", async () => {
    const state = stateOf("large");
    const { child, ended } = start(state);
    await until("it has begun", () => existsSync(state.places.storePath) || child.exitCode !== null);
    const id = sessionIdOf(9_999);
    const envelope = { openhook: "0.1", id: "e1", source: "openhook", type: "session.end", session_id: id };
    const hook = spawn("/bin/sh", [join(dirname(PROGRAM), "hook.sh"), "openhook", "session.end"], {
      env: { ...state.env, OPENHOOK_OTEL_DRAIN: "off" },
      stdio: ["pipe", "ignore", "ignore"],
    });
    hook.stdin.end(JSON.stringify({ ...envelope, time: new Date().toISOString() }));
    await new Promise((done) => hook.on("close", done));
    await start(state, ["drain", "--quiet"]).ended;
    expect((await ended).code).toBe(0);
    expect(storedTotals(state.places.storePath)).toEqual({ ...totals.large, sessions: LARGE + 1 });
    state.remove();
  }, 120_000);
});

describe("no space, no permission", () => {
  test("a full disk: reported in one line, nothing incomplete; with free space it continues", async () => {
    const disk = smallDisk(24 << 20);
    const under = typeof disk === "string" ? limited(300_000) : [];
    const dir = typeof disk === "string" ? root : disk.dir;
    const state = new State(join(dir, "state-full"), homes.small);
    try {
      if (typeof disk !== "string") disk.fill(400_000);
      const { code, stderr } = await start(state, ["import"], under).ended;
      expect(code).toBe(1);
      expect(stderr).toMatch(/^openhook-otel: cannot [^\n]*"\/[^\n]+\n$/);
      expect(expectWhole(state, "small")).toBeLessThan(SMALL);
      if (typeof disk !== "string") disk.free();
      await finished(state, "small");
    } finally {
      state.remove();
      if (typeof disk !== "string") disk.remove();
    }
  }, 120_000);

  test("a transcript of another user: all others are imported, it is reported, exit 1", async () => {
    const by = bound();
    if (typeof by === "string") return;
    const state = stateOf("large");
    const closed = claudePath({ home: homes.large }, sessionIdOf(3));
    chmodSync(closed, 0o000);
    try {
      const { code, stdout, stderr } = await start(state, ["import", "--json"], by).ended;
      expect({ code, stderr }).toEqual({ code: 1, stderr: "" });
      const { agents, problems } = JSON.parse(stdout);
      expect(agents["claude-code"]).toMatchObject({ found: LARGE, imported: LARGE - 1, failed: 1 });
      expect(problems).toEqual([expect.stringMatching(new RegExp(`${sessionIdOf(3)}.*(EACCES|permission|denied)`))]);
      expect(expectWhole(state, "large")).toBe(LARGE - 1);
    } finally {
      chmodSync(closed, 0o600);
    }
    await finished(state, "large");
    state.remove();
  }, 60_000);

  test("a state directory that is not writable: reported, and nothing is created", async () => {
    const disk = smallDisk(8 << 20);
    const by = bound();
    if (typeof disk === "string" || typeof by === "string") return;
    const state = new State(join(disk.dir, "state-closed"), homes.small);
    try {
      disk.readOnly(true);
      const { code, stderr } = await start(state, ["import"], by).ended;
      expect(code).toBe(1);
      expect(stderr).toMatch(/^openhook-otel: [^\n]*"\/[^\n]+\n$/);
      // Reading needs no free space
      const dry = await start(state, ["import", "--dry-run"], by).ended;
      expect({ code: dry.code, stderr: dry.stderr }).toEqual({ code: 0, stderr: "" });
      expect(dry.stdout).toContain("1,100 sessions");
      expect(existsSync(state.places.stateDir)).toBe(false);
    } finally {
      disk.readOnly(false);
      disk.remove();
    }
  }, 60_000);
});

// --- internal ---

/** Before the schema is created, there may be an empty file. */
const isMade = ({ step }: Fault): boolean => !/^(store\.open|commit\.schema|lock\.|state\.)/.test(step);
