import { CALL, type FactTables, PROMPT, RESULT, USE } from "#core/packed/fact-tables.ts";

// Assigns the rows of a session to turns and subagents, as `assign` and `pairTools` in `src/core/session` do for a session without
// hook events in which every fact names its prompt or its subagent.

/** A turn or a subagent. */
export interface RowRun {
  readonly isSubagent: boolean;
  hasPrompt: boolean;
  isMachine: boolean;
  /** Time of its prompt, or of its first activity if it has none. */
  markMs: number;
  startMs: number;
  endMs: number;
  /** The call that ended last. */
  lastCall: { readonly startMs: number; readonly endMs: number; readonly isTied: boolean } | undefined;
  /** Time of the last error without a retry. */
  finalErrorMs: number | undefined;
  interruptionMs: number | undefined;
  /** The transcript contains its end. */
  hasEnd: boolean;
}

/** A use of a tool, with its result if there is one. */
export interface RowTool {
  /** Numbers of texts; NaN if unknown. */
  readonly name: number;
  readonly mcpServer: number;
  readonly skill: number;
  /** Number of the text; NaN if there is no result. */
  readonly status: number;
  readonly isSubagents: boolean;
  readonly startMs: number;
  readonly endMs: number;
  readonly run: RowRun;
}

interface RowRuns {
  readonly runs: readonly RowRun[];
  readonly tools: readonly RowTool[];
}

/** @returns `undefined` if ids are not enough to assign a row, so that the session must be built from entries */
export function runsOf(facts: FactTables): RowRuns | undefined {
  try {
    return new Runs(facts).all();
  } catch (error) {
    if (error === UNDECIDED) return undefined;
    throw error;
  }
}

// --- internal ---

const UNDECIDED = new Error("a fact belongs to no prompt that it names");

class Runs {
  readonly #facts: FactTables;
  readonly #runs: RowRun[] = [];
  readonly #turns = new Map<number, RowRun>();
  readonly #subagents = new Map<number, RowRun>();
  readonly #numbers = new Map<string, number>();

  constructor(facts: FactTables) {
    this.#facts = facts;
  }

  all(): RowRuns {
    this.#prompts();
    this.#calls();
    const tools = this.#tools();
    this.#others();
    for (const run of this.#runs) run.startMs = Math.min(run.startMs, run.markMs);
    for (const run of this.#runs) run.endMs = Math.max(run.endMs, run.markMs);
    return { runs: this.#runs, tools };
  }

  #prompts(): void {
    const { data, stride, rows } = this.#facts.tables.prompt;
    const [command, machine] = [this.#textNumber("command"), this.#textNumber("machine")];
    const seen = new Set<number>();
    for (let at = 0; at < rows * stride; at += stride) {
      const prompt = data[at + PROMPT.promptKey] ?? Number.NaN;
      // A fork gives its own id to prompts that it copies
      if (Number.isNaN(prompt) || this.#isReserved(prompt) || seen.has(prompt)) throw UNDECIDED;
      seen.add(prompt);
      const origin = data[at + PROMPT.origin];
      if (origin === command) continue;
      const run = this.#begin(this.#turns, prompt, false);
      run.hasPrompt = true;
      run.isMachine = origin === machine;
      run.markMs = data[at + PROMPT.timeMs] ?? 0;
    }
  }

  #calls(): void {
    const { data, stride, rows } = this.#facts.tables.model_call;
    for (let at = 0; at < rows * stride; at += stride) {
      // Sums over a turn or session count only if its calls are unknown
      if (!Number.isNaN(data[at + CALL.covers])) throw UNDECIDED;
      const run = this.#runOf(data[at + CALL.promptKey] ?? Number.NaN, data[at + CALL.agentId] ?? Number.NaN);
      const timeMs = data[at + CALL.timeMs] ?? 0;
      const endMs = data[at + CALL.endMs] ?? 0;
      const began = data[at + CALL.startMs] ?? Number.NaN;
      const beganMs = Number.isNaN(began) ? timeMs : began;
      const startMs = Math.min(beganMs, endMs);
      extendRun(run, Math.min(beganMs, timeMs), startMs, endMs);
      const last = run.lastCall;
      if (last === undefined || endMs >= last.endMs) run.lastCall = { startMs, endMs, isTied: endMs === last?.endMs };
    }
  }

  #tools(): readonly RowTool[] {
    const uses = this.#facts.tables.tool_use;
    const results = this.#facts.tables.tool_result;
    const resultOf = new Map<number, number>();
    for (let at = 0; at < results.rows * results.stride; at += results.stride) {
      const call = results.data[at + RESULT.callId] ?? 0;
      if (!resultOf.has(call)) resultOf.set(call, at);
    }
    const tools: RowTool[] = [];
    const used = new Set<number>();
    for (let at = 0; at < uses.rows * uses.stride; at += uses.stride) {
      const call = uses.data[at + USE.callId] ?? 0;
      if (used.has(call)) continue;
      used.add(call);
      tools.push(this.#tool(at, resultOf.get(call)));
    }
    const unfinished = this.#textNumber("unfinished");
    for (const [call, at] of resultOf) {
      const isLeftOpen = results.data[at + RESULT.status] === unfinished;
      // The next process wrote it, so the session has several segments
      if (isLeftOpen && Number.isNaN(results.data[at + RESULT.agentId])) throw UNDECIDED;
      if (!used.has(call) && !isLeftOpen) tools.push(this.#tool(undefined, at));
    }
    return tools;
  }

  /** @param use index of the use's row @param result index of the result's row; at least one of them is defined */
  #tool(use: number | undefined, result: number | undefined): RowTool {
    const { tool_use: uses, tool_result: results } = this.#facts.tables;
    const ofUse = (place: number): number => (use === undefined ? Number.NaN : (uses.data[use + place] ?? Number.NaN));
    const ofResult = (place: number): number =>
      result === undefined ? Number.NaN : (results.data[result + place] ?? Number.NaN);
    const [usedMs, answeredMs, tookMs] = [ofUse(USE.timeMs), ofResult(RESULT.timeMs), ofResult(RESULT.durationMs)];
    // The result of a call that a killed process left open has the time of the next process
    const isLeftOpen = ofResult(RESULT.status) === this.#textNumber("unfinished");
    let startMs = usedMs;
    if (result !== undefined && !isLeftOpen) {
      const estimatedMs = answeredMs - (Number.isNaN(tookMs) ? 0 : tookMs);
      if (!(usedMs <= answeredMs)) startMs = estimatedMs;
      else if (!Number.isNaN(tookMs)) startMs = Math.max(usedMs, estimatedMs);
    }
    const endMs = result === undefined || isLeftOpen ? startMs : Math.max(startMs, answeredMs);
    const prompt = either(ofUse(USE.promptKey), ofResult(RESULT.promptKey));
    const agent = either(ofUse(USE.agentId), ofResult(RESULT.agentId));
    const run = this.#runOf(prompt, agent);
    extendRun(run, startMs, startMs, endMs);
    return {
      name: ofUse(USE.name),
      mcpServer: ofUse(USE.mcpServer),
      skill: ofUse(USE.skill),
      status: ofResult(RESULT.status),
      isSubagents: !Number.isNaN(agent),
      startMs,
      endMs,
      run,
    };
  }

  #others(): void {
    const { others } = this.#facts;
    // An error creates a turn; an end or an interruption alone does not
    for (const entry of others) {
      if (entry.kind !== "model_error") continue;
      const run = this.#runOf(this.#number(entry.promptKey), this.#number(entry.agentId));
      extendRunTo(run, entry.timeMs);
      if (entry.final) run.finalErrorMs = Math.max(run.finalErrorMs ?? 0, entry.timeMs);
    }
    for (const { kind, agentId, promptKey, timeMs } of others) {
      if (kind === "model_error" || kind === "compaction") continue;
      if (kind === "subagent") {
        if (agentId === undefined) throw UNDECIDED;
        const agent = this.#number(agentId);
        if (!this.#subagents.has(agent)) this.#begin(this.#subagents, agent, true).markMs = timeMs;
        continue;
      }
      if (kind !== "turn_end" && kind !== "interruption") throw UNDECIDED;
      if (agentId === undefined && promptKey === undefined) throw UNDECIDED;
      const run =
        agentId === undefined
          ? this.#turns.get(this.#number(promptKey))
          : this.#runOf(Number.NaN, this.#number(agentId));
      if (run === undefined) continue;
      extendRunTo(run, timeMs);
      if (kind === "interruption") run.interruptionMs = timeMs;
      else run.hasEnd = true;
    }
  }

  #runOf(prompt: number, agent: number): RowRun {
    if (!Number.isNaN(agent)) return this.#subagents.get(agent) ?? this.#begin(this.#subagents, agent, true);
    // Only its time shows which turn it belongs to
    if (Number.isNaN(prompt)) throw UNDECIDED;
    const known = this.#turns.get(prompt);
    if (known !== undefined) return known;
    if (this.#isReserved(prompt)) throw UNDECIDED;
    return this.#begin(this.#turns, prompt, false);
  }

  #begin(runs: Map<number, RowRun>, key: number, isSubagent: boolean): RowRun {
    const run: RowRun = {
      isSubagent,
      hasPrompt: false,
      isMachine: false,
      markMs: Number.POSITIVE_INFINITY,
      startMs: Number.POSITIVE_INFINITY,
      endMs: Number.NEGATIVE_INFINITY,
      lastCall: undefined,
      finalErrorMs: undefined,
      interruptionMs: undefined,
      hasEnd: false,
    };
    runs.set(key, run);
    this.#runs.push(run);
    return run;
  }

  /** A key that `assign` uses itself, or derives from others. */
  #isReserved(prompt: number): boolean {
    const text = this.#facts.texts[prompt] ?? "";
    return text.includes("~") || text === "none";
  }

  #textNumber(text: string): number {
    return this.#facts.numberOf(text) ?? -1;
  }

  /** The number of an id from outside the tables; an id that no row has gets a new number. */
  #number(text: string | undefined): number {
    if (text === undefined) return Number.NaN;
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    const number = this.#facts.numberOf(text) ?? -2 - this.#numbers.size;
    this.#numbers.set(text, number);
    return number;
  }
}

const either = (a: number, b: number): number => (Number.isNaN(a) ? b : a);

/** Extends a run by a call or tool. @param firstMs its earliest time */
function extendRun(run: RowRun, firstMs: number, startMs: number, endMs: number): void {
  if (!run.hasPrompt && firstMs < run.markMs) run.markMs = firstMs;
  if (startMs < run.startMs) run.startMs = startMs;
  if (endMs > run.endMs) run.endMs = endMs;
}

/** Extends a run by an end, interruption or error. */
function extendRunTo(run: RowRun, timeMs: number): void {
  if (!run.hasPrompt && timeMs < run.markMs) run.markMs = timeMs;
  if (!run.isSubagent && timeMs > run.endMs) run.endMs = timeMs;
}
