import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { detect } from "#agents/detect.ts";
import { allAgents } from "#agents/registry.ts";
import { parseInboxFile } from "#collect/intake/inbox-file.ts";
import { decodeEvent } from "#collect/intake/payload.ts";
import { unknownNamesIn } from "#collect/payload/drift.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import { QUARANTINE_CATEGORIES, quarantineCategory, SELF_PREFIX, SELF_SHAPES } from "#core/telemetry/self.ts";
import { recordedPayloads } from "../session/recorded.ts";
import { type DocumentedCall, intakeOf, linesOf, payloadOf } from "../support/documented.ts";
import { CASES } from "../support/replay.ts";

const agents = await allAgents();

const intake = (rest: Partial<IntakeFacts>): IntakeFacts => ({
  timeMs: Date.UTC(2026, 9, 5),
  env: {},
  payloadBytes: 2,
  truncated: false,
  ...rest,
});

/** `<source> <kind> <name>` of unknown names in a payload; empty if no card recognises it. */
function unknownIn(payload: unknown, facts: IntakeFacts): readonly string[] {
  const agent = detect(agents, payload, facts);
  if (agent === undefined) return [];
  return [...unknownNamesIn(agent, payload, facts).values()].map(({ kind, name }) => `${agent.source} ${kind} ${name}`);
}

describe("names on cards", () => {
  test("every card lists names of events and fields", () => {
    for (const { source, known } of agents) {
      expect(known?.events.length, source).toBeGreaterThan(0);
      expect(known?.fields.length, source).toBeGreaterThan(0);
    }
  });

  test("every name in a recorded payload is on its card", () => {
    const recorded = recordedPayloads();
    expect(recorded.length).toBeGreaterThan(300);
    const unknown = recorded.flatMap(({ source, event, env, payload }) =>
      unknownIn(payload, intake({ source, event, env })),
    );
    expect([...new Set(unknown)]).toEqual([]);
  });

  test("every name in a documented payload is on its card, except the example of an unknown event", () => {
    const files = readdirSync(CASES, { recursive: true, encoding: "utf8" }).filter((p) => p.endsWith("calls.jsonl"));
    expect(files.length).toBeGreaterThan(10);
    const unknown = files.flatMap((file) =>
      linesOf<DocumentedCall>(join(CASES, file)).flatMap((call) => {
        const facts = intakeOf(call);
        const payload = payloadOf(call, facts);
        return payload.ok ? unknownIn(payload.value, facts) : [];
      }),
    );
    expect([...new Set(unknown)]).toEqual(["openhook event agent.thought"]);
  });

  test.each(agents.map((agent) => [agent.source, agent] as const))(
    "%s: a new event and a new field are reported",
    (_, agent) => {
      const payload = { hook_event_name: "SolarFlare", spectralClass: "G2V" };
      const unknown = [
        ...unknownNamesIn(agent, payload, intake({ source: agent.source, event: "SolarFlare" })).values(),
      ];
      expect(unknown).toContainEqual({ kind: "field", name: "spectralClass", count: 1 });
      expect(unknown).toContainEqual({ kind: "event", name: "SolarFlare", count: 1 });
    },
  );

  test("only objects have names, and nested members are content", () => {
    for (const payload of [null, 7, "SessionStart", [], [{ a: 1 }]]) expect(unknownIn(payload, intake({}))).toEqual([]);
    const deep = { hook_event_name: "Stop", session_id: "s", tool_input: { anything: { at: "all" } } };
    expect(unknownIn(deep, intake({ source: "claude-code" }))).toEqual([]);
  });

  test("a payload with thousands of members is not searched", () => {
    const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`member${i}`, 1]));
    const claude = agents.find(({ source }) => source === "claude-code");
    expect(claude).toBeDefined();
    if (claude !== undefined) expect(unknownNamesIn(claude, many, intake({})).size).toBe(50);
  });
});

describe("the program's own metrics", () => {
  test("have a separate prefix, and units", () => {
    for (const { name, unit, description } of SELF_SHAPES) {
      expect(name.startsWith(SELF_PREFIX), name).toBe(true);
      expect(name).toMatch(/^[a-z]+(?:[._][a-z]+)*$/);
      expect(unit).toMatch(/^(?:\{[a-z]+\}|s|By)$/);
      expect(description).toMatch(/^[A-Z].*[a-z0-9]$/);
    }
    expect(new Set(SELF_SHAPES.map(({ name }) => name)).size).toBe(SELF_SHAPES.length);
  });

  test("every quarantine reason has a family", () => {
    const decoded = (payload: string): string => {
      const result = decodeEvent(Buffer.from(payload), {});
      return result.ok ? "" : result.reason;
    };
    const parsed = (file: string): string => {
      const result = parseInboxFile(Buffer.from(file), 0);
      return result.ok ? "" : result.reason;
    };
    const reasons: readonly (readonly [string, string])[] = [
      ["no agent recognises it", "unrecognised"],
      ["it cannot be converted: Maximum call stack size exceeded", "unconvertible"],
      ["it cannot be stored: data.duration_ms is not what it should be", "unconvertible"],
      ["the intake died before the payload was whole", "incomplete"],
      ["not a regular file", "foreign_file"],
      ["not an inbox file: its name does not end in .evt", "foreign_file"],
      ["the file is larger than any the intake writes", "foreign_file"],
      [parsed("hello"), "foreign_file"],
      [parsed("openhook-inbox 1\nsource=x"), "foreign_file"],
      [decoded(""), "unreadable"],
      [decoded("{nonsense"), "unreadable"],
      ["something unexpected", "other"],
    ];
    for (const [reason, family] of reasons) expect(quarantineCategory(reason), reason).toBe(family);
    expect(new Set(reasons.map(([, family]) => family))).toEqual(new Set(QUARANTINE_CATEGORIES));
  });
});

test("every kind of record in recorded transcripts is known to its reader", async () => {
  const found: string[] = [];
  let records = 0;
  for (const agent of agents) {
    const folder = join(CASES, agent.source);
    const reader = (await agent.transcript?.())?.default;
    if (reader === undefined || !existsSync(folder)) continue;
    for (const path of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
      if (!/[/\\]transcripts[/\\].*\.jsonl$/.test(path) || readFileSync(join(folder, path)).length === 0) continue;
      try {
        for await (const batch of reader.read({ path: join(folder, path) }, { bytes: 0, memo: {} })) {
          records += batch.records ?? 0;
          found.push(...[...(batch.unknownKinds ?? new Map()).keys()].map((kind) => `${agent.source} ${kind}`));
        }
      } catch (error) {
        throw new Error(`cannot read ${path}`, { cause: error });
      }
    }
  }
  expect([...new Set(found)]).toEqual([]);
  expect(records).toBeGreaterThan(2_000);
});

test.each([
  [
    "codex",
    "dynamic_tools_updated inter_agent_communication realtime_item security_risk_score",
    { type: "session_meta", payload: { id: "01a1fcbb-0000-7000-8000-000000000000", cli_version: "0.169.0" } },
  ],
  [
    "copilot",
    `session.auto_mode_resolved session.remote_steerable_changed session.schedule_created session.context_cleared
    session.session_limits_changed session.completion_receipt session.fusion_completed external_tool.requested
    human_response.recorded permission.carriedForward skill.context_delivered tool_search.activated session.import_legacy`,
    { type: "session.start", data: {} },
  ],
])(
  "every kind of record that %s can write, and no recording has, is known to its reader",
  async (source, kinds, first) => {
    const home = mkdtempSync(join(tmpdir(), "openhook-kinds-"));
    const path = join(home, "rollout-2026-11-21T10-00-00-01a1fcbb-0000-7000-8000-000000000000.jsonl");
    const timestamp = "2026-11-21T10:00:00.000Z";
    const lines = [
      first,
      ..."of_tomorrow "
        .concat(kinds)
        .split(/\s+/)
        .map((type) => ({ type, payload: {}, data: {} })),
    ];
    writeFileSync(path, lines.map((line) => `${JSON.stringify({ timestamp, ...line })}\n`).join(""));
    const reader = (await agents.find((agent) => agent.source === source)?.transcript?.())?.default;
    const found: string[] = [];
    for await (const batch of reader?.read({ path }, { bytes: 0, memo: {} }) ?? []) {
      found.push(...(batch.unknownKinds?.keys() ?? []));
    }
    rmSync(home, { recursive: true });
    expect(found).toEqual(["of_tomorrow"]);
  },
);
