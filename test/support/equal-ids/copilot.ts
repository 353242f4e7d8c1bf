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
  T,
} from "./timeline.ts";
import { type TimedLine, writeLines } from "./write.ts";

const MAIN = "11b62392-3ea1-4c98-870f-2b59d2627af5";
const AGENTS = { a: "6ea661e4-f04e-4f55-8598-cd51343be567", b: "bdb14462-5f4c-4e4c-bde6-e89d81dc0c9b" };
const TOOLS = { spawn: "task", read: "view", shell: "bash" };
const CALLS = [...MAIN_CALLS, ...CALLS_OF.a, ...CALLS_OF.b];
const argsOf = ({ tool, agent, spawned }: MadeCall) =>
  tool === "spawn" ? { prompt: `Task ${spawned}` } : { path: `${tool} of ${agent}` };

/** Copilot writes all agents' calls to one file; its hooks have no call id. */
export function copilot(home: string): MadeSession {
  const path = join(home, ".copilot", "session-state", MAIN, "events.jsonl");
  return {
    hooks: hooks(path),
    writeUntil: (ms) => writeLines([path], lines(), ms),
    agents: AGENTS,
    tools: TOOLS,
    hooksLack: { what: ["id", "parent"], reason: "payloads have no call id" },
  };
}

function lines(): readonly TimedLine[] {
  const line = (agent: MadeCall["agent"], ms: number, type: string, data: Readonly<Record<string, unknown>>) => ({
    ms,
    line: {
      type,
      data,
      ...(agent !== undefined && { agentId: AGENTS[agent] }),
      id: `${type}-${agent ?? "main"}-${ms}`,
      timestamp: iso(ms),
    },
  });
  const answer = (agent: MadeCall["agent"], ms: number) =>
    line(agent, ms, "assistant.message", {
      messageId: `m-${ms}`,
      model: "gpt-5-mini",
      content: "x",
      outputTokens: 10,
      turnId: "0",
    });
  return [
    line(undefined, T, "session.start", {
      sessionId: MAIN,
      copilotVersion: "1.0.102",
      context: { cwd: "/home/dev/acme-shop" },
    }),
    line(undefined, T + 10, "user.message", { content: "Sell apples" }),
    ...CALLS.flatMap((call) => {
      const ids = { toolCallId: call.id, turnId: "0", model: "gpt-5-mini" };
      return [
        answer(call.agent, call.startMs - 5),
        line(call.agent, call.startMs, "tool.execution_start", {
          ...ids,
          toolName: TOOLS[call.tool],
          arguments: argsOf(call),
        }),
        line(call.agent, call.endMs, "tool.execution_complete", {
          ...ids,
          success: !call.failed,
          ...(call.failed && { error: { code: "failure", message: "no such file" } }),
        }),
        ...(call.spawned === undefined
          ? []
          : [
              line(call.spawned, RUN_OF[call.spawned][0], "subagent.started", {
                toolCallId: call.id,
                agentName: "helper",
              }),
              line(call.spawned, RUN_OF[call.spawned][1], "subagent.completed", {
                toolCallId: call.id,
                agentName: "helper",
              }),
            ]),
      ];
    }),
    answer("a", RUN_OF.a[1] - 5),
    answer("b", RUN_OF.b[1] - 5),
    answer(undefined, T + 800),
    line(undefined, T + 803, "assistant.turn_end", { turnId: "0" }),
    line(undefined, ENDS_MS - 5, "session.shutdown", { shutdownType: "routine" }),
  ].sort((a, b) => a.ms - b.ms);
}

function hooks(path: string) {
  const of = (agent: MadeCall["agent"], ms: number, event: string, more: Readonly<Record<string, unknown>> = {}) =>
    hookAt(ms, event, {
      sessionId: agent === undefined ? MAIN : AGENTS[agent],
      timestamp: ms,
      cwd: "/home/dev/acme-shop",
      ...(agent !== undefined && { agentId: AGENTS[agent], agentType: "helper", parentAgentId: MAIN }),
      ...more,
    });
  const spawn = (agent: keyof typeof AGENTS, ms: number, event: string) =>
    of(agent, ms, event, { sessionId: MAIN, transcriptPath: path, agentName: "helper" });
  return inOrder([
    of(undefined, T, "sessionStart", { source: "new" }),
    of(undefined, T + 10, "userPromptSubmitted", { prompt: "Sell apples" }),
    ...CALLS.flatMap((call) => {
      const given = { toolName: TOOLS[call.tool], toolArgs: argsOf(call) };
      const resultType = call.failed ? "failure" : "success";
      return [
        of(call.agent, call.startMs, "preToolUse", given),
        of(call.agent, call.endMs, "postToolUse", { ...given, toolResult: { resultType, textResultForLlm: "x" } }),
      ];
    }),
    ...SUBAGENTS.flatMap((agent) => [
      spawn(agent, RUN_OF[agent][0], "subagentStart"),
      spawn(agent, RUN_OF[agent][1], "subagentStop"),
    ]),
    of(undefined, T + 805, "agentStop", { transcriptPath: path }),
    of(undefined, ENDS_MS, "sessionEnd", { reason: "complete" }),
  ]);
}
