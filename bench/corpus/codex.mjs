// node bench/corpus/codex.mjs DIRECTORY [--mb N] [--seed N]
// Writes session files in the format of Codex 0.169.0 and 0.110.0 to DIRECTORY/sessions/YYYY/MM/DD and their totals to
// DIRECTORY/totals.json. Like real ones they have a record per request with running totals (the old version has only the totals,
// each twice); instructions and snapshots that are most of the bytes; subagents' threads in separate files.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { corpusArguments } from "./arguments.mjs";
import { lineFile } from "./line-file.mjs";
import { randomOf } from "./random.mjs";

const VERSIONS = { new: "0.169.0", old: "0.110.0" };
const MODELS = ["gpt-5.5", "gpt-5.5", "gpt-5.2-codex"];
/** Share of sessions of the old version. */
const OLD = 0.25;
/** Share of answers that start a subagent. */
const DELEGATED = 0.02;
const FAILED = 0.08;
const LONG_OUTPUTS = 0.1;
const INSTRUCTIONS_CHARACTERS = 20_000;

/**
 * @param {object} options
 * @param {string} options.directory created if missing; existing files stay
 * @param {number} options.bytes stops after the session that exceeds it
 * @param {number} [options.seed]
 * @returns totals; `input` includes cache reads, `output` includes reasoning
 */
export function makeCodexCorpus({ directory, bytes, seed = 7 }) {
  const random = randomOf(seed);
  const totals = { sessions: 0, turns: 0, subagents: 0, ...emptySums(), files: 0, lines: 0, bytes: 0 };
  const write = (thread) => {
    const file = lineFile(placeOf(directory, thread), totals);
    for (const line of thread.lines) file.put(line);
    file.close();
    addTo(totals, thread.sums);
  };
  let startMs = Date.parse("2026-09-01T08:00:00Z");
  while (totals.bytes < bytes) {
    const thread = new Thread(random, {
      startMs,
      isOld: random.isIn(OLD),
      cwd: `/home/dev/shop-${totals.sessions % 12}`,
    });
    for (let turns = random.integer(3, 12); turns > 0; turns--) {
      thread.turn({ steps: random.integer(2, 14) });
      totals.turns++;
    }
    write(thread);
    for (const subagent of thread.subagents) write(subagent);
    totals.sessions++;
    totals.subagents += thread.subagents.length;
    // Some sessions overlap
    startMs += Math.round((thread.timeMs - startMs) * (0.2 + random.share()));
  }
  writeFileSync(join(directory, "totals.json"), `${JSON.stringify(totals, null, 2)}\n`);
  return totals;
}

// --- internal ---

const SUMS = ["responses", "tool_calls", "tool_errors", "input", "output", "cache_read", "reasoning"];
const emptySums = () => Object.fromEntries(SUMS.map((name) => [name, 0]));

function addTo(totals, sums) {
  for (const name of SUMS) totals[name] += sums[name];
}

function placeOf(directory, { startMs, threadId }) {
  const time = new Date(startMs).toISOString().slice(0, 19);
  const folder = join(directory, "sessions", ...time.slice(0, 10).split("-"));
  mkdirSync(folder, { recursive: true });
  return join(folder, `rollout-${time.replaceAll(":", "-")}-${threadId}.jsonl`);
}

const ZERO = {
  input_tokens: 0,
  cached_input_tokens: 0,
  cache_write_input_tokens: 0,
  output_tokens: 0,
  reasoning_output_tokens: 0,
  total_tokens: 0,
};
const plus = (a, b) => Object.fromEntries(Object.keys(ZERO).map((name) => [name, a[name] + b[name]]));

/** One file: the main thread of a session, or a subagent's. */
class Thread {
  #random;
  #isOld;
  #cwd;
  #parent;
  #model;
  #used = ZERO;
  #turnUsed = ZERO;
  #last = ZERO;
  #turnId;
  #rootTurnId;
  lines = [];
  subagents = [];
  sums = emptySums();

  constructor(random, { startMs, isOld, cwd, parent }) {
    this.#random = random;
    this.#isOld = isOld;
    this.#cwd = cwd;
    this.#parent = parent;
    this.#model = parent?.model ?? random.pick(MODELS);
    this.startMs = startMs;
    this.timeMs = startMs;
    this.threadId = random.uuidAt(startMs);
    this.rootId = parent?.rootId ?? this.threadId;
    this.#meta();
  }

  turn({ steps }) {
    const random = this.#random;
    this.#tick();
    this.#turnId = random.uuidAt(this.timeMs);
    this.#rootTurnId = this.#parent?.turnId ?? this.#turnId;
    this.#turnUsed = ZERO;
    const startMs = this.timeMs;
    const turn = { turn_id: this.#turnId, ...(!this.#isOld && { root_turn_id: this.#rootTurnId }) };
    this.#event({ type: "task_started", ...turn, started_at: seconds(startMs), model_context_window: 258_400 });
    this.#instructions();
    this.#put("turn_context", {
      ...turn,
      cwd: this.#cwd,
      approval_policy: "never",
      model: this.#model,
      summary: "auto",
      sandbox_policy: { type: "danger-full-access" },
    });
    this.#prompt();
    for (let step = 1; step < steps; step++) this.#step();
    const text = random.text(random.integer(20, 600));
    this.#message(text);
    this.#count();
    this.#event({ type: "task_complete", ...turn, last_agent_message: text, duration_ms: this.timeMs - startMs });
  }

  // --- internal ---

  #tick(ms = this.#random.integer(200, 4_000)) {
    this.timeMs += ms;
  }

  /** At least a second, because some readers treat usage in the same second as a copy. */
  #think() {
    this.#tick(this.#random.integer(1_200, 6_000));
  }

  #put(type, payload) {
    const timestamp = new Date(this.timeMs).toISOString();
    const ordinal = this.#isOld ? {} : { ordinal: this.lines.length };
    this.lines.push(JSON.stringify({ timestamp, ...ordinal, type, payload }));
  }

  #event(payload) {
    this.#put("event_msg", payload);
  }

  #item(payload) {
    const passed = this.#isOld ? {} : { internal_chat_message_metadata_passthrough: { turn_id: this.#turnId } };
    this.#put("response_item", { ...payload, ...passed });
  }

  #meta() {
    const parentId = this.#parent?.threadId;
    const spawned = {
      thread_spawn: { parent_thread_id: parentId, depth: 1, agent_path: "/root/helper", agent_role: null },
    };
    const isChild = parentId !== undefined;
    this.#put("session_meta", {
      ...(!this.#isOld && { session_id: this.rootId }),
      id: this.threadId,
      ...(isChild && { parent_thread_id: parentId }),
      timestamp: new Date(this.timeMs).toISOString(),
      cwd: this.#cwd,
      originator: "codex_cli_rs",
      cli_version: this.#isOld ? VERSIONS.old : VERSIONS.new,
      source: isChild ? { subagent: spawned } : "cli",
      model_provider: "openai",
      base_instructions: { text: this.#random.text(INSTRUCTIONS_CHARACTERS) },
      git: { commit_hash: this.#random.hex(40), branch: "main" },
    });
  }

  #instructions() {
    const content = [{ type: "input_text", text: this.#random.text(this.#random.integer(500, 5_000)) }];
    this.#item({ type: "message", role: "developer", content });
    if (this.#isOld) return;
    const host = { body: this.#random.text(this.#random.integer(500, 4_000)), includeInstructions: true };
    this.#put("world_state", { full: true, state: { model: this.#model, host_skills: host } });
  }

  #prompt() {
    const text = this.#random.text(this.#random.integer(20, 400));
    if (this.#parent !== undefined) {
      this.#item({ type: "agent_message", author: "/root", content: [{ type: "input_text", text }] });
      return;
    }
    this.#item({ type: "message", role: "user", content: [{ type: "input_text", text }] });
    if (this.#isOld) this.#event({ type: "user_message", message: text, images: [] });
    else
      this.#completed({ type: "UserMessage", id: this.#random.uuidAt(this.timeMs), content: [{ type: "text", text }] });
  }

  /** An answer that calls tools, and the tools' results. */
  #step() {
    const random = this.#random;
    this.#think();
    this.#item({
      type: "reasoning",
      summary: [{ type: "summary_text", text: random.text(random.integer(20, 200)) }],
      content: null,
      encrypted_content: random.hex(random.integer(200, 2_000)),
    });
    const isDelegating = !this.#isOld && this.#parent === undefined && random.isIn(DELEGATED);
    const calls = Array.from({ length: random.integer(1, 3) }, (_, n) => ({
      callId: random.id("call_"),
      command: `git ${random.text(random.integer(10, 300))}`,
      isDelegation: isDelegating && n === 0,
    }));
    for (const { callId, command, isDelegation } of calls) {
      const call = isDelegation
        ? { name: "spawn_agent", namespace: "collaboration", arguments: JSON.stringify({ task_name: "helper" }) }
        : { name: "exec_command", arguments: JSON.stringify({ cmd: command }) };
      this.#item({ type: "function_call", ...call, call_id: callId });
    }
    this.#use();
    for (const call of calls) this.#run(call);
    this.#count();
    this.sums.tool_calls += calls.length;
  }

  #run({ callId, command, isDelegation }) {
    const random = this.#random;
    this.#tick();
    if (isDelegation) {
      const parent = { threadId: this.threadId, rootId: this.rootId, turnId: this.#turnId, model: this.#model };
      const child = new Thread(random, { startMs: this.timeMs, isOld: false, cwd: this.#cwd, parent });
      child.turn({ steps: random.integer(2, 8) });
      this.subagents.push(child);
      this.#completed({ type: "SubAgentActivity", id: callId, kind: "started", agent_thread_id: child.threadId });
      this.timeMs = child.timeMs + 100;
      this.#item({ type: "function_call_output", call_id: callId, output: '{"task_name":"/root/helper"}' });
      return;
    }
    const isError = random.isIn(FAILED);
    const text = random.text(random.integer(50, random.isIn(LONG_OUTPUTS) ? 40_000 : 4_000));
    const code = isError ? 1 : 0;
    if (!this.#isOld) {
      this.#completed({
        type: "CommandExecution",
        id: callId,
        command: ["/bin/bash", "-lc", command],
        cwd: `file://${this.#cwd}`,
        status: isError ? "failed" : "completed",
        aggregated_output: text,
        exit_code: code,
        duration: { secs: 0, nanos: random.integer(1, 999_999_999) },
      });
    }
    const output = `Chunk ID: ${random.hex(6)}\nWall time: 0.0512 seconds\nProcess exited with code ${code}\nOutput:\n${text}`;
    this.#item({ type: "function_call_output", call_id: callId, output });
    if (isError) this.sums.tool_errors++;
  }

  #message(text) {
    this.#think();
    this.#item({ type: "message", role: "assistant", content: [{ type: "output_text", text }] });
    if (this.#isOld) this.#event({ type: "agent_message", message: text });
    else this.#completed({ type: "AgentMessage", id: this.#random.id("msg_"), content: [{ type: "Text", text }] });
    this.#use();
  }

  #completed(item) {
    const at = { started_at_ms: this.timeMs, completed_at_ms: this.timeMs };
    this.#event({ type: "item_completed", thread_id: this.threadId, turn_id: this.#turnId, item, ...at });
  }

  /** The answer is complete. */
  #use() {
    const random = this.#random;
    const input = random.integer(500, 180_000);
    const output = random.integer(10, 3_000);
    const usage = {
      ...ZERO,
      input_tokens: input,
      cached_input_tokens: random.integer(0, input),
      output_tokens: output,
      reasoning_output_tokens: random.integer(0, output),
      total_tokens: input + output,
    };
    this.#last = usage;
    this.#used = plus(this.#used, usage);
    this.#turnUsed = plus(this.#turnUsed, usage);
    this.sums.responses++;
    this.sums.input += input;
    this.sums.output += output;
    this.sums.cache_read += usage.cached_input_tokens;
    this.sums.reasoning += usage.reasoning_output_tokens;
    if (this.#isOld) return;
    this.#put("token_usage_record", {
      thread_id: this.threadId,
      turn_id: this.#turnId,
      session_id: this.rootId,
      root_turn_id: this.#rootTurnId,
      response_id: `resp_${random.hex(24)}`,
      usage,
      turn_token_usage: this.#turnUsed,
      thread_token_usage: this.#used,
    });
  }

  /** The totals so far. The old version writes them before and after the tools, the new one after them. */
  #count() {
    const info = { total_token_usage: this.#used, last_token_usage: this.#last, model_context_window: 258_400 };
    const rate_limits = { limit_id: "codex", primary: null, secondary: null, credits: null };
    for (let times = this.#isOld ? 2 : 1; times > 0; times--) this.#event({ type: "token_count", info, rate_limits });
  }
}

const seconds = (ms) => Math.floor(ms / 1000);

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(makeCodexCorpus(corpusArguments()));
