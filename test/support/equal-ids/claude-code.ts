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

const MAIN = "1989bcb3-7aa5-4b16-b591-43dca3a46730";
const PROMPT = "9b640831-642c-407c-b64b-c3931d934f95";
const AGENTS = { a: "a673d14fe4f34d7f7", b: "b673d14fe4f34d7f7" };
const TOOLS = { spawn: "Agent", read: "Read", shell: "Bash" };

/** Claude Code writes a file per agent, and beside it a file that names the call that started the agent. */
export function claudeCode(home: string): MadeSession {
  const folder = [home, ".claude", "projects", "-home-dev-acme-shop"];
  const main = join(...folder, `${MAIN}.jsonl`);
  return {
    hooks: hooks(main),
    writeUntil: (ms) => {
      writeLines([main], lines(undefined, T + 10, [MAIN_CALLS], T + 800), ms);
      for (const agent of SUBAGENTS) {
        const [startMs, endMs] = RUN_OF[agent];
        const calls = CALLS_OF[agent].map((call) => [call]);
        const path = [...folder, MAIN, "subagents", `agent-${AGENTS[agent]}`];
        const file = join(...path);
        writeLines([`${file}.jsonl`], lines(agent, startMs, calls, endMs - 5), ms);
        const toolUseId = MAIN_CALLS.find(({ spawned }) => spawned === agent)?.id;
        writeLines([`${file}.meta.json`], [{ ms: startMs, line: { agentType: "general-purpose", toolUseId } }], ms);
      }
    },
    agents: AGENTS,
    tools: TOOLS,
  };
}

function lines(agent: MadeCall["agent"], startMs: number, answers: readonly (readonly MadeCall[])[], endMs: number) {
  const made: TimedLine[] = [];
  const add = (ms: number, type: string, message: Readonly<Record<string, unknown>>, more = {}) =>
    made.push({
      ms,
      line: {
        type,
        uuid: `${agent ?? "main"}-${made.length}`,
        parentUuid: made.length === 0 ? null : `${agent ?? "main"}-${made.length - 1}`,
        isSidechain: agent !== undefined,
        ...(agent !== undefined && { agentId: AGENTS[agent] }),
        promptId: PROMPT,
        sessionId: MAIN,
        timestamp: iso(ms),
        cwd: "/home/dev/acme-shop",
        version: "2.1.329",
        message,
        ...more,
      },
    });
  const answer = (ms: number, content: readonly unknown[], stop: string) => {
    const id = `msg_${agent ?? "main"}${made.length}`;
    const usage = { input_tokens: 100, output_tokens: 10 };
    const message = { id, role: "assistant", model: "acme-coder-1", content, usage, stop_reason: stop };
    add(ms, "assistant", message, { requestId: `req_${id}` });
  };
  add(startMs, "user", { role: "user", content: "Sell apples" });
  for (const calls of answers) {
    const uses = calls.map(({ id, tool }) => ({ type: "tool_use", id, name: TOOLS[tool], input: {} }));
    answer(Math.min(...calls.map((call) => call.startMs)) - 5, uses, "tool_use");
    for (const call of calls) {
      const result = { type: "tool_result", tool_use_id: call.id, is_error: call.failed, content: "x" };
      const spawned = call.spawned === undefined ? {} : { toolUseResult: { agentId: AGENTS[call.spawned] } };
      add(call.endMs + 2, "user", { role: "user", content: [result] }, spawned);
    }
  }
  answer(endMs, [{ type: "text", text: "Done" }], "end_turn");
  return made;
}

function hooks(path: string) {
  const of = (agent: MadeCall["agent"], ms: number, event: string, more: Readonly<Record<string, unknown>> = {}) =>
    hookAt(ms, event, {
      session_id: MAIN,
      transcript_path: path,
      cwd: "/home/dev/acme-shop",
      hook_event_name: event,
      ...(event !== "SessionStart" && { prompt_id: PROMPT }),
      ...(agent !== undefined && { agent_id: AGENTS[agent], agent_type: "general-purpose" }),
      ...more,
    });
  return inOrder([
    of(undefined, T, "SessionStart", { source: "startup" }),
    of(undefined, T + 10, "UserPromptSubmit", { prompt: "Sell apples" }),
    ...[...MAIN_CALLS, ...CALLS_OF.a, ...CALLS_OF.b].flatMap((call) => {
      const given = { tool_name: TOOLS[call.tool], tool_input: {}, tool_use_id: call.id };
      const response = call.spawned === undefined ? {} : { agentId: AGENTS[call.spawned] };
      return [
        of(call.agent, call.startMs, "PreToolUse", given),
        call.failed
          ? of(call.agent, call.endMs, "PostToolUseFailure", { ...given, error: "no such file" })
          : of(call.agent, call.endMs, "PostToolUse", { ...given, tool_response: response }),
      ];
    }),
    ...SUBAGENTS.flatMap((agent) => [
      of(agent, RUN_OF[agent][0], "SubagentStart"),
      of(agent, RUN_OF[agent][1], "SubagentStop"),
    ]),
    of(undefined, T + 805, "Stop"),
    of(undefined, ENDS_MS, "SessionEnd", { reason: "other" }),
  ]);
}
