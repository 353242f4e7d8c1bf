import { isNumberedId } from "../../model/call-ids.ts";
import type { CountedCall, LineState } from "./line-context.ts";

/** Hooks give a call's id from this version on; for older ones, calls are joined by tool and input. */
export const CALL_IDS_SINCE = "2.0.43";

/**
 * Identifies a call in all sessions: usually by its id. Some providers count ids per conversation (`Bash:0`); those are
 * combined with their surroundings.
 */
export const callPlace = (given: string, within: () => string): string =>
  isNumberedId(given) ? `${given}@${within()}` : given;

/** The latest call with a counted id: counting restarts in a subagent, and after a compaction. */
export const countedCall = (
  { counted }: LineState,
  given: string,
  agentId: string | undefined,
): CountedCall | undefined => counted?.findLast((call) => isCallOf(call, given, agentId));

/** Remembers the calls of a line. */
export function rememberCounted(state: LineState, calls: readonly CountedCall[]): void {
  if (calls.length === 0) return;
  const others = (state.counted ?? []).filter((one) => !calls.some((c) => isCallOf(c, one.given, one.agentId)));
  state.counted = [...others, ...calls].slice(-REMEMBERED_CALLS);
}

// --- internal ---

/** More calls never run in parallel. */
const REMEMBERED_CALLS = 200;

const isCallOf = (call: CountedCall, given: string, agentId: string | undefined): boolean =>
  call.given === given && call.agentId === agentId;
