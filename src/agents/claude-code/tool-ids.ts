import { isCountedId } from "../shared/payload/call-ids.ts";
import type { CountedCall, LineState } from "./line-context.ts";

/** Hooks give a call's id from this version on; for older ones, calls are joined by tool and input. */
export const CALL_IDS_SINCE = "2.0.43";

/**
 * What identifies a call in all sessions: mostly its id. Some providers count theirs in every conversation (`Bash:0`); those
 * need what they stand in.
 */
export const callPlace = (given: string, within: () => string): string =>
  isCountedId(given) ? `${given}@${within()}` : given;

/** The call that a counted id means now: a subagent counts anew, and so does a conversation after its compaction. */
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

/** More are never at work together. */
const REMEMBERED_CALLS = 200;

const isCallOf = (call: CountedCall, given: string, agentId: string | undefined): boolean =>
  call.given === given && call.agentId === agentId;
