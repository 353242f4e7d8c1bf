import type { SessionEndReason } from "../model/envelope.ts";
import type { SettledTurn, Turn } from "../model/session.ts";

/**
 * The end reason of a segment whose agent never reports an end: the outcome of its last turn, or `timeout` if no turn ended.
 *
 * @param turns turns of any segment, settled ones included
 */
export function idleEndReason(segment: number, turns: readonly (Turn | SettledTurn)[]): SessionEndReason {
  const last = turns
    .filter((turn) => turn.segment === segment)
    .reduce<Turn | SettledTurn | undefined>((a, b) => (a !== undefined && isLater(a, b) ? a : b), undefined);
  return last === undefined ? "timeout" : END_REASONS[last.state];
}

/** By the state of a segment's last turn. */
export const END_REASONS = {
  ended: "completed",
  failed: "error",
  interrupted: "user_exit",
  unfinished: "timeout",
  open: "timeout",
} as const satisfies Record<Turn["state"], SessionEndReason>;

// --- internal ---

/** Compares by last activity. A turn that ended comes after one that did not, so a late continuation keeps the outcome. */
function isLater(a: Turn | SettledTurn, b: Turn | SettledTurn): boolean {
  const hasEnded = (turn: Turn | SettledTurn): number => (END_REASONS[turn.state] === "timeout" ? 0 : 1);
  return (a.endMs - b.endMs || hasEnded(a) - hasEnded(b) || a.startMs - b.startMs) > 0;
}
