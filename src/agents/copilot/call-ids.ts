import { isRandomId, laterId } from "../shared/payload/call-ids.ts";
import type { Here, LineState } from "./line-context.ts";

/**
 * Gives a new call a unique id: the first call with an id keeps it, later ones get their line's id added.
 *
 * @returns the id, and the state that remembers it
 */
export function beginCall({ state, id }: Here, given: string): { readonly callId: string; readonly state: LineState } {
  if (isRandomId(given)) return { callId: given, state };
  const { usedIds = [], openIds = [] } = state;
  const isUsed = usedIds.includes(given);
  const callId = isUsed ? laterId(given, id) : given;
  return {
    callId,
    state: {
      ...state,
      ...(!isUsed && { usedIds: [...usedIds, given].slice(-REMEMBERED_IDS) }),
      openIds: [...openIds, [given, callId] as const].slice(-REMEMBERED_IDS),
    },
  };
}

/** The last open call with that id. */
export const openCall = ({ state }: Here, given: string): string =>
  state.openIds?.findLast(([one]) => one === given)?.[1] ?? given;

/** Ends a call with that id; if several are open, the first. */
export function endCall({ state }: Here, given: string): { readonly callId: string; readonly state: LineState } {
  const { openIds = [], ...rest } = state;
  const ended = openIds.find(([one]) => one === given);
  if (ended === undefined) return { callId: given, state };
  const left = openIds.filter((one) => one !== ended);
  return { callId: ended[1], state: left.length === 0 ? rest : { ...rest, openIds: left } };
}

// --- internal ---

/** Ids that are counted are short and few. */
const REMEMBERED_IDS = 500;
