import { isRandomId, laterId } from "../shared/payload/call-ids.ts";
import type { Here, LineState } from "./line-context.ts";

/**
 * A call that begins, under an id of its own: the first one of an id has it for itself, that of a later one is completed by its
 * line's.
 *
 * @returns with what has to be remembered of it
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

/** The call of that id that began last and has not ended. */
export const openCall = ({ state }: Here, given: string): string =>
  state.openIds?.findLast(([one]) => one === given)?.[1] ?? given;

/** A call of that id ends: of several at work, the first that began. */
export function endCall({ state }: Here, given: string): { readonly callId: string; readonly state: LineState } {
  const { openIds = [], ...rest } = state;
  const ended = openIds.find(([one]) => one === given);
  if (ended === undefined) return { callId: given, state };
  const left = openIds.filter((one) => one !== ended);
  return { callId: ended[1], state: left.length === 0 ? rest : { ...rest, openIds: left } };
}

// --- internal ---

/** Ids that count are short and few. */
const REMEMBERED_IDS = 500;
