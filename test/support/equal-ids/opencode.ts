import { Made } from "../../agents/opencode/made.ts";
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
  T,
} from "./timeline.ts";

const MAIN = "ses_e0350000000000AcmeShop";
const AGENTS = { a: "ses_e0350000000001AcmeShop", b: "ses_e0350000000002AcmeShop" };
const TOOLS = { spawn: "task", read: "read", shell: "bash" };
const sessionOf = ({ agent }: Pick<MadeCall, "agent">): string => (agent === undefined ? MAIN : AGENTS[agent]);

/** OpenCode writes a database; a subagent is a session with a parent. */
export function opencode(home: string): MadeSession {
  const db = new Made(home);
  const ops: { readonly ms: number; readonly run: () => void }[] = [];
  const at = (ms: number, run: () => void) => ops.push({ ms, run });
  const answer = (sessionId: string, parent: () => string, ms: number, endMs: number, calls: readonly MadeCall[]) => {
    const id = db.id("msg", ms);
    const tokens = { input: 100, output: 10, reasoning: 0, cache: { read: 0, write: 0 } };
    const info = () => ({ role: "assistant", parentID: parent(), modelID: "acme-coder-1", providerID: "acme" });
    at(ms, () => {
      db.message(sessionId, ms, info(), id);
      db.part(sessionId, id, ms + 1, { type: "step-start" });
    });
    for (const call of calls) {
      const part = db.id("prt", call.startMs);
      const write = (state: Readonly<Record<string, unknown>>) =>
        db.part(sessionId, id, call.startMs, { type: "tool", tool: TOOLS[call.tool], callID: call.id, state }, part);
      const metadata = call.spawned === undefined ? {} : { sessionId: AGENTS[call.spawned] };
      at(call.startMs, () => write({ status: "running", input: {}, time: { start: call.startMs } }));
      if (call.spawned !== undefined) {
        at(RUN_OF[call.spawned][0], () =>
          write({ status: "running", input: {}, metadata, time: { start: call.startMs } }),
        );
      }
      const time = { start: call.startMs, end: call.endMs };
      const status = call.failed ? { status: "error", error: "no such file" } : { status: "completed" };
      at(call.endMs, () => write({ ...status, input: {}, metadata, time }));
    }
    const finish = calls.length === 0 ? "stop" : "tool-calls";
    at(endMs, () => db.message(sessionId, ms, { ...info(), finish, tokens, time: { completed: endMs } }, id));
  };
  let prompt = "";
  at(T, () => db.session(MAIN, T));
  at(T + 10, () => {
    prompt = db.prompt(MAIN, T + 10);
  });
  answer(MAIN, () => prompt, T + 90, T + 740, MAIN_CALLS);
  answer(MAIN, () => prompt, T + 780, T + 800, []);
  for (const agent of SUBAGENTS) {
    const [startMs, endMs] = RUN_OF[agent];
    let task = "";
    at(startMs, () => {
      db.session(AGENTS[agent], startMs, MAIN);
      task = db.prompt(AGENTS[agent], startMs);
    });
    for (const call of CALLS_OF[agent]) {
      answer(AGENTS[agent], () => task, call.startMs - 20, call.endMs + 5, [call]);
    }
    answer(AGENTS[agent], () => task, endMs - 20, endMs, []);
  }
  ops.sort((x, y) => x.ms - y.ms);
  return {
    hooks: hooks(),
    writeUntil: (ms) => {
      while (ops[0] !== undefined && ops[0].ms <= ms) ops.shift()?.run();
    },
    agents: AGENTS,
    tools: TOOLS,
    close: () => db.db.close(),
  };
}

function hooks() {
  const bus = (ms: number, type: string, sessionID: string, more: Readonly<Record<string, unknown>> = {}) =>
    hookAt(ms, `event:${type}`, {
      input: { event: { id: `evt_${ms}_${sessionID}`, type, properties: { sessionID, ...more } } },
      output: null,
      plugin: { at: ms, ...(sessionID !== MAIN && { parentID: MAIN }) },
    });
  const info = (id: string, created: number, parentID?: string) => ({
    info: { id, parentID, directory: "/home/dev/acme-shop", version: "1.18.33", time: { created }, agent: "explore" },
  });
  const halves = (call: MadeCall) => {
    const sessionID = sessionOf(call);
    const plugin = { at: call.startMs, ...(call.agent !== undefined && { parentID: MAIN }) };
    const input = { tool: TOOLS[call.tool], sessionID, callID: call.id };
    const metadata = call.spawned === undefined ? {} : { sessionId: AGENTS[call.spawned] };
    const part = {
      id: `prt_${call.startMs}`,
      type: "tool",
      tool: TOOLS[call.tool],
      callID: call.id,
      state: { status: "error", error: "no such file", time: { start: call.startMs, end: call.endMs } },
    };
    return [
      hookAt(call.startMs, "tool.execute.before", { input, output: { args: {} }, plugin }),
      call.failed
        ? bus(call.endMs, "message.part.updated", sessionID, { part })
        : hookAt(call.endMs, "tool.execute.after", {
            input: { ...input, args: {} },
            output: { isError: false, metadata },
            plugin: { ...plugin, at: call.endMs },
          }),
    ];
  };
  return inOrder([
    bus(T, "session.created", MAIN, info(MAIN, T)),
    hookAt(T + 10, "chat.message", {
      input: { sessionID: MAIN },
      output: {
        message: { id: "msg_prompt", role: "user", sessionID: MAIN, time: { created: T + 10 } },
        parts: [{ type: "text", text: "Sell apples" }],
      },
      plugin: { at: T + 10 },
    }),
    ...[...MAIN_CALLS, ...CALLS_OF.a, ...CALLS_OF.b].flatMap(halves),
    ...SUBAGENTS.flatMap((agent) => [
      bus(RUN_OF[agent][0], "session.created", AGENTS[agent], info(AGENTS[agent], RUN_OF[agent][0], MAIN)),
      bus(RUN_OF[agent][1], "session.idle", AGENTS[agent]),
    ]),
    bus(T + 805, "session.idle", MAIN),
    hookAt(ENDS_MS, "dispose", { input: { sessionID: MAIN }, output: null, plugin: { at: ENDS_MS } }),
  ]);
}
