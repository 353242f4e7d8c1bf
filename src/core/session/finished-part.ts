import { maxOf } from "#kit/numbers.ts";
import type { Event } from "../model/event-schema.ts";
import type { ModelCall } from "../model/model-call.ts";
import type { PartLimits, SessionContext, Subagent, Turn } from "../model/session.ts";
import { timeMsOf } from "../rules/event.ts";
import { extrasOf } from "../rules/extras.lazy.ts";
import { runKeyOf } from "../rules/segments.ts";
import type { Draft } from "./drafts.ts";
import type { PairedTool } from "./pair.ts";

/** Below 4,000 open calls a drain takes about 100 MiB. */
export const PART_LIMITS: PartLimits = { openCalls: 4_000, keptCalls: 4, lateFactsMs: 60_000 };

/** An open run with its facts. */
export interface OpenRun {
  readonly draft: Draft;
  readonly run: Turn | Subagent;
}

/**
 * The calls of open runs that can be settled before the runs end, so that the memory of a drain does not depend on the length of a
 * turn. The newest calls of each run stay, and so do calls that later facts may still change or refer to.
 *
 * @param parentCalls ids of calls that started a subagent which is not settled
 * @returns these runs with only these calls and the facts about them; empty for an ordinary session
 */
export function finishedPartsOf(
  open: readonly OpenRun[],
  parentCalls: ReadonlySet<string>,
  limits: PartLimits,
): readonly (Turn | Subagent)[] {
  const calls = open.reduce((sum, { run }) => sum + run.modelCalls.length + run.toolCalls.length, 0);
  if (calls < limits.openCalls) return [];
  const lastMs = maxOf(open.map(({ run }) => run.endMs));
  return open.flatMap((one) => finishedPartOf(one, parentCalls, lastMs, limits) ?? []);
}

/** Adds to an open run what was settled of it before. */
export function withSettledWork<T extends Turn | Subagent>(run: T, { openWork }: SessionContext): T {
  const settled = openWork?.get(runKeyOf(run));
  if (settled === undefined) return run;
  return {
    ...run,
    settled,
    startMs: Math.min(run.startMs, settled.startMs),
    endMs: Math.max(run.endMs, settled.endMs),
  };
}

// --- internal ---

function finishedPartOf(
  { draft, run }: OpenRun,
  parentCalls: ReadonlySet<string>,
  lastMs: number,
  { keptCalls, lateFactsMs }: PartLimits,
): Turn | Subagent | undefined {
  const ends = [...run.modelCalls, ...run.toolCalls].map(({ endMs }) => endMs).sort((a, b) => a - b);
  const beforeMs = Math.min(ends[ends.length - keptCalls] ?? Number.NEGATIVE_INFINITY, lastMs - lateFactsMs);
  const isOver = ({ endMs }: { readonly endMs: number }): boolean => endMs < beforeMs;
  // The last model call decides whether the run has ended
  const modelCalls = run.modelCalls.slice(0, -1).filter((call) => isOver(call) && isFinal(call));
  const tools = draft.toolCalls.filter((tool) => isOver(tool) && isDone(tool) && !parentCalls.has(tool.callId));
  if (modelCalls.length + tools.length === 0) return undefined;
  const ids = new Set(tools.map(({ callId }) => callId));
  const names = new Set([...ids, ...tools.flatMap(({ givenId }) => givenId ?? [])]);
  return {
    ...run,
    modelCalls,
    toolCalls: run.toolCalls.filter(({ callId }) => ids.has(callId)),
    errors: [],
    uses: [
      ...modelCalls.map(({ key }) => key),
      ...tools.flatMap(({ uses }) => uses),
      ...draft.events.filter((event) => timeMsOf(event) < beforeMs && concernsOnly(event, names)).map(({ id }) => id),
    ],
  };
}

const isFinal = ({ complete, covers }: ModelCall): boolean => complete && covers === undefined;

/** It has an end, and neither a subagent nor a later event without an id can refer to it. */
const isDone = ({ status, spawnedAgentId, hooks }: PairedTool): boolean =>
  status !== "open" &&
  status !== "unfinished" &&
  spawnedAgentId === undefined &&
  (hooks === undefined || hooks === "both");

/** Whether an event says nothing about the run itself or about other calls. */
function concernsOnly(event: Event, calls: ReadonlySet<string>): boolean {
  if (event.type === "permission") return true;
  return event.type === "tool.batch" && (extrasOf(event).tool_call_ids ?? []).every((id) => calls.has(id));
}
