import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ClaudeSession } from "../corpus/claude.mjs";
import { randomOf } from "../corpus/random.mjs";
import { makeHome } from "./home.mjs";
import { Inbox } from "./inbox.mjs";
import { measure } from "./measure.mjs";

/** A turn: a prompt, four tool calls with start and end, a stop. */
const TOOLS = 4;
export const EVENTS_PER_TURN = 2 + 2 * TOOLS;
/** The turn, an answer before and after each call, the calls. */
export const SPANS_PER_TURN = 1 + (TOOLS + 1) + TOOLS;
/** The prompt, the last answer, and for each call an answer's text, the call, and the result. */
export const LINES_PER_TURN = 2 + 3 * TOOLS;
/** Time between two lines of earlier turns. */
const STEP_MS = 250;
/** The flags that src/collect/intake/hook.sh uses. */
const HOOK_FLAGS = ["--max-semi-space-size=2", "--optimize-for-size", "--initial-heap-size=48"];

/** A home with one session of Claude Code: hook payloads and a transcript. Drains run only when a method starts them. */
export class LongSession {
  #place = makeHome();
  #session;
  #transcript;
  #program;
  inbox = new Inbox(this.#place.stateDir, this.#place.home);
  /** The folder in which it works. */
  cwd = join(this.#place.home, "shop");
  env = this.#place.env;
  stateDir = this.#place.stateDir;

  /** @param turns that it starts with; the last one ends now */
  constructor(turns, program) {
    this.#program = program;
    const startMs = Date.now() - (turns + 1) * LINES_PER_TURN * STEP_MS;
    this.#session = new ClaudeSession(randomOf(turns), { cwd: this.cwd, startMs });
    const folder = join(this.#place.home, ".claude", "projects", "-shop");
    for (const directory of [this.cwd, folder]) mkdirSync(directory, { recursive: true });
    this.#transcript = join(folder, `${this.#session.sessionId}.jsonl`);
    const lines = [];
    for (let turn = 0; turn < turns; turn++) lines.push(...this.#record(STEP_MS));
    appendFileSync(this.#transcript, lines.join(""));
  }

  /** Adds a turn, from the end of the last one until now. */
  addTurn() {
    const stepMs = Math.max(1, Math.floor((Date.now() - this.#session.timeMs) / (LINES_PER_TURN + 1)));
    appendFileSync(this.#transcript, this.#record(stepMs).join(""));
  }

  /** Starts a drain the way a hook does. */
  drain(endpoint, settings) {
    return this.#run([...HOOK_FLAGS, this.#program, "drain", "--quiet"], endpoint, settings);
  }

  /** Starts a drain the way a user does: without waiting for a backend that failed recently. */
  drainByHand(endpoint, settings) {
    return this.#run([this.#program, "drain"], endpoint, settings);
  }

  /** The last lines of the drain log. */
  log() {
    const path = join(this.stateDir, "drain.log");
    return existsSync(path) ? readFileSync(path, "utf8").trim().split("\n").slice(-5).join("\n") : "nothing";
  }

  remove() {
    this.#place.remove();
  }

  // --- internal ---

  #run(args, endpoint, settings = {}) {
    const env = { ...this.#place.env, OPENHOOK_OTEL_OTLP_ENDPOINT: endpoint, ...settings };
    return measure([process.execPath, ...args], { env });
  }

  /** Writes one turn's hook payloads. @returns its lines for the transcript */
  #record(stepMs) {
    const session = this.#session;
    const turn = session.turn({ steps: TOOLS + 1, toolsPerStep: 1, stepMs, resultCharacters: 1_500 });
    const shared = {
      session_id: session.sessionId,
      transcript_path: this.#transcript,
      cwd: this.cwd,
      prompt_id: turn.promptId,
    };
    const put = (name, more, ms) => this.inbox.put("claude-code", { ...shared, hook_event_name: name, ...more }, ms);
    put("UserPromptSubmit", { prompt: turn.prompt }, turn.promptMs);
    for (const { callId, name, input, isError, text, startMs, endMs } of turn.calls) {
      const call = { tool_name: name, tool_input: input, tool_use_id: callId };
      put("PreToolUse", call, startMs);
      if (isError) put("PostToolUseFailure", { ...call, error: text, is_interrupt: false }, endMs);
      else put("PostToolUse", { ...call, tool_response: { stdout: text, stderr: "", interrupted: false } }, endMs);
    }
    put("Stop", { stop_hook_active: false }, turn.endMs + 1);
    return turn.lines.map((line) => `${line}\n`);
  }
}
