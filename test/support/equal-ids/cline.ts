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
  T,
} from "./timeline.ts";
import { writeDocument } from "./write.ts";

const MAIN = "1795240800000_acme1";
const LEAD = "agent_1795240800001_lead01";
const AGENTS = { a: "agent_1795240800200_aaaaaa", b: "agent_1795240800210_bbbbbb" };
const TOOLS = { spawn: "spawn_agent", read: "read_files", shell: "run_commands" };
const inputOf = ({ tool, agent, spawned }: MadeCall) =>
  tool === "spawn"
    ? { task: `Task ${spawned}` }
    : tool === "read"
      ? { files: [{ path: `${agent}.ts` }] }
      : { commands: ["true"] };

/** Cline rewrites one file per agent; hooks name the agent and its parent. */
export const cline = (home: string): MadeSession => ({
  hooks: hooks(),
  writeUntil: (ms) => {
    const folder = [home, ".cline", "data", "sessions", MAIN];
    writeDocument(
      [...folder, `${MAIN}.messages.json`],
      messages("main", T + 10, "Sell apples", MAIN_CALLS, T + 800),
      ms,
    );
    for (const agent of SUBAGENTS) {
      const made = messages(agent, RUN_OF[agent][0], `Task ${agent}`, CALLS_OF[agent], RUN_OF[agent][1] - 5);
      writeDocument([...folder, `${AGENTS[agent]}.messages.json`], made, ms);
    }
  },
  agents: AGENTS,
  tools: TOOLS,
  hooksLack: { what: ["parent"], reason: "a subagent's payloads name the agent above it, not its call" },
});

function messages(of: string, startMs: number, text: string, calls: readonly MadeCall[], endMs: number) {
  const answer = (id: string, ts: number, content: readonly unknown[]) => ({
    id: `msg_${of}_${id}`,
    role: "assistant",
    content,
    ts,
    modelInfo: { id: "acme-coder-1", provider: "openai-compatible" },
    metrics: { inputTokens: 100, outputTokens: 10, cacheReadTokens: 0, cacheWriteTokens: 0 },
  });
  const use = (call: MadeCall) => ({ type: "tool_use", id: call.id, name: TOOLS[call.tool], input: inputOf(call) });
  const result = (call: MadeCall) => ({
    id: `msg_${of}_result_${call.id}`,
    role: "user",
    content: [{ type: "tool_result", tool_use_id: call.id, is_error: call.failed, content: "x" }],
    ts: call.endMs + 2,
  });
  const isParallel = of === "main";
  const steps = isParallel
    ? [answer("uses", T + 90, calls.map(use)), ...calls.map(result)]
    : calls.flatMap((call) => [answer(call.id, call.startMs - 5, [use(call)]), result(call)]);
  const first = { id: `msg_${of}_first`, role: "user", content: [{ type: "text", text }], ts: startMs };
  return [first, ...steps, answer("last", endMs, [{ type: "text", text: "Done" }])].map((line) => ({
    ms: line.ts,
    line,
  }));
}

function hooks() {
  const of = (agent: MadeCall["agent"], ms: number, hookName: string, more: Readonly<Record<string, unknown>> = {}) =>
    hookAt(ms, hookName, {
      clineVersion: "3.0.65",
      timestamp: iso(ms),
      taskId: `conv_${agent ?? "main"}`,
      sessionContext: { rootSessionId: MAIN },
      workspaceRoots: ["/home/dev/acme-shop"],
      agent_id: agent === undefined ? LEAD : AGENTS[agent],
      parent_agent_id: agent === undefined ? null : LEAD,
      hookName,
      ...more,
    });
  return inOrder([
    of(undefined, T, "agent_start"),
    of(undefined, T + 10, "prompt_submit", { userPromptSubmit: { prompt: "Sell apples" } }),
    ...[...MAIN_CALLS, ...CALLS_OF.a, ...CALLS_OF.b].flatMap((call) => {
      const given = { id: call.id, name: TOOLS[call.tool], input: inputOf(call) };
      const result = { ...given, output: "x", ...(call.failed && { error: "no such file" }), endedAt: iso(call.endMs) };
      return [
        of(call.agent, call.startMs, "tool_call", { tool_call: given }),
        of(call.agent, call.endMs, "tool_result", { tool_result: result }),
      ];
    }),
    ...SUBAGENTS.flatMap((agent) => [
      of(agent, RUN_OF[agent][0], "agent_start"),
      of(agent, RUN_OF[agent][1], "agent_end"),
    ]),
    of(undefined, ENDS_MS, "agent_end"),
  ]);
}
