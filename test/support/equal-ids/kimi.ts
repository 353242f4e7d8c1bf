import { join } from "node:path";
import {
  CALLS_OF,
  ENDS_MS,
  hookAt,
  inOrder,
  MAIN_CALLS,
  type MadeCall,
  type MadeSession,
  RUN_OF,
  SUBAGENTS,
  type Subagent,
  T,
} from "./timeline.ts";
import { type TimedLine, writeLines } from "./write.ts";

const SESSION = "session_71de0fc1-55ee-46fa-b6e2-8795ac47573a";
const AGENTS = { a: "agent-0", b: "agent-1" };
const TOOLS = { spawn: "Agent", read: "Read", shell: "Bash" };
const argsOf = ({ tool, agent, spawned }: MadeCall) =>
  tool === "spawn" ? { description: `Task ${spawned}`, prompt: "Go" } : { path: `${tool} of ${agent}` };

/** Kimi Code writes a file per agent; its hooks name no agent. */
export function kimi(home: string): MadeSession {
  const agents = join(home, ".kimi-code", "sessions", "wd_acme-shop_56039c3cf848", SESSION, "agents");
  return {
    hooks: hooks(),
    writeUntil: (ms) => {
      writeLines([agents, "main", "wire.jsonl"], lines(undefined, T + 10, [MAIN_CALLS], T + 800), ms);
      for (const agent of SUBAGENTS) {
        const [startMs, endMs] = RUN_OF[agent];
        const steps = CALLS_OF[agent].map((call) => [call]);
        writeLines([agents, AGENTS[agent], "wire.jsonl"], lines(agent, startMs, steps, endMs), ms);
      }
    },
    agents: AGENTS,
    tools: TOOLS,
    hooksLack: { what: ["parent", "agent"], reason: "payloads of a subagent look like the main agent's" },
  };
}

function lines(
  agent: Subagent | undefined,
  startMs: number,
  steps: readonly (readonly MadeCall[])[],
  endMs: number,
): readonly TimedLine[] {
  const agentId = agent === undefined ? "main" : AGENTS[agent];
  const at = (ms: number, type: string, more: Readonly<Record<string, unknown>>): TimedLine => ({
    ms,
    line: { type, agentId, ...more, time: ms },
  });
  const loop = (ms: number, event: Readonly<Record<string, unknown>>): TimedLine =>
    at(ms, "context.append_loop_event", { event });
  const usage = { inputOther: 100, output: 10, inputCacheRead: 0, inputCacheCreation: 0 };
  const answered = (ms: number, uuid: string): readonly TimedLine[] => [
    loop(ms, { type: "step.begin", uuid }),
    at(ms, "llm.request", { kind: "loop", model: "kimi-k2", modelAlias: "kimi-k2" }),
    at(ms, "usage.record", { model: "kimi-k2", usage, usageScope: "turn" }),
  ];
  const spawnedBy = (call: MadeCall): readonly TimedLine[] =>
    call.spawned === undefined
      ? []
      : [
          at(RUN_OF[call.spawned][0], "subagent.spawned", {
            subagentId: AGENTS[call.spawned],
            subagentName: "coder",
            parentToolCallId: call.id,
            parentAgentId: "main",
          }),
        ];
  const origin = agent === undefined ? { kind: "user" } : { kind: "system_trigger", name: "subagent" };
  return [
    at(startMs, "turn.prompt", { input: [{ type: "text", text: "Sell apples" }], origin, promptId: `msg_${agentId}` }),
    ...steps.flatMap((calls, step) => {
      const ms = Math.min(...calls.map((call) => call.startMs)) - 5;
      const uuid = `step-${step}-of-${agentId}`;
      return [
        ...answered(ms, uuid),
        ...calls.map((call) =>
          loop(call.startMs + 1, {
            type: "tool.call",
            uuid: `${uuid}-${call.id}`,
            toolCallId: call.id,
            name: TOOLS[call.tool],
            args: argsOf(call),
          }),
        ),
        ...calls.flatMap(spawnedBy),
        ...calls.map((call) =>
          loop(call.endMs + 1, {
            type: "tool.result",
            toolCallId: call.id,
            result: { output: "x", ...(call.failed && { isError: true }), durationMs: 3 },
          }),
        ),
        loop(Math.max(...calls.map((call) => call.endMs)) + 2, { type: "step.end", uuid, finishReason: "tool_use" }),
      ];
    }),
    ...answered(endMs - 5, `last-of-${agentId}`),
    loop(endMs - 4, { type: "step.end", uuid: `last-of-${agentId}`, finishReason: "end_turn" }),
    at(endMs, "turn.ended", { turnId: 0, reason: "completed", durationMs: endMs - startMs }),
  ];
}

function hooks() {
  const of = (ms: number, event: string, more: Readonly<Record<string, unknown>> = {}) =>
    hookAt(ms, event, {
      hook_event_name: event,
      session_id: SESSION,
      cwd: "/home/dev/acme-shop",
      client_type: "kimi_code_cli",
      ...more,
    });
  return inOrder([
    of(T, "SessionStart", { source: "startup", model: "kimi-k2" }),
    of(T + 9, "UserPromptSubmit", { prompt: [{ type: "text", text: "Sell apples" }], is_steer: false }),
    ...[...MAIN_CALLS, ...CALLS_OF.a, ...CALLS_OF.b].flatMap((call) => {
      const given = { tool_name: TOOLS[call.tool], tool_input: argsOf(call), tool_call_id: call.id };
      return [
        of(call.startMs, "PreToolUse", given),
        call.failed
          ? of(call.endMs, "PostToolUseFailure", { ...given, error: { code: "internal", message: "no such file" } })
          : of(call.endMs, "PostToolUse", { ...given, tool_output: "x" }),
      ];
    }),
    ...SUBAGENTS.flatMap((agent) => [
      of(RUN_OF[agent][1] + 1, "Stop", { stop_hook_active: false }),
      of(RUN_OF[agent][1] + 3, "SubagentStop", { agent_name: "coder", response: "Done" }),
    ]),
    of(T + 805, "Stop", { stop_hook_active: false }),
    of(ENDS_MS, "SessionEnd", { reason: "exit" }),
  ]);
}
