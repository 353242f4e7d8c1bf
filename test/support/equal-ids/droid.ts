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
import { type TimedLine, writeLines } from "./write.ts";

const MAIN = "71de0fc1-55ee-46fa-b6e2-8795ac47573a";
const AGENTS = { a: "22f0f852-f9bb-4c91-bcd6-9cd56e9134a4", b: "33f0f852-f9bb-4c91-bcd6-9cd56e9134a4" };
const TOOLS = { spawn: "Task", read: "Read", shell: "Execute" };
const CWD = "/home/dev/acme-shop";
/** The same for all agents: only the agent and the time of the hooks distinguish equal calls. */
const argsOf = ({ tool }: MadeCall) => ({ what: tool });
const callsOf = (agent: Subagent | undefined): readonly MadeCall[] =>
  agent === undefined ? MAIN_CALLS : CALLS_OF[agent];
const sessionOf = (agent: Subagent | undefined): string => (agent === undefined ? MAIN : AGENTS[agent]);
/** An id that no other call has: Droid's own ids are unique, those of the timeline are not. */
const callIdOf = ({ id, agent }: MadeCall): string => `${id}#${sessionOf(agent)}`;

/** Factory Droid: a subagent is a separate session; hooks have no call ids, and failed calls no end. */
export function droid(home: string): MadeSession {
  const folder = join(home, ".factory", "sessions", "-home-dev-acme-shop");
  const pathOf = (agent: Subagent | undefined) => join(folder, `${sessionOf(agent)}.jsonl`);
  return {
    hooks: inOrder([undefined, ...SUBAGENTS].flatMap((agent) => hooks(agent, pathOf(agent)))),
    writeUntil: (ms) => {
      for (const agent of [undefined, ...SUBAGENTS]) writeLines([pathOf(agent)], lines(agent), ms);
    },
    agents: AGENTS,
    tools: TOOLS,
    hooksLack: { what: ["id", "failure"], reason: "payloads have no call id, and failed calls have no end" },
  };
}

const timesOf = (agent: Subagent | undefined) => (agent === undefined ? ([T + 10, T + 800] as const) : RUN_OF[agent]);
const parentOf = (agent: Subagent): MadeCall | undefined => MAIN_CALLS.find(({ spawned }) => spawned === agent);
const resultOf = (call: MadeCall): string =>
  call.spawned === undefined ? "x" : `session_id: ${AGENTS[call.spawned]}\n\nDone`;

function lines(agent: Subagent | undefined): readonly TimedLine[] {
  const [startMs, endMs] = timesOf(agent);
  const id = sessionOf(agent);
  const parent = agent === undefined ? undefined : parentOf(agent);
  const start = {
    type: "session_start",
    id,
    version: 2,
    cwd: CWD,
    ...(parent && { callingSessionId: MAIN, callingToolUseId: callIdOf(parent) }),
  };
  const message = (ms: number, name: string, body: object, atMs = ms): TimedLine => ({
    ms,
    line: { type: "message", id: `${id}-${name}`, timestamp: iso(atMs), message: body },
  });
  const task = agent === undefined ? "Sell apples" : "# Task Tool Invocation\n\nSubagent type: worker\n\nGo";
  const hookRun = (call: MadeCall, ms: number, event: string): TimedLine =>
    message(ms + 1, `${event}-${call.id}`, {
      role: "user",
      content: [],
      visibility: "user_only",
      hookEventName: event,
      hookToolCallId: callIdOf(call),
      hookStartTime: ms - 1,
      hookEndTime: ms + 1,
    });
  const answers = agent === undefined ? [callsOf(agent)] : callsOf(agent).map((call) => [call]);
  return [
    { ms: startMs, line: start },
    message(startMs, "prompt", { role: "user", content: [{ type: "text", text: task }] }),
    ...answers.flatMap((calls, at) => [
      message(Math.min(...calls.map((call) => call.startMs)) - 5, `uses${at}`, {
        role: "assistant",
        modelId: "custom:acme-0",
        content: calls.map((call) => ({
          type: "tool_use",
          id: callIdOf(call),
          name: TOOLS[call.tool],
          input: argsOf(call),
        })),
      }),
      ...calls.flatMap((call) => [
        hookRun(call, call.startMs, "PreToolUse"),
        ...(call.failed ? [] : [hookRun(call, call.endMs, "PostToolUse")]),
      ]),
      message(Math.max(...calls.map((call) => call.endMs)) + 3, `results${at}`, {
        role: "user",
        content: calls.map((call) => ({
          type: "tool_result",
          tool_use_id: callIdOf(call),
          is_error: call.failed,
          content: resultOf(call),
        })),
      }),
    ]),
    message(endMs - 5, "last", {
      role: "assistant",
      modelId: "custom:acme-0",
      content: [{ type: "text", text: "Done" }],
    }),
    { ms: endMs, line: { type: "agent_turn_outcome", turnId: `${id}-prompt`, reason: "completed" } },
  ].sort((one, other) => one.ms - other.ms);
}

function hooks(agent: Subagent | undefined, path: string) {
  const [startMs, endMs] = timesOf(agent);
  const of = (ms: number, event: string, more: object = {}) =>
    hookAt(ms, event, {
      session_id: sessionOf(agent),
      transcript_path: path,
      cwd: CWD,
      permission_mode: "auto-high",
      hook_event_name: event,
      ...more,
    });
  return [
    of(startMs - 5, "SessionStart", { source: "startup", ...(agent !== undefined && { calling_session_id: MAIN }) }),
    ...(agent === undefined
      ? [of(startMs, "UserPromptSubmit", { prompt: "Sell apples", message_id: `${MAIN}-prompt` })]
      : []),
    ...callsOf(agent).flatMap((call) => {
      const given = { tool_name: TOOLS[call.tool], tool_input: argsOf(call) };
      return [
        of(call.startMs, "PreToolUse", given),
        ...(call.failed ? [] : [of(call.endMs, "PostToolUse", { ...given, tool_response: resultOf(call) })]),
      ];
    }),
    of(endMs - 4, "Stop", { message_id: `${sessionOf(agent)}-last`, elapsed_time: 1, tool_execution_count: 0 }),
    of(agent === undefined ? ENDS_MS : endMs, "SessionEnd", { reason: "other" }),
  ];
}
