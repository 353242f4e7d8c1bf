import { isNumberedId } from "#core/rules/call-ids.ts";
import type { CountedCall, LineState } from "./line-context.ts";

/** The first version whose hooks have call ids; for older ones, calls are matched by tool and input. */
export const CALL_IDS_SINCE = "2.0.43";

/**
 * An id that is unique over all sessions: usually the call's own. Some providers number calls per conversation (`Bash:0`); there,
 * the answer's id is added.
 */
export const globalCallId = (given: string, scope: () => string): string =>
  isNumberedId(given) ? `${given}@${scope()}` : given;

/** The latest call of an agent with a numbered id; numbers restart in subagents and after compactions. */
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
