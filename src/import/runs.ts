import { CALL, type FactTables, NONE, ORIGINS, PROMPT, RESULT, USE } from "../model/fact-tables.ts";
import type { TranscriptEntry } from "../model/transcript.ts";
import { NO_PROMPT } from "../session/assign.ts";

/** A turn or subagent, as far as sums need it. */
export interface Run {
  /** Of its first sign of life; a turn's prompt where it has one. */
  markMs: number;
  readonly hasPrompt: boolean;
  readonly isMachine: boolean;
  startMs: number;
  endMs: number;
  /** It called a model or a tool. */
  isAtWork: boolean;
}

export interface Tool {
  readonly name: number;
  readonly run: Run;
  readonly isSubagents: boolean;
  readonly startMs: number;
  readonly endMs: number;
  /** Number of a status; `OPEN` for one that nobody answered. */
  readonly status: number;
}

export const OPEN = -1;
/** As `pairTools` names what nobody named. */
export const UNKNOWN_TOOL = "unknown";

/** Which calls and tools belong together, as `assign` and `pairTools` have it. */
export class Runs {
  readonly turns = new Map<number, Run>();
  readonly subagents = new Map<string | number, Run>();
  readonly tools: Tool[] = [];
  readonly compactions: number[] = [];
  areSimple = true;
  /** What other entries name: made when the first of them does. */
  readonly #named: { subagents?: ReadonlyMap<string, Run>; turns?: ReadonlyMap<string, Run> } = {};
  readonly #tables: FactTables;

  constructor(tables: FactTables) {
    this.#tables = tables;
    this.#takePrompts();
    this.#takeCalls();
    this.#takeTools();
    this.#takeOthers();
    // What nobody asked for and did nothing is no turn
    for (const [key, run] of this.turns) if (!run.hasPrompt && !run.isAtWork) this.turns.delete(key);
  }

  #takePrompts(): void {
    const { ints, times } = this.#tables.prompts;
    const taken = new Set<number>();
    for (let row = 0, at = 0; row < ints.length; row += PROMPT.ints, at += PROMPT.times) {
      const prompt = ints[row + PROMPT.prompt] ?? NONE;
      const origin = ORIGINS[ints[row + PROMPT.origin] ?? 0];
      // A fork gives its own id to prompts that it copies
      if (prompt === NONE || taken.has(prompt) || this.#isOwnWord(prompt)) this.areSimple = false;
      else if (origin !== "command") {
        const ms = times[at + PROMPT.timeMs] ?? 0;
        this.turns.set(prompt, { ...runAt(ms), hasPrompt: true, isMachine: origin === "machine" });
      }
      taken.add(prompt);
    }
  }

  #takeCalls(): void {
    const { ints, times } = this.#tables.calls;
    for (let row = 0, at = 0; row < ints.length; row += CALL.ints, at += CALL.times) {
      const [timeMs = 0, startMs = 0, endMs = 0] = [
        times[at + CALL.timeMs],
        times[at + CALL.startMs],
        times[at + CALL.endMs],
      ];
      const run = this.#runOf(ints[row + CALL.prompt] ?? NONE, ints[row + CALL.agent] ?? NONE);
      const told = Number.isNaN(startMs) ? timeMs : startMs;
      see(run, Math.min(told, timeMs), Math.min(told, endMs), endMs);
    }
  }

  #takeTools(): void {
    const { uses, results } = this.#tables;
    const answered = new Map<number, number>();
    for (let n = 0; n < results.count; n++) answered.set(results.ints[n * RESULT.ints + RESULT.call] ?? NONE, n);
    for (let n = 0; n < uses.count; n++) {
      const call = uses.ints[n * USE.ints + USE.call] ?? NONE;
      this.#takeTool(n, answered.get(call) ?? NONE);
      answered.delete(call);
    }
    for (const n of answered.values()) this.#takeTool(NONE, n);
    // A tool can have the name that those get which nobody named
    const isUnknown = (name: number): boolean => name !== NONE && this.#tables.text(name) === UNKNOWN_TOOL;
    if (answered.size > 0 && this.tools.some(({ name }) => isUnknown(name))) this.areSimple = false;
  }

  #takeTool(use: number, result: number): void {
    const { uses, results } = this.#tables;
    const [usedAt, resultAt] = [use * USE.ints, result * RESULT.ints];
    const ofUse = (place: number): number => (use === NONE ? NONE : (uses.ints[usedAt + place] ?? NONE));
    const ofResult = (place: number): number => (result === NONE ? NONE : (results.ints[resultAt + place] ?? NONE));
    const usedMs = use === NONE ? undefined : (uses.times[use * USE.times + USE.timeMs] ?? 0);
    const answeredMs = result === NONE ? undefined : (results.times[result * RESULT.times + RESULT.timeMs] ?? 0);
    const isForward = usedMs !== undefined && (answeredMs === undefined || usedMs <= answeredMs);
    const startMs = isForward ? usedMs : (answeredMs ?? usedMs ?? 0);
    const endMs = Math.max(startMs, answeredMs ?? startMs);
    const agent = orElse(ofUse(USE.agent), ofResult(RESULT.agent));
    const run = this.#runOf(orElse(ofUse(USE.prompt), ofResult(RESULT.prompt)), agent);
    see(run, startMs, startMs, endMs);
    this.tools.push({
      name: ofUse(USE.name),
      run,
      isSubagents: agent !== NONE,
      startMs,
      endMs,
      status: result === NONE ? OPEN : ofResult(RESULT.status),
    });
  }

  #takeOthers(): void {
    for (const entry of this.#tables.others) {
      if (entry.kind === "compaction") this.compactions.push(entry.timeMs);
      else if (entry.kind === "subagent" && entry.agentId !== undefined)
        this.#takeSubagent(entry.agentId, entry.timeMs);
      else if (entry.kind === "turn_end" && entry.agentId === undefined && entry.promptKey !== undefined)
        this.#takeEnd(entry);
      else this.areSimple = false;
    }
  }

  /** Its file tells when it began; what it did counts more. */
  #takeSubagent(agentId: string, timeMs: number): void {
    this.#named.subagents ??= this.#byName(this.subagents);
    if (!this.#named.subagents.has(agentId)) this.subagents.set(agentId, runAt(timeMs));
  }

  #takeEnd({ promptKey = "", timeMs }: Pick<TranscriptEntry, "promptKey" | "timeMs">): void {
    this.#named.turns ??= this.#byName(this.turns);
    const known = this.#named.turns.get(promptKey);
    if (known === undefined) return;
    if (!known.hasPrompt) known.markMs = Math.min(known.markMs, timeMs);
    known.endMs = Math.max(known.endMs, timeMs);
    if (!known.hasPrompt) known.startMs = Math.min(known.startMs, timeMs);
  }

  /** Runs by the texts that their numbers stand for. */
  #byName(runs: ReadonlyMap<string | number, Run>): ReadonlyMap<string, Run> {
    return new Map([...runs].map(([key, run]) => [typeof key === "number" ? this.#tables.text(key) : key, run]));
  }

  #runOf(prompt: number, agent: number): Run {
    if (agent !== NONE) {
      const known = this.subagents.get(agent) ?? {
        ...runAt(Number.POSITIVE_INFINITY),
        endMs: Number.NEGATIVE_INFINITY,
      };
      this.subagents.set(agent, known);
      return known;
    }
    const known = this.turns.get(prompt);
    if (known !== undefined) return known;
    // By time alone it is told which turn it belongs to
    if (prompt === NONE || this.#isOwnWord(prompt)) this.areSimple = false;
    const made = { ...runAt(Number.POSITIVE_INFINITY), endMs: Number.NEGATIVE_INFINITY };
    this.turns.set(prompt, made);
    return made;
  }

  /** A key that says something in ours. */
  #isOwnWord(prompt: number): boolean {
    const text = this.#tables.text(prompt);
    return text === NO_PROMPT || text.includes("~");
  }
}

// --- internal ---

const runAt = (ms: number): Run => ({
  markMs: ms,
  hasPrompt: false,
  isMachine: false,
  startMs: ms,
  endMs: ms,
  isAtWork: false,
});

const orElse = (a: number, b: number): number => (a === NONE ? b : a);

/** A call or tool in its run. @param firstMs what counts as its first sign of life */
function see(run: Run, firstMs: number, startMs: number, endMs: number): void {
  run.isAtWork = true;
  if (!run.hasPrompt && firstMs < run.markMs) run.markMs = firstMs;
  if (firstMs < run.startMs && !run.hasPrompt) run.startMs = firstMs;
  if (startMs < run.startMs) run.startMs = startMs;
  if (endMs > run.endMs) run.endMs = endMs;
}
