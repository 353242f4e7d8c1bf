import type { Segment, SessionInput, Subagent, Turn } from "../model/session.ts";
import { lastCallOf } from "../rules/last-call.ts";
import { isWholeUsage } from "../rules/whole-usage.ts";

/** Whether transcript lines are still missing: the last answer of an ended turn, the error of a failed one, the result of a call. */
export function expectsLines(run: Turn | Subagent, segment: Segment | undefined, input: SessionInput): boolean {
  if (!input.expectsTranscript || input.endIdle !== undefined) return false;
  // The hook reports a failure before the agent writes the line with the details
  if ("state" in run && run.state === "failed" && run.errors.length === 0) return true;
  if (segment?.endMs !== undefined) {
    const lastCall = lastCallOf(run.modelCalls);
    const isEndedTurn = "state" in run && (run.state === "ended" || run.state === "unfinished");
    return (
      run.toolCalls.some((t) => t.status === "unfinished") ||
      (isEndedTurn && lastCall?.asksForTools === true) ||
      (lastCall === undefined
        ? run.errors.length === 0 && !("agentId" in run)
        : !lastCall.complete || lastCall.usage === undefined || isEarlySum(lastCall))
    );
  }
  return "state" in run && run.state === "ended" && !run.closed;
}

// --- internal ---

/** Sums over calls of a run that is not over yet: the line that completes them is still missing. */
const isEarlySum = ({ covers, usage }: Turn["modelCalls"][number]): boolean =>
  covers !== undefined && !isWholeUsage(usage);
