// Runs each story of endings.ts through the real drain, in its order and in others, and compares docs/sessions.md.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readStore } from "#store/read-only.ts";
import { segmentsOf } from "#store/segments.ts";
import { ACME, InboxFixture } from "../support/inbox-fixture.ts";
import { ROOT } from "../support/program.ts";
import { countersAndRows, summaryOf } from "../support/summary.ts";
import { firstOf } from "../support/whole.ts";
import { ENDINGS, type Ending, type Step } from "./endings.ts";

/** Situations that are recorded, and the names of their recordings. */
const RECORDED: readonly (readonly [situation: string, recordings: RegExp])[] = [
  ["An agent was killed (recorded)", /\/killed$/],
  ["Killed, then resumed under the same id (recorded)", /\/killed-then-resumed$/],
  ["Forked", /\/fork(?:-switch)?$/],
  // Grok refused to compact
  ["Compacted", /^(?!grok).*\/(?:compaction|compact-switch-resume)$/],
  ["Cleared (recorded)", /\/interactive-clear$/],
  ["A subagent works in the background after its parent's turn ended", /\/background-subagent$/],
];

const START_MS = Date.UTC(2026, 9, 5, 12);
const MINUTE_MS = 60_000;
const msOf = (minute: number): number => START_MS + minute * MINUTE_MS;

let inbox: InboxFixture;
beforeEach(() => {
  inbox = new InboxFixture();
});
afterEach(() => inbox.remove());

const drainAt = (minute: number, { isSilent }: Ending) =>
  inbox.drain({}, [{ ...ACME, endsSilently: isSilent === true }], () => msOf(minute));
const lastOf = (steps: readonly Step[]): number => Math.max(...steps.map(({ at }) => at));

describe("in order", () => {
  test.each(ENDINGS)("$situation", async (ending) => {
    for (const step of ending.steps) {
      if (step.is === "drain") await drainAt(step.at, ending);
      else inbox.put(payloadOf(step));
    }
    await drainAt(lastOf(ending.steps) + 60, ending);
    expect(segments()).toEqual(ending.segments);
    expectOnce(ending);
  });
});

describe("a drain after every step", () => {
  test.each(firstOf(ENDINGS, 1))("$situation", async (ending) => {
    let latest = 0;
    for (const step of ending.steps) {
      latest = Math.max(latest, step.at);
      if (step.is !== "drain") inbox.put(payloadOf(step));
      await drainAt(latest, ending);
    }
    await drainAt(latest + 60, ending);
    expectOnce(ending);
  });
});

describe("everything twice, in reverse order, in one drain", () => {
  test.each(firstOf(ENDINGS, 1))("$situation", async (ending) => {
    const reported = ending.steps.filter(({ is }) => is !== "drain").map(payloadOf);
    for (const payload of [...reported, ...reported].reverse()) inbox.put(payload);
    await drainAt(lastOf(ending.steps) + 60, ending);
    await drainAt(lastOf(ending.steps) + 120, ending);
    // In a single drain, the end of the call is in time
    expectOnce({ ...ending, tools: ending.situation.startsWith("The end of a tool") ? ["t1 success"] : ending.tools });
  });
});

describe("docs/sessions.md", () => {
  const text = readFileSync(join(ROOT, "docs", "sessions.md"), "utf8");
  const rows = text
    .split("\n")
    .filter((line) => line.startsWith("| ") && !line.startsWith("| ---") && !line.startsWith("| situation"))
    .map((line) => line.split(" | ").map((cell) => cell.replace(/^\|\s*|\s*\|$/g, "").trim()));

  test("has a row for each story, with its result", () => {
    for (const { situation, result } of ENDINGS) {
      expect(rows.filter(([first]) => first === situation).map(([, second]) => second)).toEqual([result]);
    }
  });

  test.each(RECORDED)("names all recordings of: %s", (situation, name) => {
    const [, , shown = ""] = rows.find(([first]) => first === situation) ?? [];
    const folder = join(ROOT, "test", "agents");
    const recordings = readdirSync(folder, { withFileTypes: true })
      .flatMap((agent) => (agent.isDirectory() ? [agent.name] : []))
      .flatMap((source) => readdirSync(join(folder, source), { withFileTypes: true }).map((one) => ({ source, one })))
      .filter(({ source, one }) => one.isDirectory() && name.test(`${source}/${one.name}`))
      .map(({ source, one }) => `agents/${source}/${one.name}`);
    expect(recordings.length).toBeGreaterThan(1);
    const named = new Set([...shown.matchAll(/`(agents\/[^`]+)`/g)].map(([, path]) => path));
    // `agents/*/killed` means the recording of every agent
    const isNamed = (path: string) => named.has(path) || named.has(path.replace(/^agents\/[^/]+/, "agents/*"));
    expect(recordings.filter((path) => !isNamed(path))).toEqual([]);
  });

  test("names tests and recordings that exist", () => {
    expect(rows.length).toBeGreaterThan(ENDINGS.length);
    for (const [situation, , shown = ""] of rows) {
      const named = [...shown.matchAll(/`([^`]+)`(?: "([^"]+)")?/g)];
      expect(named.length, `of ${situation}`).toBeGreaterThan(0);
      for (const [, path = "", name] of named) {
        const file = join(ROOT, "test", path.replace("agents/*/", "agents/claude-code/"));
        expect(existsSync(file), `${path}, of ${situation}`).toBe(true);
        if (name !== undefined) expect(readFileSync(file, "utf8"), `of ${situation}`).toContain(`"${name}"`);
      }
    }
  });
});

// --- internal ---

function payloadOf(step: Step) {
  const time = new Date(msOf(step.at)).toISOString();
  const id = JSON.stringify(step);
  const by = "by" in step && step.by !== undefined ? { agent_id: step.by } : {};
  const signal = { id, source: "acme", time, session_id: "s", extensions: by };
  const envelope = { openhook: "0.1", ...signal };
  switch (step.is) {
    case "start": {
      const continues = step.origin === "resume" ? { continues: "same-session" } : {};
      return {
        events: [{ ...envelope, type: "session.start", extensions: { start_origin: step.origin, ...continues } }],
      };
    }
    case "prompt":
      return { events: [{ ...envelope, type: "prompt.submit", data: { prompt_length: 12 } }] };
    case "stop":
      return { events: [{ ...signal, type: "turn.end" }] };
    case "fail":
      return { events: [{ ...signal, type: "turn.error", extensions: { error_type: "overloaded" } }] };
    case "tool":
    case "tool-start":
    case "tool-end": {
      const data = { tool_name: "read", tool_call_id: step.id };
      const first = { ...envelope, id: `${id}-start`, type: "tool.start", data };
      const last = { ...envelope, id: `${id}-end`, type: "tool.end", data: { ...data, status: "success" } };
      return { events: [...(step.is === "tool-end" ? [] : [first]), ...(step.is === "tool-start" ? [] : [last])] };
    }
    case "call": {
      const call = { kind: "model_call", key: step.key, timeMs: msOf(step.at), endMs: msOf(step.at), model: "acme-1" };
      const usage = { usage: { input: 100, output: 10 }, complete: true };
      const whose = step.by === undefined ? {} : { agentId: step.by };
      return { events: [{ ...signal, type: "model.end" }], entries: [{ ...call, ...usage, ...whose }] };
    }
    case "subagent":
      return { events: [{ ...signal, type: "subagent.start" }] };
    case "subagent-end":
      return { events: [{ ...signal, type: "subagent.end" }] };
    case "end":
      return {
        events: [
          { ...envelope, type: "session.end", data: { reason: "completed" }, extensions: { native_reason: step.why } },
        ],
      };
    case "drain":
      throw new Error("a drain is no payload");
  }
}

function segments(): readonly string[] {
  const found = readStore(inbox.places.storePath, (db) => {
    const id = Number(db.prepare("SELECT id FROM sessions WHERE session_id = 's'").get()?.["id"]);
    return segmentsOf(db, id).map(({ segment }) => segment);
  });
  const minute = (ms: number | undefined): number => Math.round(((ms ?? 0) - START_MS) / 600) / 100;
  return (found ?? []).map(
    (s) => `${s.reason} ${s.nativeReason} ${minute(s.startMs)}-${s.endMs === undefined ? "…" : minute(s.endMs)}`,
  );
}

function expectOnce({ tools, calls, prompts }: Ending): void {
  const got = summaryOf(inbox.places.storePath, "s");
  expect(got?.tools.map(({ id, status }) => `${id} ${status}`)).toEqual(tools);
  expect(got).toMatchObject({ prompts, unsettled: 0 });
  expect(got?.segments.every(({ ended }) => ended)).toBe(true);
  const sums = countersAndRows(inbox.places.storePath);
  expect(sums.counters).toEqual(sums.rows);
  expect(sums.counters).toMatchObject({ calls, input: calls * 100, output: calls * 10 });
  const spans = readStore(inbox.places.storePath, (db) => db.prepare("SELECT record FROM spans").all()) ?? [];
  for (const { record } of spans) {
    const span = JSON.parse(String(record)) as { startMs: number; endMs: number };
    expect(span.endMs).toBeGreaterThanOrEqual(span.startMs);
  }
}
