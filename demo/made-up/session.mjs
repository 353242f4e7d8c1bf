import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Writes a made-up session of Claude Code in its transcript format, with subagents two levels deep and failures, and
 * the one hook call that ends it: the program does the rest.
 *
 * @param {string} home
 * @param {{ spans: number, sessionId?: string, cwd?: string, startMs?: number, stepMs?: number, seed?: number,
 *   branch?: string, prompt?: string, more?: readonly string[],
 *   commands?: readonly { command: string, output: (timeMs: number) => string }[] }} options `spans`: about how many;
 *   `more`: prompts after the first, in turn; `commands`: run at the end
 * @returns {{ sessionId: string, hook: string, transcript: string, endMs: number }} `hook`: the payload of its SessionEnd
 */
export function writeLongSession(
  home,
  {
    spans,
    sessionId = "10000000-5eed-4000-8000-00000000aaaa",
    cwd = "/home/dev/acme-shop",
    startMs = Date.UTC(2026, 10, 20, 8),
    stepMs = 250,
    seed = 42,
    branch = "main",
    prompt = "next, please",
    more = [prompt],
    commands = [],
  },
) {
  const folder = join(home, ".claude", "projects", cwd.replaceAll(/[/.]/g, "-"));
  mkdirSync(join(folder, sessionId, "subagents"), { recursive: true });
  const random = randomFrom(seed);
  let atMs = startMs;
  let left = spans - 1;
  let ids = 0;
  // Sessions with the same ids would be copies of one another
  const next = (prefix) => `${prefix}${(seed * 1_000_000 + ++ids).toString(16).padStart(22, "0")}`;
  const time = (step = stepMs) => {
    atMs += Math.round(step * (0.1 + random() * random() * 6));
    return new Date(atMs).toISOString();
  };

  /** One file: the main thread's, or a subagent's. */
  const thread = (agentId, promptId) => {
    const lines = [];
    const put = (line) =>
      lines.push(
        JSON.stringify({
          uuid: next("uuid-"),
          ...line,
          timestamp: line.timestamp ?? time(),
          ...(agentId !== undefined && { isSidechain: true, agentId }),
          ...(promptId !== undefined && { promptId }),
          cwd,
          sessionId,
          version: "2.1.329",
          gitBranch: branch,
        }),
      );
    return { lines, put, cached: 0, calledMs: 0 };
  };

  /** An answer reads what its thread has left in the cache, if that is still there, and writes the rest of its prompt to it. */
  const answer = (thread, model, stopReason) => {
    const isFirst = thread.cached === 0;
    const isExpired = !isFirst && atMs - thread.calledMs > CACHE_MS;
    // The longer a prompt is, the more of it is left out
    const grown = Math.floor(random() * 6000 * (1 - thread.cached / MAX_PROMPT));
    const instructions = Math.floor(12_000 + random() * 4000);
    const read = isFirst || isExpired ? 0 : thread.cached;
    const written = (isFirst ? instructions : grown) + (isExpired ? thread.cached : 0);
    thread.cached = read + written;
    thread.calledMs = atMs;
    return {
      id: next("msg_"),
      type: "message",
      role: "assistant",
      model,
      stop_reason: stopReason,
      usage: {
        input_tokens: 20 + Math.floor(random() * 900),
        cache_creation_input_tokens: written,
        cache_read_input_tokens: read,
        cache_creation: { ephemeral_5m_input_tokens: written, ephemeral_1h_input_tokens: 0 },
        output_tokens: 40 + Math.floor(random() * 1800),
      },
    };
  };

  const work = (of, model, depth, promptId, most) => {
    const { put } = of;
    for (let step = 0; step < most && left > 0; step++) {
      const isLast = step === most - 1 || left < 3;
      const wanted = isLast ? 0 : 1 + Math.floor(random() * 3);
      const calls = Array.from({ length: Math.min(wanted, left - 1) }, () => ({
        id: next("toolu_"),
        ...(depth < 2 && random() < 0.03 ? { name: "Agent", input: {} } : pick(random, TOOLS)),
      }));
      left -= 1 + calls.length;
      const message = answer(of, model, calls.length > 0 ? "tool_use" : "end_turn");
      const blocks = [{ type: "text", text: "ok" }, ...calls.map((call) => ({ type: "tool_use", ...call }))];
      const requestId = next("req_");
      for (const block of blocks) put({ type: "assistant", requestId, message: { ...message, content: [block] } });
      for (const { id, name } of calls) {
        if (name === "Agent") runSubagent(id, depth + 1, promptId);
        const failed = random() < (name.startsWith("mcp__") ? 0.25 : 0.05);
        put({
          type: "user",
          message: {
            role: "user",
            content: [{ tool_use_id: id, type: "tool_result", content: "…", is_error: failed }],
          },
          ...(failed && { toolUseResult: "Error: it did not work" }),
        });
      }
    }
  };
  const runSubagent = (toolUseId, depth, promptId) => {
    const agentId = next("a");
    const agentType = pick(random, AGENT_TYPES);
    const own = thread(agentId, promptId);
    left--;
    own.put({ type: "user", message: { role: "user", content: "part" } });
    work(own, SUBAGENT_MODEL, depth, promptId, 3 + Math.floor(random() * 12));
    const path = join(folder, sessionId, "subagents", `agent-${agentId}`);
    writeFileSync(`${path}.jsonl`, own.lines.map((line) => `${line}\n`).join(""));
    writeFileSync(`${path}.meta.json`, JSON.stringify({ agentType, toolUseId, spawnDepth: depth, finished: true }));
  };

  const main = thread(undefined, undefined);
  let turns = 0;
  while (left > 0) {
    const promptId = next("prompt-");
    left--;
    // The user is away once in a while
    if (random() < 0.1) atMs += 20 * 60_000;
    main.put({
      type: "user",
      promptId,
      origin: { kind: "human" },
      promptSource: "typed",
      message: { role: "user", content: turns === 0 ? prompt : more[(turns - 1) % more.length] },
    });
    turns++;
    work(main, MODEL, 0, promptId, 4 + Math.floor(random() * 30));
  }
  for (const { command, output } of commands) {
    const call = { type: "tool_use", id: next("toolu_"), name: "Bash", input: { command } };
    main.put({
      type: "assistant",
      requestId: next("req_"),
      message: { ...answer(main, MODEL, "tool_use"), content: [call] },
    });
    const stdout = output(atMs);
    const result = { tool_use_id: call.id, type: "tool_result", content: stdout, is_error: false };
    main.put({
      type: "user",
      message: { role: "user", content: [result] },
      toolUseResult: { stdout, stderr: "", interrupted: false },
    });
  }
  const transcript = join(folder, `${sessionId}.jsonl`);
  writeFileSync(transcript, main.lines.map((line) => `${line}\n`).join(""));
  const hook = JSON.stringify({
    session_id: sessionId,
    transcript_path: transcript,
    cwd,
    hook_event_name: "SessionEnd",
    reason: "prompt_input_exit",
  });
  return { sessionId, hook, transcript, endMs: atMs };
}

/** How long a prompt stays in the provider's cache. */
const CACHE_MS = 300_000;
const MAX_PROMPT = 180_000;
const MODEL = "claude-sonnet-4-5-20250929";
const SUBAGENT_MODEL = "claude-haiku-4-5-20251001";
const AGENT_TYPES = ["general-purpose", "code-reviewer", "explore"];
const TOOLS = [
  { name: "Bash", input: { command: "npm test" } },
  { name: "Bash", input: { command: "git status" } },
  { name: "Read", input: { file_path: "/home/dev/acme-shop/src/cart.ts" } },
  { name: "Edit", input: { file_path: "/home/dev/acme-shop/src/cart.ts", old_string: "a", new_string: "b" } },
  { name: "Grep", input: { pattern: "total" } },
  { name: "mcp__tracker__find_issue", input: { id: "7" } },
];

const pick = (random, list) => list[Math.floor(random() * list.length)];

/** The same numbers in every run. */
function randomFrom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
