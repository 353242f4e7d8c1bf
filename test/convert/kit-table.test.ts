// The kit's payload vectors are made with our converter. Here they are compared with a table written by hand from the agents' own
// documentation and OpenHook's text, so that a mistake of the converter does not become the norm.
import { join } from "node:path";
import { expect, test } from "vitest";
import { readKit } from "#check/conformance/kit.ts";
import { ROOT } from "../support/replay.ts";

type Payload = Readonly<Record<string, unknown>>;
interface Facts {
  readonly types: Readonly<Record<string, string>>;
  readonly session: readonly string[];
  readonly call: readonly string[];
}

const TABLE: Readonly<Record<string, Facts>> = {
  "claude-code": {
    types: {
      ...{ SessionStart: "session.start", SessionEnd: "session.end", UserPromptSubmit: "prompt.submit" },
      ...{ PreToolUse: "tool.start", PostToolUse: "tool.end success", PostToolUseFailure: "tool.end error" },
    },
    session: ["session_id"],
    call: ["tool_use_id"],
  },
  cline: {
    types: {
      ...{ TaskStart: "session.start", TaskComplete: "session.end", TaskError: "session.end" },
      ...{ SessionShutdown: "session.end", PreToolUse: "tool.start", PostToolUse: "tool.end" },
    },
    session: ["sessionContext.rootSessionId", "taskId"],
    call: ["tool_call.id", "tool_result.id"],
  },
  codex: {
    types: {
      ...{ SessionStart: "session.start", SessionEnd: "session.end", UserPromptSubmit: "prompt.submit" },
      ...{ PreToolUse: "tool.start", PostToolUse: "tool.end" },
    },
    session: ["session_id"],
    call: ["tool_use_id"],
  },
  copilot: {
    types: {
      ...{ sessionStart: "session.start", sessionEnd: "session.end", SessionEnd: "session.end" },
      ...{ userPromptSubmitted: "prompt.submit", preToolUse: "tool.start", postToolUse: "tool.end" },
      ...{ postToolUseFailure: "tool.end error", PostToolUseFailure: "tool.end error" },
    },
    session: ["sessionId", "session_id"],
    call: [],
  },
  cursor: {
    types: {
      ...{ sessionStart: "session.start", sessionEnd: "session.end", beforeSubmitPrompt: "prompt.submit" },
      ...{ preToolUse: "tool.start", postToolUse: "tool.end", postToolUseFailure: "tool.end error" },
    },
    session: ["conversation_id", "session_id"],
    call: ["tool_use_id"],
  },
  "gemini-cli": {
    types: {
      ...{ SessionStart: "session.start", SessionEnd: "session.end", BeforeAgent: "prompt.submit" },
      ...{ BeforeTool: "tool.start", AfterTool: "tool.end" },
    },
    session: ["session_id"],
    call: [],
  },
  kiro: {
    types: {
      ...{ agentSpawn: "session.start", SessionStart: "session.start", SessionEnd: "session.end" },
      ...{ userPromptSubmit: "prompt.submit", UserPromptSubmit: "prompt.submit" },
      ...{ preToolUse: "tool.start", PreToolUse: "tool.start", postToolUse: "tool.end", PostToolUse: "tool.end" },
    },
    session: ["session_id"],
    call: [],
  },
  opencode: {
    types: {
      ...{ "event:session.created": "session.start", "chat.message": "prompt.submit" },
      ...{ "tool.execute.before": "tool.start", "tool.execute.after": "tool.end" },
      "event:message.part.updated": "tool.end",
    },
    session: ["input.sessionID", "input.event.properties.sessionID"],
    call: ["input.callID", "input.event.properties.part.callID"],
  },
  crush: { types: { PreToolUse: "tool.start" }, session: ["session_id"], call: [] },
  droid: {
    types: {
      ...{ SessionStart: "session.start", SessionEnd: "session.end", UserPromptSubmit: "prompt.submit" },
      ...{ PreToolUse: "tool.start", PostToolUse: "tool.end" },
    },
    session: ["session_id"],
    call: [],
  },
  goose: {
    types: {
      ...{ SessionStart: "session.start", SessionEnd: "session.end", UserPromptSubmit: "prompt.submit" },
      ...{ PreToolUse: "tool.start", PostToolUse: "tool.end", PostToolUseFailure: "tool.end error" },
      // Only of a refused call, which has no other end
      PreToolUseResult: "tool.end error",
    },
    session: ["session_id"],
    call: ["tool_call_id"],
  },
  grok: {
    types: {
      ...{ SessionStart: "session.start", SessionEnd: "session.end", UserPromptSubmit: "prompt.submit" },
      ...{ PreToolUse: "tool.start", PostToolUse: "tool.end", PostToolUseFailure: "tool.end error" },
    },
    session: ["session_id"],
    call: ["tool_use_id"],
  },
  kimi: {
    types: {
      ...{ SessionStart: "session.start", SessionEnd: "session.end", UserPromptSubmit: "prompt.submit" },
      ...{ PreToolUse: "tool.start", PostToolUse: "tool.end success", PostToolUseFailure: "tool.end error" },
    },
    session: ["session_id"],
    call: ["tool_call_id"],
  },
  openhands: {
    types: {
      ...{ SessionStart: "session.start", SessionEnd: "session.end", UserPromptSubmit: "prompt.submit" },
      ...{ PreToolUse: "tool.start", PostToolUse: "tool.end" },
    },
    session: ["session_id"],
    call: [],
  },
  pi: {
    types: {
      ...{ session_start: "session.start", session_shutdown: "session.end", message_end: "prompt.submit" },
      ...{ tool_execution_start: "tool.start", tool_execution_end: "tool.end", tool_result: "tool.end" },
    },
    session: ["context.session_id"],
    call: ["event.toolCallId"],
  },
  vibe: {
    types: { pre_tool: "tool.start", post_tool: "tool.end" },
    session: ["session_id"],
    call: ["tool_call_id"],
  },
  "qwen-code": {
    types: {
      ...{ SessionStart: "session.start", SessionEnd: "session.end", UserPromptSubmit: "prompt.submit" },
      ...{ PreToolUse: "tool.start", PostToolUse: "tool.end success", PostToolUseFailure: "tool.end error" },
    },
    session: ["session_id"],
    // Not `tool_use_id`, which only hooks have
    call: ["tool_call_id"],
  },
};
// Kilo Code is OpenCode's code under another name
const factsOf = (source: string): Facts => TABLE[source === "kilo" ? "opencode" : source] as Facts;

const vectors = (await readKit(join(ROOT, "conformance"))).filter(({ kind }) => kind === "convert");
const found = (payload: Payload, paths: readonly string[]): readonly unknown[] =>
  paths.map((path) => path.split(".").reduce<unknown>((at, name) => (at as Payload | undefined)?.[name], payload));

test.each(vectors.map((one) => [one.name, one] as const))("%s", (_, { stdin, source = "", event = "", expected }) => {
  const { types, session, call } = factsOf(source);
  const payload = JSON.parse(stdin) as Payload;
  const envelopes = expected as readonly (Payload & { readonly data?: Payload })[];
  const [type, status] = types[event]?.split(" ") ?? [];
  expect(envelopes.map((one) => one["type"])).toEqual(type === undefined ? [] : [type]);
  for (const one of envelopes) {
    expect(one["source"]).toBe(source);
    expect(found(payload, session)).toContain(one["session_id"]);
    const id = one.data?.["tool_call_id"];
    if (id !== undefined) expect(found(payload, call)).toContain(id);
    const callId = found(payload, call).find((value) => value !== undefined);
    if (type?.startsWith("tool.") === true && callId !== undefined) expect(id).toBe(callId);
    if (status !== undefined) expect(one.data?.["status"]).toBe(status);
  }
});
