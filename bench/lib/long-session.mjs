import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ClaudeSession } from "../corpus/claude.mjs";
import { randomOf } from "../corpus/random.mjs";
import { makeHome } from "./home.mjs";
import { Inbox } from "./inbox.mjs";
import { measure } from "./measure.mjs";

/** A turn: its prompt, four calls with a start and an end each, its stop. */
const TOOLS = 4;
export const EVENTS_PER_TURN = 2 + 2 * TOOLS;
/** The turn itself, an answer before and after each call, the calls. */
export const SPANS_PER_TURN = 1 + (TOOLS + 1) + TOOLS;
/** The prompt, the last answer, and for each call an answer's text, the call, and the result. */
export const LINES_PER_TURN = 2 + 3 * TOOLS;
/** Between two lines, in what was before. */
const STEP_MS = 250;
/** As the hook program starts it: see src/intake/hook.sh. */
const HOOK_FLAGS = ["--max-semi-space-size=2", "--optimize-for-size"];

/** A home in which Claude Code has one session, by its hooks and its transcript. Nothing is drained by itself. */
export class LongSession {
  #place = makeHome();
  #inbox = new Inbox(this.#place.stateDir, this.#place.home);
  #cwd = join(this.#place.home, "shop");
  #session;
  #transcript;
  #program;
  stateDir = this.#place.stateDir;

  /** @param turns so many has it told already, the last one just now */
  constructor(turns, program) {
    this.#program = program;
    const startMs = Date.now() - (turns + 1) * LINES_PER_TURN * STEP_MS;
    this.#session = new ClaudeSession(randomOf(turns), { cwd: this.#cwd, startMs });
    const folder = join(this.#place.home, ".claude", "projects", "-shop");
    for (const directory of [this.#cwd, folder]) mkdirSync(directory, { recursive: true });
    this.#transcript = join(folder, `${this.#session.sessionId}.jsonl`);
    const lines = [];
    for (let turn = 0; turn < turns; turn++) lines.push(...this.#tell(STEP_MS));
    appendFileSync(this.#transcript, lines.join(""));
  }

  /** One more turn, from the end of the last one until now. */
  tellTurn() {
    const stepMs = Math.max(1, Math.floor((Date.now() - this.#session.timeMs) / (LINES_PER_TURN + 1)));
    appendFileSync(this.#transcript, this.#tell(stepMs).join(""));
  }

  /** As a hook starts one. */
  drain(endpoint) {
    return this.#run([...HOOK_FLAGS, this.#program, "drain", "--quiet"], endpoint);
  }

  /** As a user starts one: a backend that failed lately is asked at once. */
  drainByHand(endpoint, settings) {
    return this.#run([this.#program, "drain"], endpoint, settings);
  }

  /** The end of what its drains wrote down. */
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

  /** @returns what it adds to the transcript; its hooks' payloads are in the inbox by then */
  #tell(stepMs) {
    const session = this.#session;
    const turn = session.turn({ steps: TOOLS + 1, toolsPerStep: 1, stepMs, resultCharacters: 1_500 });
    const shared = {
      session_id: session.sessionId,
      transcript_path: this.#transcript,
      cwd: this.#cwd,
      prompt_id: turn.promptId,
    };
    const tell = (name, more, ms) => this.#inbox.put("claude-code", { ...shared, hook_event_name: name, ...more }, ms);
    tell("UserPromptSubmit", { prompt: turn.prompt }, turn.promptMs);
    for (const { callId, name, input, isError, text, startMs, endMs } of turn.calls) {
      const call = { tool_name: name, tool_input: input, tool_use_id: callId };
      tell("PreToolUse", call, startMs);
      if (isError) tell("PostToolUseFailure", { ...call, error: text, is_interrupt: false }, endMs);
      else tell("PostToolUse", { ...call, tool_response: { stdout: text, stderr: "", interrupted: false } }, endMs);
    }
    tell("Stop", { stop_hook_active: false }, turn.endMs + 1);
    return turn.lines.map((line) => `${line}\n`);
  }
}
