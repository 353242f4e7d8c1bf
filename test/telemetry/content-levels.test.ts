import { describe, expect, test } from "vitest";
import { CAPTURE_LEVELS } from "#core/model/capture.ts";
import type { SpanRecord } from "#core/model/telemetry.ts";
import { incrementAtLevel, recordAtLevel } from "#core/telemetry/level.ts";

const OWN = { tools: ["Bash", "Read"], agentTypes: ["Explore"] };
const own = (source: string) => (source === "claude-code" ? OWN : undefined);

const record = (name: string, attributes: SpanRecord["attributes"]): SpanRecord => ({
  traceId: "0".repeat(32),
  spanId: "1".repeat(16),
  name,
  kind: "internal",
  startMs: 1,
  endMs: 2,
  status: { code: "unset" },
  attributes,
  links: [],
  events: [],
  resource: { "service.name": "claude-code", "service.version": "2.1.329" },
});

const NAMED = {
  "gen_ai.operation.name": "execute_tool",
  "gen_ai.tool.call.id": "toolu_1",
  "openhook.tool.status": "success",
  "process.exit.code": 0,
};

describe("a span at each capture level", () => {
  test("contains content only at redacted and full", () => {
    const span = record("execute_tool Bash git", {
      ...NAMED,
      "gen_ai.tool.name": "Bash",
      "gen_ai.tool.call.arguments": '{"command":"git push"}',
      "gen_ai.tool.call.result": "done",
      "gen_ai.input.messages": "[]",
      "gen_ai.output.messages": "[]",
    });
    const kept = CAPTURE_LEVELS.map((level) =>
      Object.keys(recordAtLevel(span, level, own).attributes).filter((name) => /messages|arguments|result/.test(name)),
    );
    expect(kept.map(({ length }) => length)).toEqual([0, 0, 4, 4]);
  });

  test("is the same object if nothing must be removed", () => {
    const span = record("execute_tool Bash", { ...NAMED, "gen_ai.tool.name": "Bash" });
    for (const level of CAPTURE_LEVELS) expect(recordAtLevel(span, level, own)).toBe(span);
  });

  test("has no names that users chose at none, nor in the span's name", () => {
    const names = {
      "process.executable.name": "acme-deploy",
      "openhook.tool.subcommand": "rollout prod",
      "openhook.mcp.server.name": "acme",
      "vcs.repository.name": "acme-shop",
      "vcs.repository.url.full": "https://example.com/acme-shop",
      "vcs.ref.head.name": "feature/merger",
      "vcs.ref.head.revision": "0123456",
      "openhook.session.native_end_reason": "acme",
    };
    const tool = (name: string, more: SpanRecord["attributes"] = {}) =>
      recordAtLevel(
        record(`execute_tool ${name} acme-deploy`, { ...NAMED, ...names, ...more, "gen_ai.tool.name": name }),
        "none",
        own,
      );
    expect(tool("Bash")).toEqual(record("execute_tool Bash", { ...NAMED, "gen_ai.tool.name": "Bash" }));
    expect(tool("mcp__acme__lookup").name).toBe("execute_tool mcp");
    expect(tool("lookup").name).toBe("execute_tool mcp");
    const { "openhook.mcp.server.name": _, ...noServer } = names;
    const plain = record("execute_tool acme", { ...NAMED, ...noServer, "gen_ai.tool.name": "acme" });
    expect(recordAtLevel(plain, "none", own).name).toBe("execute_tool other");
  });

  test("keeps the names of an agent and its built-in subagents at none, not those of a user's subagents", () => {
    const span = (agent: string) =>
      recordAtLevel(record(`invoke_agent ${agent}`, { "gen_ai.agent.name": agent }), "none", own);
    expect(span("claude-code").name).toBe("invoke_agent claude-code");
    expect(span("Explore").name).toBe("invoke_agent Explore");
    expect(span("acme-reviewer")).toEqual(record("invoke_agent subagent", { "gen_ai.agent.name": "subagent" }));
  });

  test("counters have no names that users chose at none either, and keep their amounts", () => {
    const increment = {
      metric: "openhook.tool.call.count",
      amount: 1,
      attributes: { "gen_ai.tool.name": "mcp__acme__lookup", "vcs.repository.name": "acme-shop" },
      resource: { "service.name": "claude-code" },
    };
    expect(incrementAtLevel(increment, "none", own)).toEqual({
      ...increment,
      attributes: { "gen_ai.tool.name": "mcp" },
    });
    expect(incrementAtLevel(increment, "metadata", own)).toBe(increment);
  });
});
