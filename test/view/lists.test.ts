// The data of the lists: which sessions a filter and a search give, and what is known of a tool's calls

import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { daysOfBucket } from "#show/view/page/filters/range.ts";
import type { Documents, HomeDocument, ToolsDocument } from "#show/view/wire/documents.ts";
import type { StoredSession } from "#store/sessions.ts";
import { InboxFixture } from "../support/inbox-fixture.ts";
import { ensureBuilt } from "../support/program.ts";
import { Served } from "./served.ts";

const START_MS = Date.UTC(2026, 10, 20, 9);
const SECOND_MS = 1000;
const DAY_MS = 86_400_000;
const own = new InboxFixture();
/** By session, the line in which a text is found; only `calm-2` and `calm-3` have one. */
const LINES: Readonly<Record<string, string>> = { "calm-2": "Why is the cart wrong?", "calm-3": "npm test cart" };
const foundIn = vi.fn(async (sessions: readonly StoredSession[], text: string, _isFirst: boolean) => {
  const [first] = sessions;
  const line = text === "cart" ? LINES[first?.sessionId ?? ""] : undefined;
  return { lines: new Map(first === undefined || line === undefined ? [] : [[first.id, line]]), searched: 1 };
});
let served: Served;

beforeAll(async () => {
  await ensureBuilt();
  // Durations of the calls in seconds; the first ones fail
  for (const n of [1, 2, 3, 4]) session(`calm-${n}`, n, { Bash: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] }, 1);
  session("broken", 5, { Read: [1, 1, 1, 1, 1, 1, 1, 1, 1, 20] }, 4);
  session("few", 6, { Edit: [1, 1] }, 2);
  await own.drain({ endIdle: true });
  served = await Served.at(own.places, () => START_MS + DAY_MS, undefined, { foundIn });
});
afterAll(async () => {
  await served.close();
  own.remove();
});

describe("sessions", () => {
  test("errors only: three failed calls or more, and more than twice the usual share", async () => {
    // 10 of 52 calls failed; in "few" all did, which are only two
    expect(await idsOf("errors=1")).toEqual(["broken"]);
  });

  test("by tool, and with a text in a tool's name", async () => {
    expect(await idsOf("tool=Read")).toEqual(["broken"]);
    expect(await idsOf("tool=Rea")).toEqual([]);
    expect(await idsOf("text=rea")).toEqual(["broken"]);
    expect(await idsOf("tool=Bash&text=calm-2")).toEqual(["calm-2"]);
  });

  test("a text in the agents' files: the newest session first, some per request, each with its line", async () => {
    let after: number | null = 0;
    const found: (readonly [id: string, line: string])[] = [];
    const progress: number[] = [];
    while (after !== null) {
      const reply: Documents["found"] = await json(`api/found?tool=Bash&text=cart&after=${after}`);
      found.push(...reply.rows.map(({ row, line }) => [row.session_id, line] as const));
      progress.push(reply.searched / reply.total);
      after = reply.next;
    }
    expect(found).toEqual([
      ["calm-3", "npm test cart"],
      ["calm-2", "Why is the cart wrong?"],
    ]);
    expect(progress).toEqual([0.25, 0.5, 0.75, 1]);
    // Until then the page shows nothing
    expect(foundIn.mock.calls.slice(-4).map(([, , isFirst]) => isFirst)).toEqual([true, false, false, false]);
  });

  test("what the store contains is not searched again, and nothing without a text", async () => {
    foundIn.mockClear();
    expect(await json(`api/found?tool=Bash&text=calm`)).toMatchObject({ total: 0, next: null });
    expect(await json(`api/found?tool=Bash`)).toMatchObject({ total: 0, next: null });
    expect(foundIn.mock.calls.flatMap(([sessions]) => sessions)).toEqual([]);
  });

  test("without a reader no file is searched", async () => {
    const closed = await Served.at(own.places);
    expect(JSON.parse((await closed.ask("api/found?text=cart")).text)).toMatchObject({
      rows: [],
      total: 0,
      next: null,
    });
    await closed.close();
  });
});

describe("tools", () => {
  test("one row each: agents, failures, percentiles, and what the next model call cost", async () => {
    const { rows, timed } = await wholeTools();
    expect(timed).toEqual({ sessions: 6, of: 6 });
    const bash = rows.find(({ tool }) => tool === "Bash");
    expect(bash).toMatchObject({
      agents: ["acme"],
      sessions: 4,
      tool_calls: 40,
      tool_errors: 4,
      times: { p50Ms: 5000, p95Ms: 10_000, callsAfter: 4, costIsLowerBound: false },
    });
    // Each session asks the model once after its calls: 1,000 tokens in at $3 a million, 100 out at $15
    expect(bash?.times?.cost_usd).toBeCloseTo(4 * 0.0045, 9);
    expect(rows.find(({ tool }) => tool === "Read")?.times).toMatchObject({
      p50Ms: 1000,
      p95Ms: 20_000,
      slowest: { source: "acme", session: "broken", ms: 20_000, span: expect.stringMatching(/^[0-9a-f]{16}$/) },
      callsAfter: 1,
    });
  });

  test("MCP servers and skills have the figures of their calls, and all others those of none", async () => {
    const { servers, skills } = await wholeTools();
    const figures = ({ name, tool_calls, tool_errors, times }: (typeof servers)[number]) =>
      [name, tool_calls, tool_errors, times?.p95Ms, times?.callsAfter] as const;
    expect(servers.map(figures)).toEqual([
      ["tracker", 40, 4, 10_000, 4],
      [null, 12, 6, 20_000, 2],
    ]);
    expect(skills.map(figures)).toEqual([
      ["audit", 10, 4, 20_000, 1],
      [null, 42, 6, 10_000, 5],
    ]);
  });

  test("only calls of the period count", async () => {
    const { rows, timed } = await wholeTools(`&sinceMs=${START_MS + 4 * HOUR_MS}`);
    expect(timed).toEqual({ sessions: 2, of: 2 });
    expect(rows.map(({ tool, times }) => [tool, times?.p50Ms])).toEqual([
      ["Edit", 1000],
      ["Read", 1000],
    ]);
  });
});

test("home: the month so far against the one before, up to the same time but not beyond its end", async () => {
  const sessionsOf = async (monthMs: number, lastMonthMs: number) => {
    const { month } = await json<HomeDocument>(`api/home?monthMs=${monthMs}&lastMonthMs=${lastMonthMs}&timeZone=UTC`);
    return [month.figures?.sessions, month.before?.sessions];
  };
  // The server's clock is a day after the first of six sessions, one per hour
  expect(await sessionsOf(START_MS, START_MS - DAY_MS)).toEqual([6, undefined]);
  expect(await sessionsOf(START_MS + DAY_MS - 2 * HOUR_MS, START_MS)).toEqual([undefined, 2]);
  expect(await sessionsOf(START_MS + 4 * HOUR_MS, START_MS)).toEqual([2, 4]);
});

test.each([
  ["2026-11-21", "2026-11-21", "2026-11-21"],
  ["2026-11-21T07:00+01:00", "2026-11-21", "2026-11-21"],
  ["2026-W47", "2026-11-16", "2026-11-22"],
  ["2026-W01", "2025-12-29", "2026-01-04"],
  ["2020-W53", "2020-12-28", "2021-01-03"],
  ["2028-02", "2028-02-01", "2028-02-29"],
])("the bar of %s leads to the sessions from %s to %s", (bucket, from, to) => {
  expect(daysOfBucket(bucket)).toEqual({ range: "between", from, to });
});

// --- internal ---

const HOUR_MS = 3_600_000;

const json = async <T>(path: string): Promise<T> => (await served.json(path)) as T;

const idsOf = async (query: string): Promise<readonly string[]> =>
  (await json<Documents["sessions"]>(`api/sessions?${query}`)).rows.map(({ session_id }) => session_id);

/** The tools once all sessions have been read. */
async function wholeTools(query = ""): Promise<ToolsDocument> {
  for (;;) {
    const tools = await json<ToolsDocument>(`api/tools?x=1${query}`);
    if (!tools.hasMore) return tools;
  }
}

/** A session with one turn: its tool calls one after the other, and then a model call. */
function session(id: string, hour: number, tools: Readonly<Record<string, readonly number[]>>, failed: number): void {
  let timeMs = START_MS + (hour - 1) * HOUR_MS;
  const entries: object[] = [
    { kind: "prompt", key: `p-${id}`, timeMs, origin: "human" },
    modelCall(`${id}-first`, timeMs),
  ];
  timeMs += 2 * SECOND_MS;
  for (const [name, seconds] of Object.entries(tools)) {
    for (const [i, length] of seconds.entries()) {
      const call = { promptKey: `p-${id}`, callId: `${id}-${name}-${i}` };
      const status = i < failed ? "error" : "success";
      const of = name === "Bash" ? { mcpServer: "tracker" } : name === "Read" ? { skill: "audit" } : {};
      entries.push({ kind: "tool_use", key: `use-${call.callId}`, timeMs, name, ...call, ...of });
      timeMs += length * SECOND_MS;
      entries.push({ kind: "tool_result", key: `result-${call.callId}`, timeMs, status, ...call });
    }
  }
  entries.push(modelCall(`${id}-last`, timeMs + SECOND_MS));
  const end = {
    openhook: "0.1",
    id: `${id}-end`,
    source: "acme",
    type: "session.end",
    time: new Date(timeMs + 5 * SECOND_MS).toISOString(),
    session_id: id,
    cwd: "/home/dev/shop",
    data: {},
    extensions: {},
  };
  own.put({ events: [end], entries });
}

function modelCall(id: string, timeMs: number) {
  const usage = { input: 1000, output: 100 };
  const model = "claude-sonnet-4-5";
  return {
    kind: "model_call",
    key: `response:${id}:`,
    timeMs,
    startMs: timeMs,
    endMs: timeMs + SECOND_MS,
    model,
    usage,
    complete: true,
  };
}
