// The sums on the root spans of sessions equal the counters, and every parent is in its trace, whenever drains run and processes end.
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { allAgents } from "#agents/registry.ts";
import { clockAt } from "../support/clock.ts";
import { hostHere } from "../support/host.ts";
import { MadeSession } from "../support/made-session.ts";
import fc from "../support/properties.ts";
import { CASES, Replay } from "../support/replay.ts";
import { sentRoots } from "../support/sent-roots.ts";
import { firstOf, firstRecordings } from "../support/whole.ts";

let replay: Replay | undefined;
let made: MadeSession | undefined;
afterEach(() => {
  replay?.remove();
  made?.remove();
});

const cases = (await allAgents()).flatMap(({ source }) => {
  const folder = join(CASES, source);
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return names.filter((name) => existsSync(join(folder, name, "expected.json"))).map((name) => ({ source, name }));
});

/** Recordings of processes that followed a killed one, and of helpers that were killed. */
const RESUMED = [
  { source: "openhands", name: "subagents-killed" },
  { source: "qwen-code", name: "background-subagent" },
  { source: "vibe", name: "killed-then-resumed" },
  { source: "grok", name: "basic" },
];
const chosen = [
  ...new Map(
    [...firstOf(firstRecordings(cases), 3), ...firstOf(RESUMED, 2)].map((one) => [JSON.stringify(one), one]),
  ).values(),
];

/** What happens after a hook. */
const step = fc.record({
  /** Share of the transcript's lines that are written. */
  written: fc.constantFrom(0, 0.3, 0.7, 1),
  drains: fc.boolean(),
  /** Another process runs the next hook. All processes are gone when drains look. */
  restarts: fc.boolean(),
});

describe.each(chosen)("$source $name", ({ source, name }) => {
  test("drains at any time, with processes that end at any time", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 1, maxLength: 6 }),
        fc.constantFrom("session", "turn"),
        fc.boolean(),
        async (steps, scope, areGone) => {
          expect(await replayed(source, name, steps, scope, areGone)).toEqual([]);
        },
      ),
      { numRuns: 1, examples: [[[{ written: 0.3, drains: true, restarts: true }], "session", true]] },
    );
  });
});

test("a record that completes a call after the session's root was sent is in a segment that continues it", async () => {
  made = new MadeSession();
  await made.hook("SessionStart", { source: "startup" });
  await made.hook("UserPromptSubmit", { prompt_id: "p1", prompt: "go on" });
  await made.user("p1");
  await made.answer({ id: "msg_1", usage: { fresh: 100, output: 1 }, stopReason: null });
  await made.hook("SessionEnd", { reason: "other" });
  await made.drain();
  await made.answer({ id: "msg_1", usage: { fresh: 100, output: 70 } });
  await made.drain({ sessions: [1] });
  const { roots, counters, strays } = sentRoots(made.storePath);
  expect([roots, strays]).toEqual([counters, []]);
  expect(roots).toMatchObject({ calls: 1, output: 70 });
});

// --- internal ---

async function replayed(
  source: string,
  name: string,
  steps: readonly { readonly written: number; readonly drains: boolean; readonly restarts: boolean }[],
  scope: string,
  areGone: boolean,
): Promise<readonly unknown[]> {
  let share = 0;
  replay?.remove();
  replay = new Replay(source, name, {
    withTranscripts: false,
    edit: (text, path) => (path.endsWith(".jsonl") && path !== "hooks.jsonl" ? beginningOf(text, share) : text),
  });
  replay.env = { OPENHOOK_OTEL_TRACES_SCOPE: scope };
  const every = Math.max(1, Math.floor(replay.calls.length / (steps.length + 1)));
  let pid = 2 ** 22 + 1;
  let nowMs = 0;
  for (const [at, call] of replay.calls.entries()) {
    // No pid is as large
    if (areGone) replay.agentProcess = { pid, start: "1", host: hostHere() };
    replay.put(call);
    nowMs = Math.max(nowMs, Date.parse(call.received_at));
    const now = (at + 1) % every === 0 ? steps[(at + 1) / every - 1] : undefined;
    if (now === undefined) continue;
    share = Math.max(share, now.written);
    if (share > 0) replay.writeTranscripts();
    if (now.drains) await replay.drain({}, clockAt(nowMs));
    if (now.restarts) pid++;
  }
  await replay.drain({ endIdle: true }, clockAt(nowMs + 5_000));
  share = 1;
  replay.writeTranscripts();
  for (const laterMs of [10_000, 20_000]) await replay.drain({ endIdle: true }, clockAt(nowMs + laterMs));
  const { roots, counters, strays, repaired, open } = sentRoots(replay.places.storePath);
  return [
    ...strays,
    ...(JSON.stringify(roots) === JSON.stringify(counters) ? [] : [{ roots, counters }]),
    ...(open + repaired > 0 ? [{ open, repaired }] : []),
  ];
}

function beginningOf(text: string, share: number): string {
  const lines = text.split("\n").filter((line) => line !== "");
  return lines
    .slice(0, Math.ceil(lines.length * share))
    .map((line) => `${line}\n`)
    .join("");
}
