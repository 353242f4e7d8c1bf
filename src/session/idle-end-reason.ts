import type { SessionEndReason } from "../model/envelope.ts";
import type { SettledTurn, Turn } from "../model/session.ts";

/**
 * Why a segment ended whose agent has no word for that: as its last turn did. Without a turn that ended, all that is known is
 * that it went silent.
 *
 * @param turns those that were settled before too; of any segment
 */
export function idleEndReason(segment: number, turns: readonly (Turn | SettledTurn)[]): SessionEndReason {
  const last = turns
    .filter((turn) => turn.segment === segment)
    .reduce<Turn | SettledTurn | undefined>((a, b) => (a !== undefined && isLater(a, b) ? a : b), undefined);
  return last === undefined ? "timeout" : REASONS[last.state];
}

// --- internal ---

const REASONS = {
  ended: "completed",
  failed: "error",
  interrupted: "user_exit",
  unfinished: "timeout",
  open: "timeout",
} as const satisfies Record<Turn["state"], SessionEndReason>;

/** By what was heard of them last. What comes late of a turn is a further part, which does not end, and takes nothing back. */
function isLater(a: Turn | SettledTurn, b: Turn | SettledTurn): boolean {
  const hasEnded = (turn: Turn | SettledTurn): number => (REASONS[turn.state] === "timeout" ? 0 : 1);
  return (a.endMs - b.endMs || hasEnded(a) - hasEnded(b) || a.startMs - b.startMs) > 0;
}
