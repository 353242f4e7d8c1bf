import { plural } from "#kit/text/figures.ts";
import { turnNumbers } from "../../explain-money.ts";
import type { Material, Rule } from "../insight.ts";
import { Tally } from "../tally.ts";

/**
 * Turns that ended with an error, and turns that the user interrupted, with all their calls. A turn whose end is not known counts as
 * neither. Source: the state of the turn as the agent reports it.
 */
export const failedTurnsRule: Rule = (material) =>
  STATES.flatMap(({ state, verb, advice }) => {
    const { turns, tally } = callsOf(material, state);
    if (tally.calls === 0) return [];
    const text = `${plural(turns, "turn")} ${verb(turns)}, after ${plural(tally.calls, "model call")}.`;
    return [{ subject: state, evidence: "reported", measure: "spent", text, advice, tally }];
  });

// --- internal ---

const STATES = [
  {
    state: "failed",
    verb: () => "ended with an error",
    advice: "Look at their errors in `explain`: an overloaded provider, a limit, or a context that was too long.",
  },
  {
    state: "interrupted",
    verb: (n: number) => (n === 1 ? "was interrupted" : "were interrupted"),
    advice: "Let the agent plan first, and give smaller tasks: what it did until then is paid.",
  },
] as const;

function callsOf({ sessions }: Material, state: (typeof STATES)[number]["state"]) {
  const tally = new Tally();
  let turns = 0;
  for (const session of sessions) {
    const { view, calls } = session;
    const numbers = turnNumbers(view);
    const those = new Set(
      view.turnList.flatMap((turn) => (turn.state === state && !turn.open ? [numbers.get(turn.key) ?? 0] : [])),
    );
    those.delete(0);
    const found = new Set<number>();
    for (const placed of calls) {
      if (!those.has(placed.turn)) continue;
      found.add(placed.turn);
      tally.add(session, placed, placed.costNanoUsd);
    }
    turns += found.size;
  }
  return { turns, tally };
}
