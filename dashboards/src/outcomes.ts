import type { Builder } from "@grafana/grafana-foundation-sdk/cog";
import type { Panel } from "@grafana/grafana-foundation-sdk/dashboard";
import { type Link, put, toSessions } from "./links.ts";
import { orZero } from "./measures.ts";
import { lines, stat, table, UNIT } from "./panels.ts";
import { exact, LABEL, type LabelKey, labels, ratio, raw, sumBy } from "./promql.ts";
import { matching } from "./variables.ts";

/** What became of the agents' commits. Needs `openhook-otel outcomes` on the machines, which drains run once a day. */
export const outcomes = {
  commits: (): Builder<Panel> =>
    stat({
      title: "Commits",
      description: "Commits that sessions led to, observed and inferred ones, each counted once.",
      todo: "It measures activity, not value: read it together with what was merged and kept.",
      unit: UNIT.count,
      width: 6,
      expr: sumBy([], COMMITS),
    }),
  merged: (): Builder<Panel> =>
    stat({
      title: "Merged",
      description:
        "Commits that reached the default branch in the time range, per commit made in it. Commits are merged later than made, so choose weeks.",
      todo: "If it falls, ask whether pull requests wait for review or are given up.",
      unit: UNIT.share,
      decimals: 0,
      width: 6,
      expr: ratio(orZero(sumBy([], MERGED), sumBy([], COMMITS)), sumBy([], COMMITS)),
    }),
  /** @param more how it looks on another dashboard */
  costPerMerged: (
    more: { readonly width?: number; readonly height?: number; readonly links?: readonly Link[] } = {},
  ): Builder<Panel> =>
    stat({
      title: "Cost per merged change",
      description:
        "List price of all model calls in the time range, divided by the branches, with or without a pull request, that git showed to be merged in it.",
      todo: "If it rises, look at the table below: one repository, or one agent, usually explains it.",
      unit: UNIT.usd,
      decimals: 2,
      width: 6,
      noValue: "nothing merged",
      expr: `${sumBy([], COST)} / (${sumBy([], CHANGES)} > 0)`,
      ...more,
    }),
  kept: (): Builder<Panel> =>
    stat({
      title: "Lines kept for 30 days",
      description: "Of the lines in merged commits, the share that was unchanged 30 days after the merge.",
      todo: "If it falls, read what was reworked or reverted before agents do more of it.",
      unit: UNIT.share,
      decimals: 0,
      width: 6,
      noValue: "not known yet",
      expr: keptShare("30", []),
    }),
  byRepository: (): Builder<Panel> =>
    table({
      title: "By repository and agent",
      description:
        "Commits, what was merged and reverted, and its cost. A change is a branch of which git has all known commits on the default branch. Rows with fewer machines than “At least” are not shown, so that none is one person's.",
      todo: "Compare a repository with its own past: cost per merged change depends on the work.",
      width: 14,
      height: 9,
      noValue: "no repository with enough machines",
      by: [
        ["repository", "Repository"],
        ["agent", "Agent"],
      ],
      columns: [
        { name: "Commits", expr: shown(COMMITS), unit: UNIT.count, noValue: "–" },
        { name: "Merged", expr: shown(MERGED), unit: UNIT.count, noValue: "–" },
        { name: "Reverted", expr: orZero(shown(REVERTED), shown(MERGED)), unit: UNIT.count, noValue: "–" },
        { name: "Merged changes", expr: shown(CHANGES), unit: UNIT.count, noValue: "–" },
        { name: "Cost", expr: shown(COST), unit: UNIT.usd, decimals: 2, noValue: "unknown" },
        {
          name: "Cost per merged change",
          expr: `${shown(COST)} / (${shown(CHANGES)} > 0)`,
          unit: UNIT.usd,
          decimals: 2,
          noValue: "–",
        },
      ],
      sortBy: "Cost",
      links: [
        toSessions("Sessions of this repository and agent", {
          repository: put("__data.fields.Repository"),
          agent: put("__data.fields.Agent"),
        }),
      ],
    }),
  survival: (): Builder<Panel> =>
    lines({
      title: "Lines that are kept",
      description:
        "Of the lines in merged commits whose age was reached in the seven days before each point, the share that was unchanged.",
      todo: "A gap between one day and 30 days is rework: see which repositories in `openhook-otel outcomes`.",
      unit: UNIT.share,
      decimals: 0,
      width: 10,
      height: 9,
      max: 1,
      queries: AGES.map(([days, legend]) => ({ expr: keptShare(days, [], "7d"), legend })),
    }),
} as const;

// --- internal ---

const AGES = [
  ["1", "after 1 day"],
  ["7", "after 7 days"],
  ["30", "after 30 days"],
] as const;

const WORK: readonly LabelKey[] = ["repository", "agent"];

const chosen = (metric: string, more = ""): string =>
  `${raw(metric)}{${[matching("agent", "environment", "repository"), more].filter((part) => part !== "").join(", ")}}`;

const COMMITS = exact(chosen("openhook.commit.count"));
const COST = exact(chosen("openhook.cost.usage"));
const fate = (one: string): string => exact(chosen("openhook.commit.fate.count", `${LABEL.commitFate}="${one}"`));
const MERGED = fate("merged");
const REVERTED = fate("reverted");
/** Merged ones. */
const CHANGES = exact(chosen("openhook.change.merged.count"));

const MACHINES = `count by (${labels(WORK)}) (${sumBy(["machine", ...WORK], exact(chosen("openhook.turn.count")))} > 0)`;

/** Only where enough machines work in the repository with the agent. */
const shown = (what: string): string => `(${sumBy(WORK, what)} and on (${labels(WORK)}) (${MACHINES} >= $cohort))`;

/** Lines of an age that were kept, as a share of all of that age. */
function keptShare(days: string, by: readonly LabelKey[], range?: string): string {
  const of = (more: string): string =>
    sumBy(by, exact(chosen("openhook.commit.lines", `${LABEL.lineAge}="${days}"${more}`), range));
  return ratio(orZero(of(`, ${LABEL.lineFate}="kept"`), of("")), of(""));
}
