import { isRandomId, laterId } from "../../model/call-ids.ts";
import type { Here, LineState } from "./line-context.ts";

/**
 * Gives a new call a unique id: the first call with an id keeps it, later ones get their line's id added.
 *
 * @param tool the tool's name
 * @returns the id, and the state that remembers it
 */
export function beginCall(
  { state, id, agentId }: Here,
  given: string,
  tool: string,
): { readonly callId: string; readonly state: LineState } {
  if (isRandomId(given)) return { callId: given, state };
  const { usedIds = [], openIds = [] } = state;
  const isUsed = usedIds.includes(given);
  const callId = isUsed ? laterId(given, id) : given;
  return {
    callId,
    state: {
      ...state,
      ...(!isUsed && { usedIds: [...usedIds, given].slice(-REMEMBERED_IDS) }),
      openIds: [...openIds, [given, callId, agentId ?? MAIN, tool] as const].slice(-REMEMBERED_IDS),
    },
  };
}

/** The agent's last open call with that id. */
export const openCall = ({ state, agentId }: Here, given: string): string =>
  state.openIds?.findLast((one) => isOf(one, given, agentId))?.[1] ?? given;

/** The open call with that id that started a subagent; its line is the subagent's and does not name the caller. */
export function spawningCall({ state, agentId }: Here, given: string): string {
  const like = (state.openIds ?? []).filter(([one, , agent]) => one === given && (agent ?? MAIN) !== agentId);
  return (like.findLast(([, , , tool]) => tool === SPAWN) ?? like.at(-1))?.[1] ?? given;
}

/** Ends an agent's call with that id; if several are open, the first. */
export function endCall(
  { state, agentId }: Here,
  given: string,
): { readonly callId: string; readonly state: LineState } {
  const { openIds = [], ...rest } = state;
  const ended = openIds.find((one) => isOf(one, given, agentId));
  if (ended === undefined) return { callId: given, state };
  const left = openIds.filter((one) => one !== ended);
  return { callId: ended[1], state: left.length === 0 ? rest : { ...rest, openIds: left } };
}

// --- internal ---

/** Ids that are counted are short and few. */
const REMEMBERED_IDS = 500;
/** Stands for the main agent, which has no id. */
const MAIN = "";
const SPAWN = "task";

/** A call remembered by an earlier version has no agent. */
const isOf = ([one, , agent]: NonNullable<LineState["openIds"]>[number], given: string, agentId: string | undefined) =>
  one === given && (agent === undefined || agent === (agentId ?? MAIN));
