import { exact, plural } from "#kit/text/figures.ts";
import { printable } from "#kit/text/terminal.ts";
import type { PlacedCall } from "../../explain-money.ts";
import type { Rule } from "../insight.ts";
import type { ReadSession } from "../read-sessions.ts";
import { Tally } from "../tally.ts";

/**
 * The same tool failed for several model calls in a row: the model tried again without anything else in between. What counts are the
 * calls after the second failure. Parallel calls that fail together are one failure. Source: outcomes and order of the calls.
 */
export const failureStreaksRule: Rule = ({ sessions }) => {
  const tally = new Tally();
  const streaks = new Map<string, number>();
  let count = 0;
  for (const session of sessions) {
    for (const { name, calls } of streaksIn(session)) {
      count += 1;
      streaks.set(name, (streaks.get(name) ?? 0) + 1);
      for (const placed of calls.slice(MIN_LENGTH - 1)) tally.add(session, placed, placed.costNanoUsd);
    }
  }
  const [most] = [...streaks].sort(([, a], [, b]) => b - a);
  if (most === undefined) return [];
  const [name, times] = most;
  return [
    {
      subject: "again",
      evidence: "derived",
      measure: "additional",
      text: `A tool failed at least ${MIN_LENGTH} times in a row ${exact(count)} ${count === 1 ? "time" : "times"}, most often ${printable(name)} (${exact(times)}); ${plural(tally.calls, "call")} read the third and later failures.`,
      advice: "Look at the first failure of such a row, and say in the agent's instructions what to do instead.",
      tally,
    },
  ];
};

// --- internal ---

const MIN_LENGTH = 3;

interface Streak {
  readonly name: string;
  /** Those that read one failure each, by time. */
  readonly calls: readonly PlacedCall[];
}

function streaksIn({ calls }: ReadSession): readonly Streak[] {
  const open = new Map<string | undefined, { name: string; calls: PlacedCall[] }>();
  const found: Streak[] = [];
  for (const placed of calls) {
    const thread = placed.call.agentId;
    const name = failedTool(placed);
    const streak = open.get(thread);
    if (name !== undefined && streak?.name === name) {
      streak.calls.push(placed);
      continue;
    }
    if (streak !== undefined) found.push(streak);
    open.delete(thread);
    if (name !== undefined) open.set(thread, { name, calls: [placed] });
  }
  return [...found, ...open.values()].filter((streak) => streak.calls.length >= MIN_LENGTH);
}

/** The tool whose failed results, and no others, a call reads. */
function failedTool({ results }: PlacedCall): string | undefined {
  const [first] = results;
  return first !== undefined && results.every(({ name, status }) => name === first.name && status === "error")
    ? first.name
    : undefined;
}
