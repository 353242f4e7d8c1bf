// Transcripts that shrink, vanish, change or grow between and during drains. What was read stays, nothing counts twice, and once
// the file is complete again, so are the sums.
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Receiver, startReceiver } from "../../receiver/receiver.ts";
import { envFor } from "../disturbed.ts";
import { countersAndRowsIn, type Outcome, outcomeOf } from "../outcome.ts";
import { FaultBuild } from "../program.ts";
import { record } from "../record.ts";
import { type Case, type State, World } from "../world.ts";

const CASES: readonly Case[] = [
  { source: "claude-code", name: "subagent" },
  { source: "codex", name: "multi-turn" },
  { source: "copilot", name: "subagent" },
];
/** Another session of the same agent, whose lines replace the first one's. */
const OTHER: Case = { source: "claude-code", name: "parallel-tools" };

interface Transcript {
  readonly path: string;
  readonly whole: string;
  /** What had been read before. */
  readonly half: string;
}

/** What happens to the transcript after half of it was read. */
const MISHAPS: Readonly<Record<string, (transcript: Transcript) => void>> = {
  "truncated below what was read": ({ path, half }) => truncateSync(path, Math.floor(half.length / 3)),
  "truncated to nothing": ({ path }) => truncateSync(path, 0),
  deleted: ({ path }) => rmSync(path),
  "replaced by a directory": ({ path }) => {
    rmSync(path);
    mkdirSync(path);
  },
  "replaced by garbage": ({ path, whole }) => writeFileSync(path, Buffer.alloc(whole.length, 0xfe)),
  "replaced by another session's": ({ path }) => {
    const other = new World([OTHER], { strangers: false });
    writeFileSync(path, readFileSync(mainOf(other).path));
    other.remove();
  },
  "rewritten in place, the same": ({ path, half }) => writeFileSync(path, half),
  "rewritten in place, whole, its beginning another": ({ path, whole }) =>
    writeFileSync(path, `{"type":"x"}\n${whole}`),
  "whole, but for a torn last line": ({ path, whole }) => writeFileSync(path, whole.slice(0, -40)),
  "whole, with torn and foreign lines between": ({ path, whole }) =>
    writeFileSync(path, whole.replaceAll("\n", '\n{"type":"assistant","mess\nnull\n[]\n\u0000\n')),
};

/** Hook calls before the last drain, which make it read the transcript again. */
const LAST = 0.9;
const MOST_DRAINS = 20;

/** Sessions stay open until the last drain. */
const OPEN = { OPENHOOK_OTEL_SESSION_IDLE_TIMEOUT_MS: String(400 * 24 * 3_600_000) } as const;

let build: FaultBuild;
let receiver: Receiver;
let runs = 0;
let events = 0;

beforeAll(async () => {
  build = new FaultBuild();
  receiver = await startReceiver();
}, 60_000);
afterAll(async () => {
  await receiver?.close();
  build?.remove();
});

/** The largest one is the session's own. */
function mainOf(world: World): Transcript {
  const [path = ""] = world.transcripts
    .filter((file) => file.endsWith(".jsonl"))
    .sort((a, b) => statSync(b).size - statSync(a).size);
  const whole = readFileSync(path, "utf8");
  const lines = whole.split("\n");
  return { path, whole, half: `${lines.slice(0, Math.floor(lines.length / 2)).join("\n")}\n` };
}

async function drained(state: State, ...args: readonly string[]): Promise<Outcome> {
  const { code, stderr } = await build.run(["drain", "--json", ...args], state, {
    env: { ...envFor(receiver), ...OPEN },
  });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const outcome = outcomeOf(state, receiver);
  expect([...outcome.times.values()].every((times) => times === 1)).toBe(true);
  const { counters, rows } = countersAndRowsIn(state);
  expect(counters).toEqual(rows);
  return outcome;
}

describe.each(CASES)("$source $name", ({ source, name }) => {
  test.each(Object.keys(MISHAPS))("%s: nothing counts twice, and what was read is kept", async (mishap) => {
    const world = new World([{ source, name }], { strangers: false });
    try {
      receiver.clear();
      const transcript = mainOf(world);
      const { path, whole, half } = transcript;
      const reference = await drained(world.state(), "--end-idle");
      receiver.clear();

      const state = world.state([0, 0.5]);
      writeFileSync(path, half);
      const before = await drained(state);
      MISHAPS[mishap]?.(transcript);
      world.fill(state, [0.5, LAST]);
      const after = await drained(state);
      if (mishap !== "replaced by another session's") expect(after.tokens).toBeLessThanOrEqual(reference.tokens);
      expect(after.tokens).toBeGreaterThanOrEqual(before.tokens);
      for (const id of before.spans.keys()) expect(after.spans.get(id)).toBe(before.spans.get(id));

      rmSync(path, { recursive: true, force: true, maxRetries: 10 });
      writeFileSync(path, whole);
      world.fill(state, [LAST, 1]);
      const end = await drained(state, "--end-idle");
      if (mishap !== "replaced by another session's") expect(end.tokens).toBe(reference.tokens);
      expect(end.tokens).toBeGreaterThanOrEqual(reference.tokens);
      runs++;
      events += world.events;
    } finally {
      world.remove();
    }
  });

  test("that grows by parts of lines while it is read", async () => {
    const world = new World([{ source, name }], { strangers: false });
    try {
      receiver.clear();
      const { path, whole } = mainOf(world);
      const reference = await drained(world.state(), "--end-idle");
      receiver.clear();
      const state = world.state([0, 0]);
      writeFileSync(path, "");
      const source = `${path}.whole`;
      writeFileSync(source, whole);
      const writer = spawn(process.execPath, ["-e", WRITER, source, path], { stdio: "ignore" });
      const done = new Promise((ended) => writer.once("close", ended));
      let isWriting = true;
      void done.then(() => {
        isWriting = false;
      });
      let drains = 0;
      while (isWriting && drains < MOST_DRAINS) {
        // One or two hooks, as the agent continues
        world.fill(state, [(LAST * drains) / MOST_DRAINS, (LAST * (drains + 1)) / MOST_DRAINS]);
        await drained(state);
        drains++;
      }
      await done;
      world.fill(state, [(LAST * drains) / MOST_DRAINS, 1]);
      expect(readFileSync(path, "utf8")).toBe(whole);
      expect((await drained(state, "--end-idle")).tokens).toBe(reference.tokens);
      runs++;
      events += world.events;
    } finally {
      world.remove();
    }
  });
});

/** Appends a file to another in 40 pieces, regardless of lines, over two seconds. */
const WRITER = `
  const { appendFileSync, readFileSync } = require("node:fs");
  const [from, to] = process.argv.slice(1);
  const bytes = readFileSync(from);
  const piece = Math.ceil(bytes.length / 40);
  let at = 0;
  const timer = setInterval(() => {
    appendFileSync(to, bytes.subarray(at, at + piece));
    at += piece;
    if (at >= bytes.length) clearInterval(timer);
  }, 50);
`;

test("these faults are in the report", () => {
  expect(runs).toBe(CASES.length * (Object.keys(MISHAPS).length + 1));
  record({
    area: "drain",
    fault: "transcript truncated, deleted, replaced, rewritten, torn, growing while it is read",
    runs,
    eventsIn: events,
    lost: 0,
    duplicates: 0,
    note: "tokens of the truncated part are counted when the file is complete again",
  });
});
