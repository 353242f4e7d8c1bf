import { join } from "node:path";
import {
  CALLS_OF,
  ENDS_MS,
  hookAt,
  inOrder,
  iso,
  MAIN_CALLS,
  type MadeCall,
  type MadeSession,
  RUN_OF,
  SUBAGENTS,
  type Subagent,
  T,
} from "./timeline.ts";
import { type TimedLine, write, writeLines } from "./write.ts";

const MAIN = "71de0fc1-55ee-46fa-b6e2-8795ac47573a";
const AGENTS = { a: "general-purpose-call_1", b: "general-purpose-call_2" };
const TOOLS = { spawn: "agent", read: "read_file", shell: "run_shell_command" };
const argsOf = ({ tool, agent, spawned }: MadeCall) =>
  tool === "spawn" ? { subagent_type: "general-purpose", prompt: `Task ${spawned}` } : { what: `${tool} of ${agent}` };

/** Qwen Code writes a file per agent; usage and ends of all agents' calls are in the main one. */
export function qwenCode(home: string): MadeSession {
  const project = [home, ".qwen", "projects", "-home-dev-acme-shop"];
  const main = join(...project, "chats", `${MAIN}.jsonl`);
  return {
    hooks: hooks(main),
    writeUntil: (ms) => {
      writeLines([main], mainLines(), ms);
      for (const agent of SUBAGENTS) {
        const folder = [...project, "subagents", MAIN];
        const [call] = MAIN_CALLS.filter(({ spawned }) => spawned === agent);
        writeLines([...folder, `agent-${AGENTS[agent]}.jsonl`], subagentLines(agent), ms);
        if (ms < RUN_OF[agent][0]) continue;
        const meta = { agentId: AGENTS[agent], agentType: "general-purpose", toolUseId: call?.id, parentAgentId: null };
        write([...folder, `agent-${AGENTS[agent]}.meta.json`], JSON.stringify(meta));
      }
    },
    agents: AGENTS,
    tools: TOOLS,
  };
}

const lineAt = (ms: number, name: string, line: Readonly<Record<string, unknown>>): TimedLine => ({
  ms,
  line: { uuid: `line-${name}-${ms}`, sessionId: MAIN, timestamp: iso(ms), version: "0.24.4", ...line },
});
const telemetry = (ms: number, name: string, uiEvent: Readonly<Record<string, unknown>>): TimedLine =>
  lineAt(ms, name, { type: "system", subtype: "ui_telemetry", systemPayload: { uiEvent } });
const promptIdOf = (agent: Subagent | undefined): string =>
  agent === undefined ? `${MAIN}########0` : `${MAIN}#${AGENTS[agent]}#0`;

const answered = (ms: number, name: string, agent?: Subagent): TimedLine =>
  telemetry(ms, name, {
    "event.name": "qwen-code.api_response",
    "event.timestamp": iso(ms),
    response_id: `chatcmpl-of-answer-0123456789abcdef-${name}`,
    model: "qwen3-coder-plus",
    input_token_count: 100,
    output_token_count: 10,
    total_token_count: 110,
    prompt_id: promptIdOf(agent),
    ...(agent !== undefined && { subagent_id: AGENTS[agent] }),
  });
const ended = (call: MadeCall): TimedLine =>
  telemetry(call.endMs + 1, `end-${call.agent}-${call.id}`, {
    "event.name": "qwen-code.tool_call",
    call_id: call.id,
    function_name: TOOLS[call.tool],
    duration_ms: call.endMs - call.startMs,
    status: call.failed ? "error" : "success",
    prompt_id: promptIdOf(call.agent),
  });
const asked = (ms: number, name: string, calls: readonly MadeCall[]): TimedLine => {
  const parts = calls.map((call) => ({ functionCall: { id: call.id, name: TOOLS[call.tool], args: argsOf(call) } }));
  return lineAt(ms, name, { type: "assistant", message: { role: "model", parts } });
};
const resultOf = (call: MadeCall): TimedLine => {
  const response = call.failed ? { error: "no such file" } : { output: "x" };
  const parts = [{ functionResponse: { id: call.id, name: TOOLS[call.tool], response } }];
  // A subagent's file has no status
  const toolCallResult = { callId: call.id, ...(call.agent === undefined && { status: "success" }) };
  return lineAt(call.endMs + 2, `result-${call.id}`, { type: "tool_result", message: { parts }, toolCallResult });
};
const prompted = (ms: number, name: string): TimedLine =>
  lineAt(ms, name, { type: "user", message: { role: "user", parts: [{ text: "Sell apples" }] } });

const mainLines = (): readonly TimedLine[] =>
  [
    prompted(T + 10, "prompt"),
    answered(T + 90, "first"),
    asked(T + 91, "asked", MAIN_CALLS),
    ...SUBAGENTS.flatMap((agent) => [
      ...CALLS_OF[agent].map((call, at) => answered(call.startMs - 5, `${agent}${at}`, agent)),
      ...CALLS_OF[agent].map(ended),
      answered(RUN_OF[agent][1] - 5, `${agent}-last`, agent),
    ]),
    ...MAIN_CALLS.flatMap((call) => [ended(call), resultOf(call)]),
    answered(T + 795, "last"),
  ].toSorted((a, b) => a.ms - b.ms);

const subagentLines = (agent: Subagent): readonly TimedLine[] => [
  prompted(RUN_OF[agent][0], agent),
  ...CALLS_OF[agent].flatMap((call) => [asked(call.startMs - 4, `${agent}-${call.id}`, [call]), resultOf(call)]),
];

function hooks(path: string) {
  const of = (ms: number, event: string, more: Readonly<Record<string, unknown>> = {}) =>
    hookAt(ms, event, {
      session_id: MAIN,
      transcript_path: path,
      cwd: "/home/dev/acme-shop",
      hook_event_name: event,
      timestamp: iso(ms),
      ...more,
    });
  return inOrder([
    of(T, "SessionStart", { source: "startup" }),
    of(T + 9, "UserPromptSubmit", { prompt: "Sell apples", submitted_prompt: "Sell apples" }),
    ...[...MAIN_CALLS, ...CALLS_OF.a, ...CALLS_OF.b].flatMap((call) => {
      const given = {
        tool_name: TOOLS[call.tool],
        tool_input: argsOf(call),
        tool_use_id: `toolu_${call.startMs}_x${call.agent}`,
        tool_call_id: call.id,
        ...(call.agent !== undefined && { agent_id: AGENTS[call.agent] }),
      };
      return [
        of(call.startMs, "PreToolUse", given),
        call.failed
          ? of(call.endMs, "PostToolUseFailure", { ...given, error: "no such file" })
          : of(call.endMs, "PostToolUse", { ...given, tool_response: { llmContent: "x" } }),
      ];
    }),
    ...SUBAGENTS.flatMap((agent) => [
      of(RUN_OF[agent][0], "SubagentStart", { agent_id: AGENTS[agent], agent_type: "general-purpose" }),
      of(RUN_OF[agent][1], "SubagentStop", { agent_id: AGENTS[agent], agent_type: "general-purpose" }),
    ]),
    of(T + 805, "Stop", { last_assistant_message: "Done" }),
    of(ENDS_MS, "SessionEnd", { reason: "prompt_input_exit" }),
  ]);
}
