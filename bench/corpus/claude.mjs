// node bench/corpus/claude.mjs DIRECTORY [--mb N] [--seed N]
// Writes transcripts in the format of Claude Code 2.1.329 to DIRECTORY/projects and their totals to DIRECTORY/totals.json.
// Like real ones they have a line per content block, each with the usage of the whole answer; output counts that grow from
// line to line; parallel calls; subagents in separate files; sessions that start with a copy of another session's lines.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { corpusArguments } from "./arguments.mjs";
import { lineFile } from "./line-file.mjs";
import { randomOf } from "./random.mjs";

const VERSION = "2.1.329";
const MODELS = ["claude-sonnet-4-5-20250929", "claude-opus-4-1-20250805", "claude-haiku-4-5-20251001"];
const PROJECTS = 12;
/** Share of sessions that start with the lines of the previous one. */
const FORKED = 0.05;
/** Share of answers that start a subagent. */
const DELEGATED = 0.02;
const FAILED = 0.08;
const LONG_RESULTS = 0.1;

/**
 * @param {object} options
 * @param {string} options.directory created if missing; existing files stay
 * @param {number} options.bytes stops after the session that exceeds it
 * @param {number} [options.seed]
 * @returns totals: each answer once, with its last output count, without copies
 */
export function makeClaudeCorpus({ directory, bytes, seed = 7 }) {
  const random = randomOf(seed);
  const totals = emptyTotals();
  let startMs = Date.parse("2026-09-01T08:00:00Z");
  let before;
  for (let n = 0; totals.bytes < bytes; n++) {
    const project = n % PROJECTS;
    const folder = join(directory, "projects", `-home-dev-shop-${project}`);
    mkdirSync(folder, { recursive: true });
    const session = new ClaudeSession(random, { cwd: `/home/dev/shop-${project}`, startMs });
    const main = lineFile(join(folder, `${session.sessionId}.jsonl`), totals);
    const copied = before !== undefined && random.isIn(FORKED) ? before : [];
    for (const line of copied) main.put(session.copyOf(line));
    totals.copied_lines += copied.length;
    const lines = [];
    for (let turns = random.integer(3, 12); turns > 0; turns--) {
      const turn = session.turn({ steps: random.integer(2, 14), canDelegate: true });
      for (const line of turn.lines) main.put(line);
      lines.push(...turn.lines);
      for (const agent of turn.subagents) {
        const below = join(folder, session.sessionId, "subagents");
        mkdirSync(below, { recursive: true });
        const file = lineFile(join(below, `agent-${agent.agentId}.jsonl`), totals);
        for (const line of agent.lines) file.put(line);
        file.close();
        writeFileSync(join(below, `agent-${agent.agentId}.meta.json`), JSON.stringify(agent.meta));
        addTo(totals, agent.sums);
        totals.subagents++;
      }
      addTo(totals, turn.sums);
      totals.turns++;
    }
    main.close();
    totals.sessions++;
    before = lines;
    // Some sessions overlap
    startMs += Math.round((session.timeMs - startMs) * (0.2 + random.share()));
  }
  writeFileSync(join(directory, "totals.json"), `${JSON.stringify(totals, null, 2)}\n`);
  return totals;
}

/** One session, generated turn by turn, with its own clock. */
export class ClaudeSession {
  #random;
  #cwd;
  #parent = null;
  /** Time of its last line. */
  timeMs;

  constructor(random, { cwd, startMs, sessionId = random.uuid() }) {
    this.#random = random;
    this.#cwd = cwd;
    this.sessionId = sessionId;
    this.timeMs = startMs;
  }

  /**
   * @param {object} options
   * @param {number} options.steps answers of the model; all but the last call tools
   * @param {number} [options.toolsPerStep] @default one to three
   * @param {number} [options.stepMs] between two lines @default 0.2 to 9 seconds
   * @param {number} [options.resultCharacters] of a tool's result @default up to 4,000, some up to 40,000
   * @param {boolean} [options.canDelegate] whether it may start subagents
   * @returns its lines without line ends, the tool calls in them, and their sums
   */
  turn(options) {
    const random = this.#random;
    const promptId = random.uuid();
    const prompt = random.text(random.integer(20, 400));
    const at = this.#clock(options);
    const lines = [
      this.#line({ promptId, type: "user", message: { role: "user", content: prompt }, ...PROMPT_FIELDS }, at()),
    ];
    const promptMs = this.timeMs;
    const sums = emptySums();
    const calls = [];
    const subagents = [];
    const model = random.pick(MODELS);
    for (let step = 1; step <= options.steps; step++) {
      const isLast = step === options.steps;
      const tools = isLast ? 0 : (options.toolsPerStep ?? random.integer(1, 3));
      const answer = this.#answer({ model, tools, at, isDelegating: options.canDelegate && random.isIn(DELEGATED) });
      lines.push(...answer.lines);
      addTo(sums, answer.sums);
      for (const call of answer.calls) {
        const ran = this.#run(call, promptId, at, options);
        lines.push(ran.line);
        calls.push({ ...call, ...ran.outcome });
        if (ran.outcome.isError) sums.tool_errors++;
        if (ran.subagent !== undefined) subagents.push(ran.subagent);
      }
    }
    return { lines, promptId, prompt, promptMs, endMs: this.timeMs, calls, subagents, sums };
  }

  /** Another session's lines, as a fork copies them to the start of its own file. */
  copyOf(line) {
    return line.replace(/"sessionId":"[^"]*"/, `"sessionId":"${this.sessionId}"`);
  }

  // --- internal ---

  #clock({ stepMs }) {
    return () => {
      this.timeMs += stepMs ?? this.#random.integer(200, 9_000);
      return this.timeMs;
    };
  }

  #line(fields, ms, agentId) {
    const parentUuid = this.#parent;
    this.#parent = this.#random.uuid();
    return JSON.stringify({
      parentUuid,
      isSidechain: agentId !== undefined,
      ...(agentId !== undefined && { agentId }),
      ...fields,
      uuid: this.#parent,
      timestamp: new Date(ms).toISOString(),
      userType: "external",
      entrypoint: "cli",
      cwd: this.#cwd,
      sessionId: this.sessionId,
      version: VERSION,
      gitBranch: "main",
    });
  }

  #answer({ model, tools, at, isDelegating = false, agentId }) {
    const random = this.#random;
    const [id, requestId] = [random.id("msg_01"), random.id("req_01")];
    const written = random.integer(0, 6_000);
    const output = random.integer(10, 3_000);
    const usage = {
      input_tokens: random.integer(1, 900),
      cache_creation_input_tokens: written,
      cache_read_input_tokens: random.integer(0, 150_000),
      output_tokens: output,
      service_tier: "standard",
      cache_creation: { ephemeral_5m_input_tokens: written, ephemeral_1h_input_tokens: 0 },
    };
    const calls = Array.from({ length: tools }, (_, n) => callOf(random, isDelegating && n === 0));
    const blocks = [
      { type: "text", text: random.text(random.integer(20, 600)) },
      ...calls.map(({ callId, name, input }) => ({ type: "tool_use", id: callId, name, input })),
    ];
    const lines = blocks.map((block, n) => {
      const isLast = n === blocks.length - 1;
      const message = {
        id,
        type: "message",
        role: "assistant",
        model,
        content: [block],
        stop_reason: tools > 0 ? "tool_use" : "end_turn",
        stop_sequence: null,
        // The count so far: only the last line has all of it
        usage: { ...usage, output_tokens: isLast ? output : Math.min(output, 1 + n) },
      };
      return this.#line({ message, requestId, type: "assistant" }, at(), agentId);
    });
    const sums = {
      ...emptySums(),
      responses: 1,
      tool_calls: tools,
      input: usage.input_tokens,
      output,
      cache_read: usage.cache_read_input_tokens,
      cache_creation: written,
    };
    return { lines, calls, sums };
  }

  #run(call, promptId, at, { resultCharacters, stepMs }) {
    const random = this.#random;
    const startMs = this.timeMs;
    const subagent = call.name === "Agent" ? this.#subagent(call, promptId, stepMs) : undefined;
    const isError = subagent === undefined && random.isIn(FAILED);
    const characters = resultCharacters ?? random.integer(50, random.isIn(LONG_RESULTS) ? 40_000 : 4_000);
    const text = `${isError ? "Exit code 1\n" : ""}${random.text(characters)}`;
    const content = [{ tool_use_id: call.callId, type: "tool_result", content: text, is_error: isError }];
    const toolUseResult =
      subagent !== undefined
        ? { status: "completed", agentId: subagent.agentId, agentType: "general-purpose" }
        : isError
          ? `Error: ${text}`
          : { stdout: text, stderr: "", interrupted: false };
    const line = this.#line({ promptId, type: "user", message: { role: "user", content }, toolUseResult }, at());
    return { line, subagent, outcome: { isError, text, startMs, endMs: this.timeMs } };
  }

  /** Its lines are in a separate file and link to each other only. */
  #subagent({ callId }, promptId, stepMs) {
    const random = this.#random;
    const agentId = `a${random.hex(16)}`;
    const main = this.#parent;
    this.#parent = null;
    const at = this.#clock({ stepMs });
    const task = { promptId, type: "user", message: { role: "user", content: random.text(random.integer(50, 400)) } };
    const lines = [this.#line(task, at(), agentId)];
    const sums = emptySums();
    const steps = random.integer(2, 8);
    for (let step = 1; step <= steps; step++) {
      const answer = this.#answer({ model: MODELS[2], tools: step === steps ? 0 : 1, at, agentId });
      lines.push(...answer.lines);
      addTo(sums, answer.sums);
      for (const call of answer.calls) {
        const content = [
          { tool_use_id: call.callId, type: "tool_result", content: random.text(random.integer(50, 4_000)) },
        ];
        lines.push(this.#line({ promptId, type: "user", message: { role: "user", content } }, at(), agentId));
      }
    }
    this.#parent = main;
    return { agentId, lines, sums, meta: { agentType: "general-purpose", toolUseId: callId } };
  }
}

// --- internal ---

const PROMPT_FIELDS = { permissionMode: "default", promptSource: "user", turnOrigin: "user" };

const SUMS = ["responses", "tool_calls", "tool_errors", "input", "output", "cache_read", "cache_creation"];
const emptySums = () => Object.fromEntries(SUMS.map((name) => [name, 0]));
const emptyTotals = () => ({
  sessions: 0,
  turns: 0,
  subagents: 0,
  ...emptySums(),
  files: 0,
  lines: 0,
  copied_lines: 0,
  bytes: 0,
});

function addTo(totals, sums) {
  for (const name of SUMS) totals[name] += sums[name];
}

function callOf(random, isDelegating) {
  const callId = random.id("toolu_01");
  if (isDelegating) {
    const input = { description: "Look it up", prompt: random.text(200), subagent_type: "general-purpose" };
    return { callId, name: "Agent", input };
  }
  const name = random.pick(["Bash", "Read", "Edit", "Grep"]);
  const input =
    name === "Bash"
      ? { command: `git ${random.text(random.integer(10, 300))}` }
      : { file_path: `/home/dev/shop/src/${random.hex(6)}.ts`, pattern: random.text(random.integer(10, 300)) };
  return { callId, name, input };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(makeClaudeCorpus(corpusArguments()));
