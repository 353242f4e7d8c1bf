import type { FactSink } from "#core/model/fact-sink.ts";
import type { TranscriptFile } from "#core/model/transcript-reader.ts";
import { isRepeat, type RecordedCall, type State, subagentsResponses } from "./state-file.ts";
import { subagentEntry } from "./subagents.ts";
import { responseKey } from "./walk.ts";
import { factBase, type WalkState } from "./walk-state.ts";

/** Completes the answers whose usage was written since the last read. It is written when a run ends; a killed run has none. */
export function putUsage(state: WalkState, { uses }: State, part: TranscriptFile, sink: FactSink): void {
  const own = [...uses].filter(([use]) => !isRepeat(use));
  const repeats = [...uses].filter(([use]) => isRepeat(use));
  for (const [use, calls] of own)
    for (const call of newCalls(use, calls, state)) putCall(call, part.agentId, state, sink);
  if (!repeats.some(([use, calls]) => calls.length > counted(use, state))) return;
  const read = subagentsResponses(part.path, part.roots);
  for (const [use, calls] of repeats) {
    // The subagent's own files are gone
    const lost = newCalls(use, calls, state).filter(({ responseId }) => !read.has(responseId));
    const taskId = use.slice(use.indexOf(":") + 1);
    for (const call of lost) putCall(call, taskId, state, sink);
    if (lost.length > 0) sink.other(subagentEntry(taskId, state.timeMs, undefined, part.agentId));
  }
}

// --- internal ---

const counted = (use: string, state: WalkState): number => state.counted[use] ?? 0;

/** The last call counted is passed again: the file may have been written before its usage was there. */
function newCalls(use: string, calls: readonly RecordedCall[], state: WalkState): readonly RecordedCall[] {
  const from = counted(use, state) > calls.length ? 0 : Math.max(0, counted(use, state) - 1);
  state.counted = { ...state.counted, [use]: calls.length };
  return calls.slice(from);
}

function putCall(call: RecordedCall, agentId: string | undefined, state: WalkState, sink: FactSink): void {
  const { responseId, latencyMs } = call;
  // Calls without an event, such as the condenser's failed ones, have no time
  const { ms, promptKey } = state.answers[responseId] ?? { ms: state.timeMs, promptKey: state.promptKey };
  sink.modelCall(factBase(state, agentId, responseKey(responseId), ms, promptKey), {
    responseId,
    model: call.model,
    provider: call.provider,
    startMs: latencyMs === undefined ? undefined : ms - latencyMs,
    endMs: ms,
    usage: call.usage,
    complete: true,
  });
  const { [responseId]: _, ...others } = state.answers;
  state.answers = { ...others, [responseId]: { ms, ...(promptKey !== undefined && { promptKey }) } };
}
