// Claude Code's shell ran Codex, whose shell ran Gemini CLI: `recorded` has the hook calls and session files of the real programs.
import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { allAgents } from "#agents/registry.ts";
import { explain } from "#commands/explain.ts";
import { report } from "#commands/report.ts";
import { sessions } from "#commands/sessions.ts";
import { show } from "#commands/show.ts";
import type { Context } from "#config/context.ts";
import { viewOf } from "#show/report/session-view.ts";
import { findSession, toDocument } from "#show/view/data/document.ts";
import { openDatabase } from "#store/database.ts";
import { importInto } from "../import/run.ts";
import { contextAt } from "../support/context.ts";
import { type RecordedCall, Replay, ROOT } from "../support/replay.ts";
import { firstOf } from "../support/whole.ts";

const RECORDED = join(ROOT, "test", "launches", "recorded");
const CLAUDE = "a5ce6574-67fe-4b15-b97b-1aec83faf261";
const CODEX = "01a22b29-eab6-74f2-b6e3-41a4987eb3d7";
const GEMINI = "1e78ee11-d66c-406e-9043-a23b2c61cbe4";
const BASH = "toolu_6a99eca13108bf7f04cec2b7";
const EXEC = "call_043d36d5bc57e5f18fecde14";

const SOURCES = ["claude-code", "codex", "gemini-cli"];

type Call = RecordedCall & { readonly source: string; readonly process?: Replay["agentProcess"] };
interface Listed {
  readonly session_id: string;
  readonly child_sessions: readonly { readonly session_id: string }[];
}

let at: Replay;
let calls: readonly Call[];
beforeEach(() => {
  at = new Replay("claude-code", "basic", { withTranscripts: false });
  cpSync(join(RECORDED, "home"), at.home, { recursive: true });
  const projects = join(at.home, ".claude", "projects");
  renameSync(join(projects, "-home-dev-shop"), join(projects, `${at.home.replaceAll(/[/.:\\]/g, "-")}-shop`));
  for (const file of readdirSync(at.home, { recursive: true, encoding: "utf8" }).filter((one) => one.endsWith("l")))
    writeFileSync(join(at.home, file), moved(readFileSync(join(at.home, file), "utf8")));
  calls = moved(readFileSync(join(RECORDED, "hooks.jsonl"), "utf8"))
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Call);
});
afterEach(() => at.remove());

const moved = (text: string): string => text.replaceAll("/home/dev/", `${at.home.replaceAll("\\", "/")}/`);

async function printed(command: (context: Context) => Promise<number>, isJson = true) {
  const { context, out } = contextAt(at.places, { env: { TZ: "UTC" } });
  expect(await command(context)).toBe(0);
  return isJson ? JSON.parse(out()) : out();
}

const shown = (id: string) => printed((context) => show(id, { json: true, envelopes: false, refresh: false }, context));
const listed = () => printed((context) => sessions({ limit: 20, json: true, refresh: false }, context));
const put = (some: readonly Call[]): void => {
  for (const call of some) {
    at.agentProcess = call.process;
    at.put(call, Date.parse(call.received_at), call.source);
  }
};

const TREE = {
  parent: null,
  child_sessions: [
    {
      source: "codex",
      session_id: CODEX,
      tool_call: BASH,
      known_by: "only_open",
      totals: { input: 10_203, output: 223 },
      child_sessions: [
        {
          source: "gemini-cli",
          session_id: GEMINI,
          tool_call: EXEC,
          known_by: "named",
          totals: { input: 10_403, output: 423 },
          child_sessions: [],
        },
      ],
    },
  ],
  totals: { input: 10_003, output: 23 },
  totals_with_children: { input: 30_609, output: 669, model_calls: 6, sessions_without_usage: 0 },
};

/** The roots of the sessions, as they are queued for the backend. */
function roots() {
  const db = openDatabase(at.places.storePath);
  const records = db.prepare("SELECT record FROM spans").all();
  db.close();
  const spans = records.map(({ record }) => JSON.parse(String(record)));
  const rootOf = (source: string) =>
    spans.find(({ attributes, resource }) => {
      return attributes["openhook.span.kind"] === "session" && resource["service.name"] === source;
    });
  const callOf = (id: string) => spans.find(({ attributes }) => attributes["gen_ai.tool.call.id"] === id);
  return { rootOf, callOf };
}

/** Ways in which the same hook calls reach the store. */
const ORDERS: Readonly<Record<string, () => Promise<void>>> = {
  "in one drain": async () => {
    put(calls);
    await at.drain({ endIdle: true });
  },
  "with a drain after each hook call": async () => {
    for (const call of calls) {
      put([call]);
      await at.drain();
    }
    await at.drain({ endIdle: true });
  },
  "in reverse, with a drain after each": async () => {
    for (const call of calls.toReversed()) {
      put([call]);
      await at.drain();
    }
    await at.drain({ endIdle: true });
  },
  "those of the innermost agent first": async () => {
    for (const source of ["gemini-cli", "codex", "claude-code"]) {
      put(calls.filter((call) => call.source === source));
      await at.drain({ endIdle: true });
    }
  },
  "after an import of the session files": async () => {
    await importInto(at, "claude-code", { agents: SOURCES });
    put(calls);
    await at.drain({ endIdle: true });
  },
};

describe.each(firstOf(Object.entries(ORDERS), 2))("hook calls %s", (_, arrive) => {
  test("are one tree, whose sum is that of the sessions, each of which counts once", async () => {
    await arrive();
    const tree = await shown(CLAUDE);
    expect(tree).toMatchObject(TREE);
    expect(await shown(CODEX)).toMatchObject({
      parent: { session_id: CLAUDE, tool_call: BASH, known_by: "only_open" },
    });
    expect(await shown(GEMINI)).toMatchObject({ parent: { session_id: CODEX, tool_call: EXEC, known_by: "named" } });
    const all = await listed();
    const cost = all.reduce(
      (sum: number, { totals }: typeof TREE & { totals: { cost_usd: number } }) => sum + totals.cost_usd,
      0,
    );
    expect(tree.totals_with_children.cost_usd).toBeCloseTo(cost, 9);
    const question = { since: "2020-01-01", json: true, csv: false, refresh: false };
    const { total } = await printed((context) => report(["agent"], question, context));
    expect([total.input, total.output, total.cost_usd]).toEqual([30_609, 669, tree.totals_with_children.cost_usd]);
  });
});

const isLate = ({ source, event }: Call): boolean =>
  (source !== "gemini-cli" && /PostToolUse|Stop|SessionEnd/.test(event)) ||
  /AfterTool|AfterAgent|SessionEnd/.test(event);

/** The system that ran the agents, and when it was started. */
const [HOST, BOOT_MS] = ["1.00000000-0000-4000-8000-000000000001", Date.parse("2026-11-30T00:00:00Z")];
const TICK_MS = 10;
const startAt = (timeMs: number): number => Math.floor((timeMs - BOOT_MS) / TICK_MS);

const firstMs = (source: string, event: RegExp): number =>
  Date.parse(calls.find((call) => call.source === source && event.test(call.event))?.received_at ?? "");
const processOf = (source: string) => ({
  pid: 1_000 + SOURCES.indexOf(source),
  start: String(startAt(firstMs(source, /SessionStart/) - 500)),
  host: HOST,
});

/** What hooks write on Linux, if no agent passes anything on: each agent is below the shell of its command, below the next agent. */
function withProcesses(): void {
  const folder = join(at.places.stateDir, "processes");
  mkdirSync(folder, { recursive: true });
  for (const [i, source] of SOURCES.entries()) {
    const beganMs = firstMs(source, /SessionStart/);
    const { pid, start } = processOf(source);
    const above = SOURCES.slice(0, i)
      .toReversed()
      .flatMap((one) => {
        const agent = processOf(one);
        const shell = startAt(firstMs(one, /PreToolUse|BeforeTool/) + 30);
        return [`${agent.pid + 100}.${shell}`, `${agent.pid}.${agent.start}`];
      });
    const path = join(folder, `${pid}.${start}.1`);
    const uptime = ((beganMs - BOOT_MS) / 1_000).toFixed(2);
    writeFileSync(path, `host=${HOST} up=${uptime} ${[`${pid}.${start}`, ...above].join(" ")}\n`);
    utimesSync(path, beganMs / 1_000, beganMs / 1_000);
  }
  const isPassedOn = (name: string): boolean => /SESSION|THREAD|CALL|PID/.test(name);
  calls = calls.map((call) => ({
    ...call,
    env: Object.fromEntries(Object.entries(call.env ?? {}).filter(([name]) => !isPassedOn(name))),
    process: processOf(call.source),
  }));
}

const BY_PROCESSES = {
  linked_by: "processes",
  known_by: "only_open",
} as const;
const TREE_BY_PROCESSES = {
  ...TREE,
  child_sessions: TREE.child_sessions.map((child) => ({
    ...child,
    ...BY_PROCESSES,
    child_sessions: child.child_sessions.map((inner) => ({ ...inner, ...BY_PROCESSES })),
  })),
};

describe.each(firstOf(Object.entries(ORDERS), 1))(
  "hook calls without variables, by their processes, %s",
  (_, arrive) => {
    test("are the same tree, with the same sums", async () => {
      withProcesses();
      await arrive();
      expect(await shown(CLAUDE)).toMatchObject(TREE_BY_PROCESSES);
      expect(await shown(GEMINI)).toMatchObject({ parent: { session_id: CODEX, tool_call: EXEC, ...BY_PROCESSES } });
      const all = await listed();
      const child = ({ session_id }: { readonly session_id: string }) => session_id;
      expect(Object.fromEntries(all.map((one: Listed) => [one.session_id, one.child_sessions.map(child)]))).toEqual({
        [CLAUDE]: [CODEX],
        [CODEX]: [GEMINI],
        [GEMINI]: [],
      });
      expect(readdirSync(join(at.places.stateDir, "processes"))).toEqual([]);
    });
  },
);

describe("without variables, by the processes", () => {
  beforeEach(withProcesses);

  test("root spans link to the tool call, as with variables", async () => {
    await ORDERS["with a drain after each hook call"]?.();
    const { rootOf, callOf } = roots();
    for (const [source, id] of [
      ["codex", BASH],
      ["gemini-cli", EXEC],
    ] as const) {
      const { traceId, spanId } = callOf(id);
      expect(rootOf(source)).toMatchObject({
        links: [{ traceId, spanId }],
        attributes: { "openhook.parent.tool.call.id": id },
      });
    }
  });

  test("agents that were killed are in the tree, with the call that never ended", async () => {
    put(calls.filter((call) => !isLate(call)));
    await at.drain({ endIdle: true });
    expect(await shown(CLAUDE)).toMatchObject({ child_sessions: TREE_BY_PROCESSES.child_sessions });
  });

  test("a call that did not run when the command began is not the one: the sessions are linked, the call is unknown", async () => {
    // The only call that ran when Codex began, and not when its shell did
    calls = calls.map((call) =>
      call.stdin?.["tool_use_id"] === BASH && call.event === "PreToolUse"
        ? { ...call, received_at: new Date(Date.parse(call.received_at) + 1_200).toISOString() }
        : call,
    );
    rmSync(join(at.home, ".claude"), { recursive: true });
    put(calls);
    await at.drain({ endIdle: true });
    expect(await shown(CODEX)).toMatchObject({
      parent: { session_id: CLAUDE, linked_by: "processes", tool_call: null, known_by: null },
    });
  });

  test("the agent in between is unknown: its child is linked to the one above it", async () => {
    put(calls.filter(({ source }) => source !== "codex"));
    await at.drain({ endIdle: true });
    expect(await shown(GEMINI)).toMatchObject({ parent: { session_id: CLAUDE, linked_by: "processes" } });
  });

  test("show says how it is known", async () => {
    await ORDERS["in one drain"]?.();
    const text = await printed(
      (context) => show(CODEX, { json: false, envelopes: false, refresh: false, titles: false }, context),
      false,
    );
    expect(text).toMatch(new RegExp(`started by Claude Code ${CLAUDE} · in Bash ${BASH}\\s+(· )?known by its process`));
  });
});

test("root spans link to the tool call that started the session, in its trace", async () => {
  await ORDERS["with a drain after each hook call"]?.();
  const { rootOf, callOf } = roots();
  expect(rootOf("claude-code").links).toEqual([]);
  for (const [source, parent, id] of [
    ["codex", CLAUDE, BASH],
    ["gemini-cli", CODEX, EXEC],
  ] as const) {
    const { traceId, spanId } = callOf(id);
    expect(rootOf(source)).toMatchObject({
      links: [{ traceId, spanId, attributes: { "openhook.link.kind": "started_by" } }],
      attributes: { "openhook.parent.session.id": parent, "openhook.parent.tool.call.id": id },
    });
    expect(rootOf(source).traceId).not.toBe(traceId);
  }
});

test("with a trace per turn, the link leads into the trace of the turn", async () => {
  at.env = { OPENHOOK_OTEL_TRACES_SCOPE: "turn" };
  await ORDERS["with a drain after each hook call"]?.();
  const { rootOf, callOf } = roots();
  const { traceId, spanId } = callOf(EXEC);
  expect(rootOf("gemini-cli").links).toMatchObject([{ traceId, spanId }]);
  expect(rootOf("codex").traceId).not.toBe(traceId);
});

test("agents that were killed are in the tree, with the call that never ended", async () => {
  put(calls.filter((call) => !isLate(call)));
  await at.drain({ endIdle: true });
  expect(await shown(CLAUDE)).toMatchObject({ child_sessions: TREE.child_sessions });
});

test("without hooks the session files alone link nothing", async () => {
  await importInto(at, "claude-code", { agents: SOURCES });
  expect(
    (await listed()).map(({ parent, child_sessions }: Record<string, unknown>) => [parent, child_sessions]),
  ).toEqual(Array.from({ length: 3 }, () => [null, []]));
});

test("if the agent in between is unknown, its child is not linked to the agent above", async () => {
  put(calls.filter(({ source }) => source !== "codex"));
  await at.drain({ endIdle: true });
  expect(await shown(GEMINI)).toMatchObject({ parent: null });
  expect(await shown(CLAUDE)).toMatchObject({ child_sessions: [], totals_with_children: null });
});

test.each([
  ["half a minute", 30_000, true],
  ["half a minute, read in reverse", 30_000, false],
  ["a day", 86_400_000, true],
])(
  "a session that an agent resumed after %s belongs to nobody, because the user started it",
  async (_, pauseMs, isInOrder) => {
    const before = calls
      .filter(({ source }) => source === "codex")
      .map((call) => ({
        ...call,
        env: {},
        received_at: new Date(Date.parse(call.received_at) - pauseMs).toISOString(),
      }));
    for (const some of isInOrder ? [before, calls] : [calls, before]) {
      put(some);
      await at.drain();
    }
    await at.drain({ endIdle: true });
    expect(await shown(CODEX)).toMatchObject({ parent: null });
  },
);

test("a session that began after the one in its variables had ended is not linked to it", async () => {
  rmSync(join(at.home, ".codex", "sessions"), { recursive: true });
  const later = calls
    .filter(({ source }) => source === "codex")
    .map((call) => ({ ...call, received_at: new Date(Date.parse(call.received_at) + 600_000).toISOString() }));
  put([...calls.filter(({ source }) => source === "claude-code"), ...later]);
  await at.drain({ endIdle: true });
  expect(await shown(CODEX)).toMatchObject({ parent: null });
});

test("if two calls can be the one, the session is linked and the call is unknown", async () => {
  const other = calls
    .filter(({ stdin }) => stdin?.["tool_use_id"] === BASH)
    .map((call) => ({ ...call, stdin: { ...call.stdin, tool_use_id: "toolu_beside" } }));
  put([...calls, ...other]);
  await at.drain({ endIdle: true });
  expect(await shown(CODEX)).toMatchObject({ parent: { session_id: CLAUDE, tool_call: null, known_by: null } });
  const { rootOf } = roots();
  const { traceId, spanId } = rootOf("claude-code");
  expect(rootOf("codex").links).toMatchObject([{ traceId, spanId }]);
});

test("the page has links both ways, to the spans of the calls", async () => {
  await ORDERS["in one drain"]?.();
  const deps = {
    agents: await allAgents(),
    idle: { nowMs: Date.now(), idleTimeoutMs: 1 },
    subscriptions: () => new Map(),
  };
  const settings = { traceScope: "session", semconv: "both" } as const;
  const db = openDatabase(at.places.storePath);
  const familyIn = (source: string, sessionId: string) => {
    const stored = findSession(db, { source, sessionId });
    return stored && toDocument(db, viewOf(db, stored, { agents: deps.agents }, settings), deps).family;
  };
  const [claude, codex] = [familyIn("claude-code", CLAUDE), familyIn("codex", CODEX)];
  db.close();
  const { callOf } = roots();
  expect(claude).toMatchObject({
    parent: null,
    children: [
      { agent: "Codex", session_id: CODEX, depth: 0, span: callOf(BASH).spanId },
      { agent: "Gemini CLI", session_id: GEMINI, depth: 1, span: null },
    ],
  });
  expect(codex).toMatchObject({
    parent: { agent: "Claude Code", session_id: CLAUDE, span: callOf(BASH).spanId },
    children: [{ session_id: GEMINI, span: callOf(EXEC).spanId }],
  });
  const costs = claude?.children.map(({ cost_usd }) => cost_usd ?? 0) ?? [];
  expect((claude?.withChildren?.cost_usd ?? 0) - costs.reduce((sum, cost) => sum + cost, 0)).toBeGreaterThan(0);
});

test("show and explain say it in words", async () => {
  await ORDERS["in one drain"]?.();
  const text = (id: string) =>
    printed((context) => show(id, { json: false, envelopes: false, refresh: false, titles: false }, context), false);
  expect(await text(CLAUDE)).toMatch(/started Codex .*in Bash toolu_6a99/);
  expect(await text(CLAUDE)).toMatch(/ {2}started Gemini CLI/);
  expect(await text(CLAUDE)).toMatch(/with child sessions: \$/);
  expect(await text(CLAUDE)).toMatch(/Bash.*→ codex 01a22b29/);
  expect(await text(CODEX)).toMatch(new RegExp(`started by Claude Code ${CLAUDE} · in Bash ${BASH}`));
  const explained = await printed((context) => explain(CLAUDE, { json: false, refresh: false }, context), false);
  expect(explained.replaceAll("\n", " ")).toMatch(/Its commands started 2 child sessions: codex 01a22b29 \(\$/);
});
