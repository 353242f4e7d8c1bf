// Rules that every adapter keeps for any payload. A new agent is tested as soon as it is in the registry.
import { existsSync, readdirSync } from "node:fs";
import { dirname, join, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { allAgents, findAgent } from "#agents/registry.ts";
import { replyOf } from "#agents/replies.ts";
import { decodePayload } from "#collect/intake/payload.ts";
import { notNeededEvent } from "#collect/payload/drift.ts";
import type { Agent } from "#core/model/agent.ts";
import { Event, Extras } from "#core/model/event-schema.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import { TranscriptEntry } from "#core/model/transcript.ts";
import { isEnvelope } from "#core/rules/event.ts";
import { type RecordedPayload, recordedPayloads } from "../session/recorded.ts";
import { type DocumentedCall, intakeOf, linesOf, payloadOf } from "../support/documented.ts";
import { locateAll } from "../support/located.ts";
import fc from "../support/properties.ts";
import { firstOf, IS_WHOLE, runs } from "../support/whole.ts";

const CASES = dirname(fileURLToPath(import.meta.url));
const agents = await allAgents();
const recorded = recordedPayloads();
/** One payload of each agent and event. */
const kinds: ReadonlySet<unknown> = new Set(
  new Map(recorded.map(({ source, event, payload }) => [`${source} ${event}`, payload])).values(),
);
/** Payloads that every adapter must accept: all, or in `npm test` every sixteenth of one of each kind. */
const walked = IS_WHOLE
  ? recorded
  : recorded.filter(({ payload }) => kinds.has(payload)).filter((_, index) => index % 16 === 0);
const NOW_MS = Date.UTC(2026, 9, 5, 12);

const intake = (rest: Partial<IntakeFacts> = {}): IntakeFacts => ({
  timeMs: NOW_MS,
  env: {},
  payloadBytes: 2,
  truncated: false,
  ...rest,
});
/** Intake facts that may come with a payload: with or without a source name and environment variables. */
const intakesOf = (agent: Agent): readonly IntakeFacts[] => [
  intake(),
  intake({ source: agent.source, event: "session.end", cwd: "/home/dev/acme-shop", parentPid: 3131 }),
  intake({ source: "another-agent", env: { CLAUDE_PID: "3131", OPENHOOK_SESSION_ID: "s" }, truncated: true }),
];

const GARBAGE: readonly (readonly [string, unknown])[] = [
  ["null", null],
  ["undefined", undefined],
  ["a number", 42],
  ["NaN", Number.NaN],
  ["a string", "session.end"],
  ["an empty string", ""],
  ["true", true],
  ["an empty object", {}],
  ["an empty array", []],
  ["an array of payloads", recorded.slice(0, 3).map((r) => r.payload)],
  ["a deep object", deep(5_000)],
  ["an object without a prototype", Object.assign(Object.create(null), { hook_event_name: "Stop", session_id: "s" })],
  [
    "names of built-in members",
    JSON.parse('{"__proto__": {"session_id": "s"}, "constructor": 1, "hook_event_name": "toString"}'),
  ],
  ["only an event name", { hook_event_name: "SessionStart" }],
  ["only a session id", { session_id: "s", sessionId: "s", conversation_id: "s" }],
];

/** Names of built-in members, and values that are not strings. */
const ODD: readonly (readonly [string, unknown])[] = [
  ["__proto__", "__proto__"],
  ["a parent path with a NUL", "../../\0"],
  ["constructor", "constructor"],
  ["toString", "toString"],
  ["a lone surrogate", "\ud800"],
  ["infinity", Number.POSITIVE_INFINITY],
  ["an invalid time", "+275760-09-13T00:00:00.001Z"],
  ["an array", [["a"]]],
];

test("the registry has agents, and recordings exist", () => {
  expect(agents.length).toBeGreaterThanOrEqual(2);
  expect(recorded.length).toBeGreaterThan(300);
});

test("the registry has each agent once, by its own name", async () => {
  for (const agent of agents) expect(await findAgent(agent.source)).toBe(agent);
  for (const name of ["", "unknown", "__proto__", "constructor"]) expect(await findAgent(name)).toBeUndefined();
});

test.each(agents.flatMap((agent) => (agent.sessionsBelow === undefined ? [] : [[agent.source, agent] as const])))(
  "%s: without its folders, and the variables that the hook records, there is nothing to read",
  async (_, agent) => {
    const reader = (await agent.transcript?.())?.default;
    const asked = new Set<string>();
    const env = new Proxy<Record<string, string | undefined>>({}, { get: (__, name) => void asked.add(String(name)) });
    const home = resolve("/home/dev");
    const folders = (agent.sessionsBelow ?? []).map((folder) => join(home, folder));
    const roots = reader?.roots(home, env) ?? [];
    expect(roots).not.toEqual([]);
    for (const root of roots)
      expect(
        folders.some((one) => `${root}${sep}`.startsWith(`${one}${sep}`)),
        root,
      ).toBe(true);
    expect(agent.environment ?? []).toEqual(expect.arrayContaining([...asked]));
  },
);

test.each(agents.flatMap(({ source, tokens }) => (tokens === "transcript" ? [source] : [])))(
  "%s: token usage from transcripts is shown by a case in test/agents",
  (source) => {
    const folder = join(CASES, source);
    const cases = existsSync(folder) ? readdirSync(folder) : [];
    expect(cases.filter((name) => existsSync(join(folder, name, "hooks.jsonl")))).not.toEqual([]);
  },
);

describe.each(agents.map((a) => [a.source, a] as const))("%s", (source, agent) => {
  test("the agent's members are filled in", () => {
    expect(source).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
    expect(agent.title).toMatch(/^\S.*\S$/);
    expect(agent.docs).not.toBe("");
    expect(agent.emits.length).toBeGreaterThan(0);
    expect(new Set(agent.emits).size).toBe(agent.emits.length);
    expect(["transcript", "payload", "none"]).toContain(agent.tokens);
    const { basis, sessionIds, callIds, eventIds } = agent.capabilities;
    expect(["recorded", "documented"]).toContain(basis);
    expect([sessionIds, callIds, eventIds].every((kind) => kind.length > 0)).toBe(true);
    for (const event of [undefined, "Stop", "__proto__"]) expect(replyOf(source, event) ?? "").not.toMatch(/\n/);
  });

  test("loads the reader and installer that it declares", async () => {
    if (agent.tokens === "transcript") expect(agent.transcript).toBeDefined();
    const reader = (await agent.transcript?.())?.default;
    const hasLocalIds = agent.capabilities.sessionIds === "local";
    if (reader !== undefined) expect(reader.originsOf !== undefined).toBe(hasLocalIds);
    if (reader !== undefined) {
      for (const part of [reader.locate, reader.files, reader.read]) expect(part).toBeTypeOf("function");
      expect(await locateAll(reader, "/home/dev/nowhere")).toEqual({ sessions: [], problems: [] });
      const nowhere = { sessionId: "s", home: "/home/dev/nowhere" };
      expect(await reader.files(nowhere)).toEqual([]);
      expect(await reader.files({ ...nowhere, path: "/home/dev/nowhere/s.jsonl" })).toEqual([]);
      expect(await reader.files({ ...nowhere, sessionId: "../../../etc/passwd" })).toEqual([]);
    }
    const installer = (await agent.installer?.())?.default;
    expect(installer?.scopes).not.toEqual([]);
  });

  test.each(GARBAGE)("accepts %s", (_, payload) => {
    for (const facts of intakesOf(agent)) check(agent, payload, facts);
  });

  test.each(firstOf([200_000, 5_000, 1_000], 1))(
    "survives a payload nested %i levels deep, unless decoding rejects it",
    (levels) => {
      const fields = `"openhook":"0.1","type":"session.start","source":"acme","hook_event_name":"Stop","session_id":"s"`;
      const nest = `${"[".repeat(levels)}${"]".repeat(levels)}`;
      for (const place of [`"tool_response":${nest}`, `"extensions":{"x":${nest}}`]) {
        const decoded = decodePayload(Buffer.from(`{${fields},${place}}`));
        if (!decoded.ok) continue;
        expect(() => JSON.stringify(agent.toEvents(decoded.value, intake({ source })))).not.toThrow();
      }
    },
  );

  test("accepts any JSON", () => {
    const facts = fc.constantFrom(...intakesOf(agent));
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), facts, (payload, at) => {
        check(agent, payload, at);
      }),
      { numRuns: runs(300) },
    );
  });

  test("accepts any value in the fields of payloads", () => {
    const names = [...new Set(recorded.flatMap(({ payload }) => Object.keys(Object(payload))))];
    const events = [...new Set(recorded.map(({ payload }) => String(Object(payload)["hook_event_name"])))];
    const field = fc.oneof(fc.jsonValue({ maxDepth: 3 }), fc.constantFrom(...events), fc.string(), fc.double());
    const payload = fc
      .tuple(fc.dictionary(fc.constantFrom(...names), field), fc.constantFrom(...events), fc.string({ minLength: 1 }))
      .map(([rest, event, session]) => ({ ...rest, hook_event_name: event, session_id: session }));
    fc.assert(
      fc.property(payload, fc.constantFrom(...intakesOf(agent)), (some, at) => {
        check(agent, some, at);
      }),
      { numRuns: runs(500) },
    );
  });

  test.each(firstOf(ODD, 1))("accepts %s in place of any string of its own payloads", (_, value) => {
    for (const { event, env, payload } of payloadsOf(source)) {
      for (const name of Object.keys(Object(payload))) {
        const odd = { ...Object(payload), [name]: value };
        const hook = { source, env, parentPid: 3131 };
        check(agent, odd, intake({ ...hook, event }));
        check(agent, odd, intake({ ...hook, event: String(value) }));
      }
    }
  });

  test("accepts every agent's recorded payloads, whole and with a member missing", () => {
    for (const { source: from, event, env, payload } of walked) {
      check(agent, payload, intake({ source, event, env }));
      // One payload of each kind is enough for other agents: only the set of fields matters
      if (from !== source && !kinds.has(payload)) continue;
      for (const name of Object.keys(Object(payload))) {
        const { [name]: _, ...rest } = payload as Record<string, unknown>;
        check(agent, rest, intake({ source, event, env }));
      }
    }
  });

  // Some payloads of its two contracts are not needed, and do not name their event
  if (source !== "hook-contract") {
    test("only payloads of events that are not always needed give nothing", () => {
      const own = recorded.filter((call) => call.source === source);
      for (const { event, env, payload } of own.length > 0 ? own : payloadsOf(source)) {
        const facts = intake({ source, event, env });
        const isOwn = own.length > 0 || agent.recognises(payload, facts) !== "no";
        const isLost =
          agent.toEvents(payload, facts).length === 0 && notNeededEvent(agent, payload, facts) === undefined;
        expect(isOwn && isLost, JSON.stringify([payload, facts]).slice(0, 400)).toBe(false);
      }
    });
  }

  test("recognises its own payloads as certain, and no other agent's", () => {
    for (const { source: from, event, env, payload } of recorded) {
      const recognition = agent.recognises(payload, intake({ source: from, event, env }));
      if (from === source) expect(recognition).not.toBe("no");
      else expect(recognition).not.toBe("certain");
    }
  });
});

/** One payload per event: recorded, else documented, else Claude Code's, since many agents use its contract. */
function payloadsOf(source: string): readonly Pick<RecordedPayload, "event" | "env" | "payload">[] {
  const ofAgent = (name: string) => recorded.filter((one) => one.source === name && kinds.has(one.payload));
  const own = ofAgent(source);
  if (own.length > 0) return own;
  const documented = documentedCalls(source).flatMap((call) => {
    const { event = "", env } = intakeOf(call);
    const { ok, value } = payloadOf(call, intakeOf(call));
    return ok ? [{ event, env, payload: value }] : [];
  });
  const one = new Map(documented.map((call) => [call.event, call]));
  if (documented.length > 0) return IS_WHOLE ? documented : [...one.values()];
  return firstOf(ofAgent("claude-code"), 4);
}

function documentedCalls(source: string): readonly DocumentedCall[] {
  const folder = join(CASES, source);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .map((name) => join(folder, name, "calls.jsonl"))
    .filter((path) => existsSync(path))
    .flatMap((path) => linesOf<DocumentedCall>(path));
}

/** Expects no throw, valid events, and ids that depend only on the payload. */
function check(agent: Agent, payload: unknown, facts: IntakeFacts): void {
  expect(["certain", "likely", "possible", "no"]).toContain(agent.recognises(payload, facts));
  const events = agent.toEvents(payload, facts);
  for (const event of events) {
    const parsed = Event.safeParse(event);
    expect(parsed.error, JSON.stringify(payload)?.slice(0, 400)).toBeUndefined();
    expect(Number.isFinite(Date.parse(event.time))).toBe(true);
    // Adapters set only known extras; envelopes of other senders may have any
    if (agent.source === event.source && event.extensions !== undefined && agent.source !== "openhook") {
      expect(Extras.strict().safeParse(event.extensions).error).toBeUndefined();
    }
    if (agent.source !== "openhook") {
      expect(event.source).toBe(agent.source);
      expect(agent.emits).toContain(event.type);
    } else expect(isEnvelope(event) || event.type === "notice").toBe(true);
  }
  expect(new Set(events.map((e) => e.id)).size).toBe(events.length);
  if (agent.capabilities.eventIds === "payload") {
    const later = agent.toEvents(payload, { ...facts, timeMs: facts.timeMs + 5_000 });
    expect(later.map((e) => e.id)).toEqual(events.map((e) => e.id));
  }
  for (const entry of agent.toEntries?.(payload, facts) ?? []) {
    expect(TranscriptEntry.safeParse(entry).error, JSON.stringify(payload)?.slice(0, 400)).toBeUndefined();
  }
  for (const remark of agent.remarks?.(payload) ?? []) expect(remark).toMatch(/^\S.*\S$/);
}

function deep(levels: number): unknown {
  let value: unknown = "ground";
  for (let i = 0; i < levels; i++) value = i % 2 === 0 ? { tool_input: value } : [value];
  return value;
}
