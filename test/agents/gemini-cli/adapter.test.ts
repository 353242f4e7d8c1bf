import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { detect } from "#agents/detect.ts";
import { adapter } from "#agents/gemini-cli/adapter.ts";
import { allAgents } from "#agents/registry.ts";
import type { Event } from "#core/model/event-schema.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import { extrasOf } from "#core/rules/extras.lazy.ts";
import { CASES } from "../../support/replay.ts";

const { recognises, toEvents } = adapter;

const NOW_MS = Date.UTC(2026, 10, 21, 12);
const SESSION = "91c17a0a-b01c-45e8-befd-5a0e0ab1ec40";
const intake = (rest: Partial<IntakeFacts> = {}): IntakeFacts => ({
  timeMs: NOW_MS,
  env: {},
  payloadBytes: 2,
  truncated: false,
  ...rest,
});

const payload = (event: string, rest: Record<string, unknown> = {}): Record<string, unknown> => ({
  session_id: SESSION,
  transcript_path: "/home/dev/.gemini/tmp/acme-shop/chats/session-2026-11-21T05-44-91c17a0a.jsonl",
  cwd: "/home/dev/acme-shop",
  hook_event_name: event,
  timestamp: "2026-11-21T05:44:38.335Z",
  ...rest,
});
const one = (event: string, rest: Record<string, unknown> = {}, facts = intake()): Event => {
  const events = toEvents(payload(event, rest), facts);
  expect(events).toHaveLength(1);
  return events[0] as Event;
};
const recorded = (name: string): readonly Record<string, unknown>[] =>
  readFileSync(join(CASES, "gemini-cli", name, "hooks.jsonl"), "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line).stdin);

describe("the type of each event", () => {
  test.each<[string, Record<string, unknown>, string | undefined]>([
    ["SessionStart", { source: "startup" }, "session.start"],
    ["BeforeAgent", { prompt: "Make a file" }, "prompt.submit"],
    ["BeforeAgent", { prompt: "System: Potential loop detected. Details: Repetitive patterns." }, undefined],
    ["BeforeAgent", { prompt: "[System: You successfully executed a tool but returned nothing.]" }, undefined],
    ["BeforeTool", { tool_name: "read_file", tool_input: { file_path: "README.md" } }, "tool.start"],
    ["AfterTool", { tool_name: "read_file", tool_input: {}, tool_response: { llmContent: "" } }, "tool.end"],
    ["AfterAgent", { prompt: "Make a file", prompt_response: "Done.", stop_hook_active: false }, "turn.end"],
    ["SessionEnd", { reason: "exit" }, "session.end"],
    ["BeforeModel", { llm_request: { model: "gemini-2.5-pro", messages: [] } }, "model.start"],
    ["Notification", { notification_type: "ToolPermission", message: "Confirm" }, "permission"],
    ["Notification", { notification_type: "Other" }, "notice"],
    ["BeforeToolSelection", { llm_request: {} }, undefined],
    ["PreCompress", { trigger: "auto" }, undefined],
    ["BeforeBreakfast", {}, undefined],
  ])("%s", (event, rest, type) => {
    expect(toEvents(payload(event, rest), intake()).map((e) => e.type)).toEqual(type === undefined ? [] : [type]);
  });

  test("an answer ends with the chunk that has a finish reason", () => {
    const chunk = (finishReason?: string) => ({ llm_response: { text: "", candidates: [{ finishReason }] } });
    expect(toEvents(payload("AfterModel", chunk()), intake())).toEqual([]);
    expect(one("AfterModel", chunk("STOP")).type).toBe("model.end");
    for (const name of ["basic", "parallel-tools", "subagent"]) {
      const events = recorded(name).flatMap((p) => toEvents(p, intake()));
      const count = (type: string) => events.filter((e) => e.type === type).length;
      expect(count("model.end")).toBe(count("model.start"));
    }
  });

  test("recognises every recorded payload as certain, and uses its time", async () => {
    const agents = await allAgents();
    for (const name of ["basic", "denied", "interactive-clear", "mcp", "subagent"]) {
      for (const p of recorded(name)) {
        expect(recognises(p, intake())).toBe("certain");
        expect(detect(agents, p, intake())?.source).toBe("gemini-cli");
        for (const event of toEvents(p, intake())) expect(event.time).toBe(p["timestamp"]);
      }
    }
  });
});

describe("facts", () => {
  test("a resumed session continues", () => {
    expect(extrasOf(one("SessionStart", { source: "resume" }))).toMatchObject({
      start_origin: "resume",
      continues: "same-session",
    });
    expect(extrasOf(one("SessionStart", { source: "clear" }))).not.toHaveProperty("continues");
  });

  test("end reasons map to OpenHook's", () => {
    const reason = (native: string) =>
      (one("SessionEnd", { reason: native }) as { data?: { reason?: string } }).data?.reason;
    expect(["exit", "clear", "logout", "prompt_input_exit", "other"].map(reason)).toEqual([
      "completed",
      "completed",
      "user_exit",
      "user_exit",
      "completed",
    ]);
  });

  test("start and end of a call have one input digest, for any order of arguments, and no id", () => {
    const start = one("BeforeTool", {
      tool_name: "run_shell_command",
      tool_input: { command: "git status", description: "x" },
    });
    const end = one("AfterTool", {
      tool_name: "run_shell_command",
      tool_input: { description: "x", command: "git status" },
      tool_response: { llmContent: "Output: clean" },
    });
    expect(extrasOf(start).input_digest).toMatch(/^[0-9a-f]{16}$/);
    expect(extrasOf(end).input_digest).toBe(extrasOf(start).input_digest);
    expect(extrasOf(start).executable).toBe("git");
    const asText = one("BeforeTool", {
      tool_name: "run_shell_command",
      tool_input: '{"command":"git status","description":"x"}',
    });
    expect(extrasOf(asText)).toMatchObject({ input_digest: extrasOf(start).input_digest, executable: "git" });
    expect(start).toMatchObject({ data: { tool_name: "run_shell_command" } });
    expect((start as { data: object }).data).not.toHaveProperty("tool_call_id");
  });

  test.each<[string, unknown, object, object]>([
    ["a success", { llmContent: "# acme-shop" }, { status: "success" }, {}],
    [
      "an error with a type",
      { llmContent: "no", error: { message: "File not found: /home/dev/x", type: "file_not_found" } },
      { status: "error" },
      { error_type: "file_not_found" },
    ],
    ["an error without", { llmContent: "no", error: { message: "x" } }, { status: "error" }, { error_type: "_OTHER" }],
    [
      "a command that failed",
      {
        llmContent:
          "<untrusted_context>\nOutput: Exit Code: 7\nExit Code: 3\nProcess Group PGID: 4\n</untrusted_context>",
      },
      { status: "success" },
      { exit_code: 3 },
    ],
    [
      "a command that the user interrupted",
      { llmContent: "Command was cancelled by user before it could complete. There was no output." },
      { status: "error" },
      { error_type: "interrupted" },
    ],
    [
      "an edit",
      {
        llmContent: [{ text: "ok" }],
        returnDisplay: {
          diffStat: { model_added_lines: 2, model_removed_lines: 1, user_added_lines: 3, user_removed_lines: 0 },
        },
      },
      { status: "success" },
      { lines_added: 5, lines_removed: 1 },
    ],
  ])("%s", (_, tool_response, data, extras) => {
    const end = one("AfterTool", { tool_name: "run_shell_command", tool_input: { command: "x" }, tool_response });
    expect(end).toMatchObject({ data });
    expect(extrasOf(end)).toMatchObject(extras);
    expect(JSON.stringify(end)).not.toMatch(/# acme|not found|PGID|Command was/);
  });

  test("names the server of an MCP tool, not its command or arguments", () => {
    const start = one("BeforeTool", {
      tool_name: "mcp_shop_stock",
      tool_input: { sku: "A-1" },
      mcp_context: { server_name: "shop", tool_name: "stock", command: "/usr/bin/node", args: ["--token=s3cret"] },
    });
    expect(extrasOf(start).mcp_server).toBe("shop");
    expect(JSON.stringify(start)).not.toMatch(/s3cret|A-1|usr/);
  });

  test("the same payload gives the same event; another time, another event", () => {
    const call = { tool_name: "read_file", tool_input: { file_path: "README.md" } };
    const id = one("BeforeTool", call).id;
    expect(one("BeforeTool", call, intake({ timeMs: NOW_MS + 9_000, hookPid: 77 })).id).toBe(id);
    expect(one("BeforeTool", { ...call, timestamp: "2026-11-21T05:44:38.336Z" }).id).not.toBe(id);
  });
});

describe("incomplete payloads", () => {
  const bare = { tool_name: "run_shell_command", tool_input: { command: "ls" }, session_id: "g1" };

  test("take agent and event from the command line", () => {
    const facts = intake({ source: "gemini-cli", event: "BeforeTool", cwd: "/home/dev/acme-shop" });
    expect(recognises(bare, facts)).toBe("possible");
    expect(toEvents(bare, facts)).toMatchObject([
      { type: "tool.start", session_id: "g1", cwd: "/home/dev/acme-shop", time: new Date(NOW_MS).toISOString() },
    ]);
    expect(toEvents(bare, intake({ event: "Stop" }))).toMatchObject([{ type: "turn.end" }]);
  });

  test("are not recognised without it", () => {
    expect(recognises(bare, intake())).toBe("no");
    expect(recognises(bare, intake({ source: "claude-code" }))).toBe("no");
    expect(toEvents(bare, intake())).toEqual([]);
  });

  test("take the session from the environment, else generate one", () => {
    const { session_id: _, ...rest } = payload("SessionStart");
    const inherited = toEvents(rest, intake({ env: { GEMINI_SESSION_ID: SESSION } }))[0] as Event;
    expect(inherited.session_id).toBe(SESSION);
    expect(extrasOf(inherited).session_id_origin).toBe("environment");
    expect(extrasOf(toEvents(rest, intake({ parentPid: 7 }))[0] as Event).session_id_origin).toBe("minted");
  });

  test("with shared event names need the session file's path, the environment or the command line", () => {
    const { transcript_path: _, ...rest } = payload("SessionEnd", { reason: "exit" });
    expect(recognises(rest, intake())).toBe("possible");
    expect(recognises(rest, intake({ env: { GEMINI_SESSION_ID: SESSION } }))).toBe("certain");
    expect(recognises({ ...rest, transcript_path: "/home/dev/.claude/projects/a/s.jsonl" }, intake())).not.toBe(
      "certain",
    );
    expect(recognises({ ...rest, hook_event_name: "BeforeTool" }, intake())).toBe("certain");
    expect(recognises({ ...rest, hook_event_name: "BeforeTool", transcript_path: "/x/.fork/s.json" }, intake())).toBe(
      "likely",
    );
    expect(recognises(payload("SomethingNew"), intake())).toBe("certain");
  });
});
