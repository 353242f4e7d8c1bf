// Reports by MCP server, skill and subagent: recorded sessions, and made ones that load skills.
import { afterEach, describe, expect, test } from "vitest";
import { allAgents } from "#agents/registry.ts";
import { report } from "#commands/report.ts";
import { withConfigured } from "#show/report/configured.ts";
import { placedCalls } from "#show/report/explain-money.ts";
import type { Dimension } from "#show/report/query.ts";
import { questionOf } from "#show/report/question.ts";
import { turnsOfCalls } from "#show/report/session-spans.ts";
import { viewOf } from "#show/report/session-view.ts";
import { rowJson } from "#show/report/usage-data.ts";
import { usageReport } from "#show/report/usage-report.ts";
import type { UsageRow } from "#show/report/usage-rows.ts";
import { type Database, openDatabase } from "#store/database.ts";
import { recentSessions } from "#store/queries.ts";
import { spanSettings } from "#store/sessions/span-settings.ts";
import { claudePath, writeLines } from "../import/claude.ts";
import { importInto, unpackAll } from "../import/run.ts";
import { contextAt } from "../support/context.ts";
import { Replay } from "../support/replay.ts";
import { firstOf } from "../support/whole.ts";

const agents = await allAgents();
let at: Replay | undefined;
afterEach(() => at?.remove());

async function recorded(source: string, name: string): Promise<Replay> {
  at = new Replay(source, name);
  for (const call of at.calls) at.put(call);
  await at.drain({ endIdle: true });
  return at;
}

async function withStore<T>(
  of: Replay,
  look: (db: Database, settings: ReturnType<typeof spanSettings>) => T,
): Promise<T> {
  const settings = spanSettings(await of.deps());
  const db = openDatabase(of.places.storePath);
  try {
    return look(db, settings);
  } finally {
    db.close();
  }
}

const rowsOf = (of: Replay, ...by: readonly Dimension[]): Promise<readonly UsageRow[]> =>
  withStore(of, (db, spans) => {
    const options = { since: "2020-01-01", json: true, csv: false };
    const question = questionOf(by, options, Date.now());
    return usageReport(db, agents, question, Date.now(), true, new Map(), { spans })?.rows ?? [];
  });

/** Calls, failed calls and refused calls by name; `""`: of none. */
const counts = (rows: readonly UsageRow[], by: "mcp" | "skill"): Readonly<Record<string, unknown>> =>
  Object.fromEntries(rows.map(({ key, tools }) => [key[by] ?? "", [tools?.calls, tools?.errors, tools?.denied]]));

describe("MCP servers of recorded sessions", () => {
  // Counted by hand in the recordings' truth
  test.each([
    ["claude-code", "mcp", [2, 1, 0], [1, 0, 0]],
    ["cline", "mcp", [2, 1, 0], undefined],
    ["codex", "mcp", [2, 1, 0], undefined],
    ["copilot", "mcp", [2, 1, 0], undefined],
    ["gemini-cli", "mcp", [2, 1, 0], undefined],
  ] as const)("%s", async (source, name, shop, rest) => {
    const of = await recorded(source, name);
    const found = counts(await rowsOf(of, "mcp"), "mcp");
    expect(found).toMatchObject({ shop });
    if (rest !== undefined) expect(found).toEqual({ shop, "": rest });
    expect(Object.keys(found).filter((server) => server !== "")).toEqual(["shop"]);
  });

  test("the cost after a server is that of the model calls that `explain` has after it", async () => {
    const of = await recorded("claude-code", "mcp");
    const after = await withStore(of, (db, settings) =>
      recentSessions(db, 10).flatMap((stored) => {
        const view = viewOf(db, stored, { agents }, settings);
        return placedCalls(view, turnsOfCalls(db, view)).filter(
          ({ cause }) => cause.kind === "tool" && cause.mcpServer,
        );
      }),
    );
    expect(after.length).toBeGreaterThan(0);
    const [shop] = await rowsOf(of, "mcp");
    expect(shop).toMatchObject({
      key: { mcp: "shop" },
      after: { modelCalls: after.length, costNanoUsd: after.reduce((sum, one) => sum + (one.costNanoUsd ?? 0), 0) },
    });
  });
});

describe("subagents of recorded sessions", () => {
  const RECORDED = firstOf(
    [
      ["claude-code", "nested-subagents"],
      ["codex", "subagent"],
      ["gemini-cli", "subagent"],
      ["claude-code", "subagent"],
      ["opencode", "subagent"],
      ["copilot", "subagent"],
      ["qwen-code", "background-subagent"],
      ["kimi", "subagent"],
      ["vibe", "subagent"],
      ["droid", "subagent"],
      ["openhands", "subagents-killed"],
    ] as const,
    3,
  );

  test.each(RECORDED)("%s %s: runs and model calls are those of the store's sums", async (source, name) => {
    const of = await recorded(source, name);
    const rows = await rowsOf(of, "subagent");
    const sums = await withStore(of, (db) => {
      const one = (sql: string): unknown => db.prepare(sql).get()?.["n"] ?? 0;
      return {
        runs: one("SELECT sum(json_extract(totals, '$.subagents')) AS n FROM segments"),
        calls: one("SELECT sum(calls) AS n FROM usage WHERE subagent = 1"),
        output: one("SELECT sum(output) AS n FROM usage WHERE subagent = 1"),
      };
    });
    const sum = (figure: (row: UsageRow) => number | undefined): number =>
      rows.reduce((n, row) => n + (figure(row) ?? 0), 0);
    expect(sums.runs).toBeGreaterThan(0);
    expect({
      runs: sum(({ runs }) => runs?.runs),
      calls: sum(({ calls }) => calls?.modelCalls),
      output: sum(({ calls }) => calls?.output),
    }).toEqual(sums);
    expect(rows.every(({ turns, tools }) => turns === undefined && tools === undefined)).toBe(true);
  });

  test("their types, and by model too", async () => {
    const of = await recorded("claude-code", "nested-subagents");
    expect((await rowsOf(of, "subagent")).map(({ key }) => key)).toEqual([{ subagent: "general-purpose" }]);
    const byModel = await rowsOf(of, "subagent", "model");
    expect(byModel.every(({ runs, key }) => runs === undefined && typeof key.model === "string")).toBe(true);
  });
});

describe("skills", () => {
  const T0 = Date.parse("2026-11-20T10:00:00Z");

  /** A session of Claude Code that loads skills: each step is one answer with these tools. */
  function session(
    steps: readonly (readonly { readonly name: string; readonly input: object; readonly fails?: true }[])[],
  ) {
    const base = { sessionId: "s1", cwd: "/home/dev/acme-shop", version: "2.1.332", isSidechain: false };
    let n = 0;
    const line = (body: object): string => {
      n++;
      return JSON.stringify({ ...base, uuid: `u${n}`, timestamp: new Date(T0 + n * 1_000).toISOString(), ...body });
    };
    const answer = (id: number, content: readonly object[], stop: string): string =>
      line({
        type: "assistant",
        requestId: `r${id}`,
        message: {
          ...{ id: `m${id}`, type: "message", role: "assistant", model: "claude-sonnet-4-5-20250929", content },
          ...{ stop_reason: stop, usage: { input_tokens: 100 * (id + 1), output_tokens: 10 } },
        },
      });
    const lines = [line({ type: "user", promptId: "p1", message: { role: "user", content: "go" } })];
    for (const [id, tools] of steps.entries()) {
      const uses = tools.map(({ name, input }, i) => ({ type: "tool_use", id: `t${id}_${i}`, name, input }));
      lines.push(answer(id, uses, "tool_use"));
      for (const [i, { fails = false }] of tools.entries()) {
        const result = { type: "tool_result", tool_use_id: `t${id}_${i}`, content: "x", is_error: fails };
        lines.push(line({ type: "user", message: { role: "user", content: [result] } }));
      }
    }
    lines.push(answer(steps.length, [{ type: "text", text: "done" }], "end_turn"));
    return lines;
  }

  const skill = (name: string, fails?: true) => ({ name: "Skill", input: { skill: name }, ...(fails && { fails }) });
  const STEPS = [
    [skill("audit")],
    [skill("acme:release-notes"), { name: "Read", input: { file_path: "/home/dev/acme-shop/a.ts" } }],
    [skill("audit"), skill("tidy")],
    [{ name: "Skill", input: { command: "audit" }, fails: true as const }],
    [{ name: "Skill", input: { skill: "see /home/dev/secret plans" } }],
  ];
  const LOADED = { audit: [3, 1, 0], tidy: [1, 0, 0], "acme:release-notes": [1, 0, 0], "": [2, 0, 0] };

  async function imported(): Promise<Replay> {
    at = new Replay("claude-code", "basic", { withTranscripts: false });
    writeLines(claudePath(at, "s1"), session(STEPS));
    await importInto(at, "claude-code");
    return at;
  }

  test("of an imported session, and of the same one unpacked", async () => {
    const of = await imported();
    expect(counts(await rowsOf(of, "skill"), "skill")).toEqual(LOADED);
    const before = await rowsOf(of, "skill");
    await unpackAll(of, "claude-code");
    expect(await rowsOf(of, "skill")).toEqual(before);
    expect(await rowsOf(of, "tool")).toMatchObject([
      { key: { tool: "Skill" }, tools: { calls: 6, errors: 1 } },
      { key: { tool: "Read" }, tools: { calls: 1 } },
    ]);
  });

  test("the cost after a skill is that of calls that read its results alone", async () => {
    const rows = await rowsOf(await imported(), "skill");
    const after = Object.fromEntries(
      rows.map(({ key, after }) => [key.skill ?? "", after && [after.modelCalls, after.input]]),
    );
    // The second and the fifth call read a result of one skill; the third and fourth those of several
    expect(after).toEqual({
      audit: [2, 200 + 500],
      tidy: [0, undefined],
      "acme:release-notes": [0, undefined],
      "": undefined,
    });
  });

  test("at `capture: none` their names are not stored", async () => {
    at = new Replay("claude-code", "basic", { withTranscripts: false });
    at.env = { OPENHOOK_OTEL_CAPTURE: "none" };
    writeLines(claudePath(at, "s1"), session(STEPS));
    await importInto(at, "claude-code");
    expect(counts(await rowsOf(at, "skill"), "skill")).toEqual({ "": [7, 1, 0] });
    const stored = await withStore(at, (db) => JSON.stringify(db.prepare("SELECT body FROM packed").all()));
    expect(stored).not.toContain("release-notes");
  });

  test("`--json` and `--csv` have the skills of settings that no call has, with files", async () => {
    const of = await imported();
    for (const name of ["audit", "never"]) writeLines(`${of.home}/.claude/skills/${name}/SKILL.md`, ["x"]);
    const now = () => T0 + 3_600_000;
    const printed = async (options: object): Promise<string> => {
      const { context, out } = contextAt(of.places, { now, env: {} });
      expect(await report(["skill"], { json: false, csv: false, refresh: false, ...options }, context)).toBe(0);
      return out();
    };
    const { rows } = JSON.parse(await printed({ json: true }));
    const named = (name: string) => rows.find((row: { readonly skill: unknown }) => row.skill === name);
    const file = `${of.home}/.claude/skills/never/SKILL.md`;
    expect(named("never")).toMatchObject({
      configured: true,
      configured_by: ["claude-code", "copilot", "opencode"],
      tool_calls: 0,
    });
    expect(named("never").configured_in[0]).toBe(file);
    expect(named("audit")).toMatchObject({ configured: true, tool_calls: 3, tool_errors: 1 });
    expect(named("tidy")).toMatchObject({ configured: null, tool_calls: 1 });
    expect(await printed({ csv: true })).toMatch(/^never,true,claude-code copilot opencode,\S+ \S+ \S+,0,0,/m);
    expect(await printed({})).toMatch(/^never +0 /m);
  });
});

test.each([
  [["mcp", "model"], "model and mcp cannot be combined"],
  [["skill", "subagent"], "subagent and skill cannot be combined"],
  [["tools", "models"], "model and tool cannot be combined"],
])("%j is refused", (words, message) => {
  expect(() => questionOf(words, { json: false, csv: false }, Date.now())).toThrow(message);
});

test("other words for these dimensions", () => {
  const by = (word: string) => questionOf([word], { json: false, csv: false }, Date.now()).query.by;
  expect(["server", "servers", "mcp-server", "mcp-servers", "skills", "subagents"].map((word) => by(word)[0])).toEqual([
    ...["mcp", "mcp", "mcp", "mcp"],
    ...["skill", "subagent"],
  ]);
});

describe("configured names without a call", () => {
  const name = (agent: string, isNamedInCalls = true) =>
    ({ kind: "mcp", name: "docs", file: "/f", agent, isNamedInCalls }) as const;

  test.each([
    ["0 is known", [name("fig")], ["fig"], 0],
    ["its agent did not work in that time", [name("fig")], ["plum"], undefined],
    ["its agent's calls name no servers", [name("fig", false)], ["fig"], undefined],
    ["another agent's calls name none", [name("fig"), name("plum", false)], ["fig", "plum"], undefined],
    ["another agent did not work", [name("fig"), name("plum", false)], ["fig"], 0],
  ])("%s", (_, names, worked, calls) => {
    const [row] = withConfigured([], "mcp", { names, found: [], worked: new Set(worked) });
    expect([row?.key, row?.tools?.calls]).toEqual([{ mcp: "docs" }, calls]);
    const json: object = rowJson(row as UsageRow);
    expect(json).toMatchObject({ configured: true, tool_calls: calls ?? null, sessions: calls ?? null });
  });

  test("a name beyond the limit is no name without a call", () => {
    const used = { key: { mcp: "docs" }, sessions: 1, agentsWithoutUsage: [], sessionsWithoutUsage: 0 };
    expect(withConfigured([], "mcp", { names: [name("fig")], found: [used], worked: new Set(["fig"]) })).toEqual([]);
  });
});
