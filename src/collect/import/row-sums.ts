import type { SessionEndReason } from "#core/model/envelope.ts";
import { HAS_FEES } from "#core/model/packed.ts";
import { ENDED_IDLE, type Segment, type Turn } from "#core/model/session.ts";
import type { ToolStatus } from "#core/model/transcript.ts";
import { CALL, type FactTables } from "#core/packed/fact-tables.ts";
import { END_REASONS } from "#core/session/idle-end-reason.ts";
import { type Totals, totalsOf } from "#core/telemetry/totals.ts";
import { coveredMs } from "#kit/numbers.ts";
import { PackedSums, PricedCalls } from "./packed-sums.ts";
import type { PackOptions, Unpriced } from "./price.ts";
import { type RowRun, type RowTool, runsOf } from "./row-runs.ts";

/**
 * The sums of a session's rows: the same as the sums of what `buildSession` builds, without building it.
 *
 * @returns `undefined` for a session that must be built
 */
export function sumsOfRows(facts: FactTables, options: PackOptions): Omit<Unpriced, "facts" | "owned"> | undefined {
  const joined = runsOf(facts);
  if (joined === undefined) return undefined;
  const { runs, tools } = joined;
  const turns = runs.filter((run) => !run.isSubagent);
  if (turns.length === 0 || turns.some(isUndecided)) return undefined;
  const startMs = turns.reduce((ms, run) => Math.min(ms, run.markMs), Number.POSITIVE_INFINITY);
  const endMs = lastActivity(facts, turns, tools);
  const sums = new PackedSums(options.boundaries);
  addTools(facts, tools, endMs, sums);
  const reason = options.facts.endsSilently === true ? silentReason(turns) : ENDED_IDLE.reason;
  if (reason === undefined) return undefined;
  const { calls, sellers } = addCalls(facts, sums);
  for (const run of turns) {
    sums.addTurn({ origin: run.isMachine ? "machine" : "human", state: stateOf(run), startMs: run.startMs });
  }
  const compactions = facts.others.filter(({ kind }) => kind === "compaction");
  const totals: Totals = {
    ...totalsOf(sums.calls()),
    turns: turns.length,
    subagents: runs.length - turns.length,
    toolCalls: tools.length,
    compactions: compactions.filter(({ timeMs }) => timeMs >= startMs && timeMs <= endMs).length,
    firstMs: runs.reduce((ms, run) => Math.min(ms, run.startMs), Number.POSITIVE_INFINITY),
    lastMs: runs.reduce((ms, run) => Math.max(ms, run.endMs), Number.NEGATIVE_INFINITY),
    ...(options.reported !== undefined && { reported: options.reported }),
    workMs: coveredMs(runs),
  };
  const segment: Segment = { ordinal: 0, startMs, lastActivityMs: endMs, uses: [], endMs, ...ENDED_IDLE, reason };
  return { segments: [{ segment, totals }], usage: sums.usage, tools: sums.tools, turns: sums.turns, calls, sellers };
}

/** Times of the first and last fact. */
export function spanOf({ tables, others }: FactTables): { readonly firstMs: number; readonly lastMs: number } {
  let [firstMs, lastMs] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  const includeTime = (ms: number): void => {
    if (ms < firstMs) firstMs = ms;
    if (ms > lastMs) lastMs = ms;
  };
  for (const { data, stride, rows } of Object.values(tables)) {
    for (let at = 0; at < rows * stride; at += stride) includeTime(data[at + CALL.timeMs] ?? 0);
  }
  for (const { timeMs } of others) includeTime(timeMs);
  return { firstMs, lastMs };
}

// --- internal ---

/** If two calls ended together, which one was last decides how the turn ended. */
const isUndecided = ({ lastCall, finalErrorMs, interruptionMs }: RowRun): boolean =>
  lastCall?.isTied === true && (finalErrorMs !== undefined || interruptionMs !== undefined);

function lastActivity({ tables }: FactTables, turns: readonly RowRun[], tools: readonly RowTool[]): number {
  let lastMs = turns.reduce((ms, run) => Math.max(ms, run.markMs), Number.NEGATIVE_INFINITY);
  for (const { endMs } of tools) if (endMs > lastMs) lastMs = endMs;
  const { data, stride, rows } = tables.model_call;
  for (let at = CALL.endMs; at < rows * stride; at += stride) if ((data[at] ?? 0) > lastMs) lastMs = data[at] ?? 0;
  return lastMs;
}

/** Adds up the calls. @returns calls that may have a price */
function addCalls({ texts, tables }: FactTables, sums: PackedSums): PricedCalls {
  const { data, stride, rows } = tables.model_call;
  const priced = new PricedCalls();
  const textAt = (place: number): string | undefined => textOf(texts, data[place] ?? Number.NaN);
  for (let at = 0; at < rows * stride; at += stride) {
    const endMs = data[at + CALL.endMs] ?? 0;
    const began = data[at + CALL.startMs] ?? Number.NaN;
    const model = textAt(at + CALL.model);
    const call = {
      model,
      isSubagents: !Number.isNaN(data[at + CALL.agentId]),
      calls: 1,
      complete: data[at + CALL.complete] === 1,
      startMs: Math.min(Number.isNaN(began) ? (data[at + CALL.timeMs] ?? 0) : began, endMs),
      endMs,
      webSearches: orUndefined(data[at + CALL.webSearches]),
      nanoCredits: orUndefined(data[at + CALL.nanoCredits]),
    };
    const place = sums.addCall(call, data, at + CALL.input);
    const isWhole = !Number.isNaN(data[at + CALL.input]) && !Number.isNaN(data[at + CALL.output]);
    if (!isWhole) continue;
    const tier = textAt(at + CALL.tier) ?? null;
    const flags = data[at + CALL.hasOtherFees] === 1 ? HAS_FEES : 0;
    const provider = textAt(at + CALL.provider) ?? null;
    const amounts = { endMs, webSearches: call.webSearches ?? 0, flags, calls: 1 };
    priced.add({ place, segment: 0, provider, tier, ...amounts }, data, at + CALL.input);
  }
  return priced;
}

/** Adds up the tools. A tool without a result lasts until the end of its session, which can be later than that of its run. */
function addTools({ texts }: FactTables, tools: readonly RowTool[], sessionEndMs: number, sums: PackedSums): void {
  for (const { name, mcpServer, skill, status, isSubagents, startMs, endMs, run } of tools) {
    const isOpen = Number.isNaN(status);
    const lastMs = isOpen ? Math.max(startMs, sessionEndMs) : endMs;
    if (lastMs > run.endMs) run.endMs = lastMs;
    sums.addTool({
      name: textOf(texts, name) ?? UNKNOWN_TOOL,
      mcpServer: textOf(texts, mcpServer),
      skill: textOf(texts, skill),
      agentId: isSubagents || undefined,
      status: isOpen ? "unfinished" : ((textOf(texts, status) ?? "success") as ToolStatus),
      startMs,
      endMs: lastMs,
    });
  }
}

const orUndefined = (n = Number.NaN): number | undefined => (Number.isNaN(n) ? undefined : n);

const textOf = (texts: readonly string[], number: number): string | undefined =>
  Number.isNaN(number) ? undefined : texts[number];

/** The name that `pairTools` gives a tool without a use. */
const UNKNOWN_TOOL = "unknown";

/** As `idleEndReason`; `undefined` if the rows do not show which turn was the last, or whether it ended. */
function silentReason(turns: readonly RowRun[]): SessionEndReason | undefined {
  const lastMs = turns.reduce((ms, run) => Math.max(ms, run.endMs), Number.NEGATIVE_INFINITY);
  const [last, ...others] = turns.filter((run) => run.endMs === lastMs);
  if (last === undefined || others.length > 0) return undefined;
  const state = stateOf(last);
  return state === "ended" && !last.hasEnd ? undefined : END_REASONS[state];
}

function stateOf({ lastCall, finalErrorMs, interruptionMs }: RowRun): Turn["state"] {
  if (interruptionMs !== undefined && interruptionMs >= (lastCall?.startMs ?? 0)) return "interrupted";
  return finalErrorMs !== undefined && finalErrorMs >= (lastCall?.endMs ?? 0) ? "failed" : "ended";
}
