import type { Agent } from "#core/model/agent.ts";
import type { Subscriptions } from "#core/model/rate-limit.ts";
import { plural, pricelessOf } from "#kit/text/figures.ts";
import { printable } from "#kit/text/terminal.ts";
import { committedBranches } from "#store/committed-branches.ts";
import type { Database } from "#store/database.ts";
import { lowerBounds } from "../call-totals.ts";
import { subscribedAgents } from "../prices.ts";
import { usageByGroupings } from "../usage.ts";
import { NOTHING } from "../usage-facts.ts";
import type { UsageRow } from "../usage-rows.ts";
import { countedSessions } from "../usage-sessions.ts";
import { workOfSessions } from "../work-times.ts";
import {
  type Digest,
  type DigestFigures,
  type DigestUnit,
  firstParts,
  type Part,
  type Period,
  periodBefore,
} from "./digest.ts";

/**
 * The last whole week or month of this machine, from the figures of `report`.
 *
 * @param ownNames names of a person, such as that of the home folder: a repository called so is not named
 */
export function localDigest(
  db: Database,
  agents: readonly Agent[],
  {
    unit,
    nowMs,
    ownNames,
    subscriptions,
  }: {
    readonly unit: DigestUnit;
    readonly nowMs: number;
    readonly ownNames: ReadonlySet<string>;
    readonly subscriptions: Subscriptions;
  },
): Digest {
  const [period, former] = [periodBefore(unit, nowMs, 1), periodBefore(unit, nowMs, 2)];
  const [[total], byRepository = [], byModel = [], byAgent = []] = usageByGroupings(db, { agents }, period, [
    [],
    ["repository"],
    ["model"],
    ["agent"],
  ]).map((rows) => [...rows]) as [UsageRow[], ...UsageRow[][]];
  const [[totalBefore] = []] = usageByGroupings(db, { agents }, former, [[]]);
  const counted = countedSessions(db, { agents }, {});
  const work = workOfSessions(db, { agents }, counted);
  const workIn = ({ sinceMs, untilMs }: Period): number =>
    [...work].reduce((sum, [number, ms]) => {
      const firstMs = counted.get(number)?.firstMs ?? Number.NaN;
      return firstMs >= sinceMs && firstMs < untilMs ? sum + ms : sum;
    }, 0);
  const branches = committedBranches(db);
  const mergedIn = ({ sinceMs, untilMs }: Period): number | undefined => {
    if (!branches.some(({ isKnown }) => isKnown)) return undefined;
    const landed = branches.flatMap(({ merged, landedMs }) =>
      merged === undefined ? [] : (landedMs ?? merged.timeMs),
    );
    return landed.filter((ms) => ms >= sinceMs && ms < untilMs).length;
  };
  const unchecked = branches.filter(
    ({ isKnown, commits }) =>
      !isKnown && commits.some(({ timeMs }) => timeMs >= period.sinceMs && timeMs < period.untilMs),
  ).length;
  const priced = byAgent.flatMap(({ key, calls }) => (calls?.costNanoUsd === undefined ? [] : (key.agent ?? [])));
  return {
    unit,
    of: "this machine",
    period,
    figures: figuresOf(total, workIn(period), mergedIn(period)),
    before: figuresOf(totalBefore, workIn(former), mergedIn(former)),
    repositories: firstParts(partsOf(byRepository, "repository", ownNames), MAX_REPOSITORIES),
    models: firstParts(partsOf(byModel, "model", new Set()), MAX_MODELS),
    unknown: unknownOf(total, unchecked),
    subscribed: subscribedAgents(priced, subscriptions, period.untilMs),
  };
}

export const MAX_REPOSITORIES = 5;
export const MAX_MODELS = 3;

// --- internal ---

function figuresOf(row: UsageRow | undefined, workMs: number, merged: number | undefined): DigestFigures {
  const { calls, turns, tools } = row ?? {};
  const isUnknown = (row?.sessionsWithoutUsage ?? 0) > 0;
  return {
    // No work costs nothing; work without a known cost does not
    ...(row === undefined
      ? { costNanoUsd: 0 }
      : calls?.costNanoUsd !== undefined && { costNanoUsd: calls.costNanoUsd }),
    isCostLeast: calls !== undefined && lowerBounds(calls, isUnknown).costIsLowerBound,
    sessions: row?.sessions ?? 0,
    turns: turns?.turns ?? 0,
    failedTurns: (turns?.failed ?? 0) + (turns?.interrupted ?? 0),
    workMs,
    toolCalls: tools?.calls ?? 0,
    toolErrors: tools?.errors ?? 0,
    ...(merged !== undefined && { merged }),
  };
}

/** Those without a name, and with one of a person, are one. */
function partsOf(
  rows: readonly UsageRow[],
  by: "repository" | "model",
  ownNames: ReadonlySet<string>,
): readonly Part[] {
  const costs = new Map<string, number | undefined>();
  for (const { key, calls } of rows) {
    const name = key[by] ?? "";
    const shown = name === "" || ownNames.has(name) ? UNNAMED[by] : name;
    const cost = calls?.costNanoUsd;
    costs.set(shown, cost === undefined ? costs.get(shown) : (costs.get(shown) ?? 0) + cost);
  }
  return [...costs].map(([name, costNanoUsd]) => ({ name, ...(costNanoUsd !== undefined && { costNanoUsd }) }));
}

const UNNAMED = { repository: "(no repository)", model: "(no model)" } as const;

function unknownOf(row: UsageRow | undefined, unchecked: number): readonly string[] {
  const { calls = NOTHING, sessionsWithoutUsage = 0, agentsWithoutUsage = [] } = row ?? {};
  const agents = agentsWithoutUsage.map(printable).join(", ");
  const parts: readonly (readonly [n: number, text: string])[] = [
    [sessionsWithoutUsage, `the tokens of ${plural(sessionsWithoutUsage, "session")} (${agents})`],
    [calls.callsWithoutUsage, `the tokens of ${plural(calls.callsWithoutUsage, "call")}`],
    [pricelessOf(calls), `the price of ${plural(pricelessOf(calls), "call")}`],
    [calls.incompleteCalls, `the rest of ${plural(calls.incompleteCalls, "answer")} cut short`],
    [unchecked, `what became of ${plural(unchecked, "branch", "branches")}`],
  ];
  return parts.flatMap(([n, text]) => (n > 0 ? text : []));
}
