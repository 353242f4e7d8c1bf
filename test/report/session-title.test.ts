import { afterEach, expect, test } from "vitest";
import { allAgents } from "#agents/registry.ts";
import type { Segment } from "#core/model/session.ts";
import { endOfSegment } from "#show/report/session-end.ts";
import { summarise } from "#show/report/session-summary.ts";
import { titleOf, titleText } from "#show/report/titles.ts";
import { recentSessions } from "#store/queries.ts";
import { readStore } from "#store/read-only.ts";
import { importInto } from "../import/run.ts";
import { Replay } from "../support/replay.ts";

let at: Replay | undefined;
afterEach(() => at?.remove());

async function titles(of: Replay): Promise<readonly string[]> {
  const agents = await allAgents();
  const found = readStore(of.places.storePath, (db) =>
    recentSessions(db, 20).map((stored) => titleText(titleOf(db, summarise(db, stored, { agents })))),
  );
  return found ?? [];
}

test("an imported session is titled by its tools", async () => {
  at = new Replay("claude-code", "parallel-tools");
  await importInto(at, "claude-code");
  expect(await titles(at)).toEqual(["main · Bash, Read, Edit"]);
});

test("hooks also report which files were changed", async () => {
  at = new Replay("claude-code", "parallel-tools");
  for (const call of at.calls) at.put(call);
  await at.drain({ endIdle: true });
  expect(await titles(at)).toEqual(["main · 2 files changed · Bash, Read, Edit"]);
});

test("a tool whose name is unknown is no title", async () => {
  at = new Replay("claude-code", "parallel-tools", {
    edit: (text) => text.replaceAll(/"name": ?"Read"/g, '"name":"unknown"'),
  });
  await importInto(at, "claude-code");
  expect(await titles(at)).toEqual(["main · Bash, Edit"]);
});

test("the prompt is first; control characters are escaped", () => {
  expect(titleText({ prompt: "Fix\u001b[2J it", branch: "main", changedFiles: 1, tools: ["Edit"] })).toBe(
    "Fix\\x1b[2J it · main · 1 file changed · Edit",
  );
  expect(titleText({ tools: [] })).toBe("");
});

const ENDED_MS = 1_000_000;
const segment = (more: Partial<Segment>): Segment => ({
  ordinal: 0,
  startMs: 0,
  lastActivityMs: ENDED_MS,
  endMs: ENDED_MS,
  uses: [],
  ...more,
});
const idleAfter = (ms: number) => ({ nowMs: ENDED_MS + ms, idleTimeoutMs: 60_000 });

test.each([
  [{ reason: "timeout", nativeReason: "idle" }, "unreported", "ended (no end record)"],
  [{ reason: "completed", nativeReason: "idle" }, "ended", "completed"],
  [{ reason: "timeout", nativeReason: "process_gone" }, "ended", "ended (the agent's process is gone)"],
  [{ reason: "timeout", nativeReason: "ended_by_user" }, "ended", "ended by you"],
  [{ reason: "user_exit", nativeReason: "prompt_input_exit" }, "ended", "exited"],
  [{ reason: "user_exit", nativeReason: "logout" }, "ended", "exited (logout)"],
  [{ reason: "completed", nativeReason: "other" }, "ended", "completed"],
  [{ reason: "error", nativeReason: "model_overloaded" }, "failed", "failed (model overloaded)"],
  [{ reason: "error" }, "failed", "failed"],
] as const)("an end with %o is %s: %s", (more, state, text) => {
  expect(endOfSegment(segment(more), idleAfter(3_600_000))).toMatchObject({ state, text });
});

test("a session without an end record is open until it has been idle for long enough", () => {
  const one = segment({ reason: "timeout", nativeReason: "idle" });
  expect(endOfSegment(one, idleAfter(59_999)).state).toBe("open");
  expect(endOfSegment(one, idleAfter(60_000)).state).toBe("unreported");
  expect(endOfSegment(undefined, idleAfter(0)).state).toBe("open");
});
