import { isRandomId, repeatedCallId } from "#core/rules/call-ids.ts";
import type { LineContext, LineState } from "./line-context.ts";

/**
 * Returns a unique id for a new call: the first call with an id keeps it, for later ones their line's id is added.
 *
 * @param tool the tool's name
 * @returns the id, and the state that contains it
 */
export function startCall(
  { state, id, agentId }: LineContext,
  given: string,
  tool: string,
): { readonly callId: string; readonly state: LineState } {
  if (isRandomId(given)) return { callId: given, state };
  const { usedIds = [], openIds = [] } = state;
  const isUsed = usedIds.includes(given);
  const callId = isUsed ? repeatedCallId(given, id) : given;
  return {
    callId,
    state: {
      ...state,
      ...(!isUsed && { usedIds: [...usedIds, given].slice(-REMEMBERED_IDS) }),
      openIds: [...openIds, [given, callId, agentId ?? MAIN_AGENT, tool] as const].slice(-REMEMBERED_IDS),
    },
  };
}

/** The agent's last open call with that id. */
export const openCall = ({ state, agentId }: LineContext, given: string): string =>
  state.openIds?.findLast((one) => isCallOf(one, given, agentId))?.[1] ?? given;

/** The open call with that id that started a subagent. The line belongs to the subagent, so its agent is not the caller. */
export function spawningCall({ state, agentId }: LineContext, given: string): string {
  const candidates = (state.openIds ?? []).filter(([one, , agent]) => one === given && agent !== agentId);
  return (candidates.findLast(([, , , tool]) => tool === SPAWN_TOOL) ?? candidates.at(-1))?.[1] ?? given;
}

/** Ends an agent's call with that id; if several are open, the first. */
export function endCall(
  { state, agentId }: LineContext,
  given: string,
): { readonly callId: string; readonly state: LineState } {
  const { openIds = [], ...rest } = state;
  const ended = openIds.find((one) => isCallOf(one, given, agentId));
  if (ended === undefined) return { callId: given, state };
  const remaining = openIds.filter((one) => one !== ended);
  return { callId: ended[1], state: remaining.length === 0 ? rest : { ...rest, openIds: remaining } };
}

// --- internal ---

// Only ids that can repeat are stored: they are short and few
const REMEMBERED_IDS = 500;
/** The main agent, which has no id. */
const MAIN_AGENT = "";
const SPAWN_TOOL = "task";

const isCallOf = (
  [one, , agent]: NonNullable<LineState["openIds"]>[number],
  given: string,
  agentId: string | undefined,
) => one === given && agent === (agentId ?? MAIN_AGENT);
