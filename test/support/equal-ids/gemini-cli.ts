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

const MAIN = "71de0fc1-55ee-46fa-b6e2-8795ac47573a";
const AGENTS = { a: "22f0f852-f9bb-4c91-bcd6-9cd56e9134a4", b: "33f0f852-f9bb-4c91-bcd6-9cd56e9134a4" };
const TOOLS = { spawn: "invoke_agent", read: "read_file", shell: "run_shell_command" };
const argsOf = ({ tool, agent, spawned }: MadeCall) =>
  tool === "spawn" ? { agent_name: "helper", prompt: `Task ${spawned}` } : { what: `${tool} of ${agent}` };

/** Gemini CLI writes a file per agent; its hooks have no call id and name no agent. */
export function geminiCli(home: string): MadeSession {
  const chats = [home, ".gemini", "tmp", "acme-shop", "chats"];
  const main = join(...chats, `session-2026-11-21T09-00-${MAIN.slice(0, 8)}.jsonl`);
  return {
    hooks: hooks(main),
    writeUntil: (ms) => {
      writeLines([main], lines(MAIN, "main", T + 10, [MAIN_CALLS], T + 800), ms);
      for (const agent of SUBAGENTS) {
        const [startMs, endMs] = RUN_OF[agent];
        const calls = CALLS_OF[agent].map((call) => [call]);
        writeLines(
          [...chats, MAIN, `${AGENTS[agent]}.jsonl`],
          lines(AGENTS[agent], "subagent", startMs, calls, endMs),
          ms,
        );
      }
    },
    agents: AGENTS,
    tools: TOOLS,
    hooksLack: {
      what: ["id", "parent", "agent"],
      reason: "payloads have no call id, and those of a subagent look like the main agent's",
    },
  };
}

function lines(
  id: string,
  kind: "main" | "subagent",
  startMs: number,
  answers: readonly (readonly MadeCall[])[],
  endMs: number,
): readonly TimedLine[] {
  const head = { sessionId: id, projectHash: "2273", startTime: iso(startMs), lastUpdated: iso(startMs), kind };
  const answer = (name: string, ms: number, writtenMs: number, toolCalls: readonly unknown[]): TimedLine => ({
    ms: writtenMs,
    line: {
      id: `${id.slice(0, 2)}-${name}`,
      timestamp: iso(ms),
      type: "gemini",
      content: toolCalls.length === 0 ? "Done" : "",
      tokens: { input: 100, output: 10, cached: 0, thoughts: 0, tool: 0, total: 110 },
      model: "gemini-2.5-pro",
      ...(toolCalls.length > 0 && { toolCalls }),
    },
  });
  const callOf = (call: MadeCall) => ({
    id: call.id,
    name: TOOLS[call.tool],
    args: argsOf(call),
    status: call.failed ? "error" : "success",
    timestamp: iso(call.endMs),
    result: [
      { functionResponse: { id: call.id, response: call.failed ? { error: "no such file" } : { output: "x" } } },
    ],
    ...(call.spawned !== undefined && { agentId: AGENTS[call.spawned] }),
  });
  const first = {
    id: `${id.slice(0, 2)}-first`,
    timestamp: iso(startMs),
    type: "user",
    content: [{ text: "Sell apples" }],
  };
  return [
    { ms: startMs, line: head },
    { ms: startMs, line: first },
    ...answers.map((calls, at) => {
      const [ms, doneMs] = [Math.min(...calls.map((c) => c.startMs)) - 5, Math.max(...calls.map((c) => c.endMs)) + 2];
      return answer(`uses${at}`, ms, doneMs, calls.map(callOf));
    }),
    answer("last", endMs - 5, endMs - 5, []),
  ];
}

function hooks(path: string) {
  const of = (ms: number, event: string, more: Readonly<Record<string, unknown>> = {}) => ({
    ...hookAt(ms, event, {
      session_id: MAIN,
      transcript_path: path,
      cwd: "/home/dev/acme-shop",
      hook_event_name: event,
      timestamp: iso(ms),
      ...more,
    }),
    env: { GEMINI_SESSION_ID: MAIN },
  });
  return inOrder([
    of(T, "SessionStart", { source: "startup" }),
    of(T + 10, "BeforeAgent", { prompt: "Sell apples" }),
    ...[...MAIN_CALLS, ...CALLS_OF.a, ...CALLS_OF.b].flatMap((call) => {
      const given = { tool_name: TOOLS[call.tool], tool_input: argsOf(call) };
      const response = call.failed ? { llmContent: "x", error: { message: "no such file" } } : { llmContent: "x" };
      return [
        of(call.startMs, "BeforeTool", given),
        of(call.endMs, "AfterTool", { ...given, tool_response: response }),
      ];
    }),
    of(T + 805, "AfterAgent", { prompt: "Sell apples", prompt_response: "Done" }),
    of(ENDS_MS, "SessionEnd", { reason: "exit" }),
  ]);
}
