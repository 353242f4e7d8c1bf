import type { CallSums } from "../model/call-sums.ts";
import type { Session, SessionFacts } from "../model/session.ts";
import type { StoredModelCall } from "../store/queries.ts";
import { costNanoUsd } from "../telemetry/cost.ts";

/** Whether tokens are known. If not, they are unknown for agents that never report them, and zero for all others. */
export const hasUsage = ({ modelCalls, sumsTold }: CallSums): boolean => modelCalls + sumsTold > 0;

/** The calls of the open part of a session, with their costs. */
export function openCalls(session: Session, facts: SessionFacts): readonly StoredModelCall[] {
  return [...session.turns, ...session.subagents].flatMap((run) =>
    run.modelCalls.map((call) => {
      const cost = costNanoUsd(call, facts.provider);
      return { segment: run.segment, call, ...(cost !== undefined && { costNanoUsd: cost }) };
    }),
  );
}

// --- internal ---
