import { LABEL, type LabelKey, labels, raw, sumBy } from "./promql.ts";
import type { Group, RecordingRule } from "./rules.ts";
import { type Growth, LEAST_MACHINES, SURE_FOR_ALERTS, VERSION_MEASURES } from "./versions.ts";

/** By how much a new version of an agent does worse than the ones before, only where that is no accident. */
export const versionGroup = (): Group<RecordingRule> => ({
  name: "openhook-versions",
  interval: "1h",
  remark:
    "Versions of an agent that no machine had a week ago, compared with the ones before. Sums are those of all their turns: a machine's counters of a version begin at 0, and end a week after its last turn. The error of a change comes from how much machines differ.",
  rules: [
    ...METRICS.map(([metric, more]) => ({
      record: sums(metric),
      expr: sumBy([...VERSION, "machine", ...more], `last_over_time(${raw(`openhook.version.${metric}`)}[7d])`),
    })),
    {
      record: "openhook:version_is_new",
      expr: `group by (${labels(VERSION)}) (${sums("turn.count")}) unless group by (${labels(VERSION)}) (last_over_time(${raw("openhook.version.turn.count")}[7d] offset 7d))`,
    },
    ...VERSION_MEASURES.flatMap(({ title, part, whole }) =>
      [part, whole].flatMap((sumOf, index) => {
        const named = { [LABEL.measure]: title, [LABEL.part]: index === 0 ? "part" : "whole" };
        return [
          { record: NEW, expr: `${sumOf(growth([...VERSION, "machine"], `and ${IS_NEW}`))}`, labels: named },
          { record: OLD, expr: `${sumOf(growth([...AGENT, "machine"], `unless ${IS_NEW}`))}`, labels: named },
        ];
      }),
    ),
    { record: `${NEW}:influence`, expr: influence(NEW, VERSION) },
    { record: `${OLD}:influence`, expr: influence(OLD, AGENT) },
    {
      record: "openhook:version_change:log",
      expr: `${log(NEW, VERSION)} - on (${labels([...AGENT, "measure"])}) group_left () ${log(OLD, AGENT)}`,
    },
    { record: "openhook:version_change:error", expr: ERROR },
    {
      record: "openhook:version_worse:ratio",
      expr: [
        `exp(openhook:version_change:log > ${SURE_FOR_ALERTS.toFixed(2)} * openhook:version_change:error) - 1 > ${LEAST_CHANGE}`,
        `count by (${labels([...VERSION, "measure"])}) (${NEW}{${WHOLE}} > 0) >= ${LEAST_MACHINES}`,
        `on (${labels([...AGENT, "measure"])}) count by (${labels([...AGENT, "measure"])}) (${OLD}{${WHOLE}} > 0) >= ${LEAST_MACHINES}`,
        `on (${labels(VERSION)}) ${sumBy(VERSION, sums("turn.count"))} >= ${LEAST_TURNS}`,
      ].join(" and "),
    },
  ],
});

// --- internal ---

const AGENT: readonly LabelKey[] = ["environment", "agent"];
const VERSION: readonly LabelKey[] = [...AGENT, "sourceVersion"];

const METRICS: readonly (readonly [Parameters<Growth>[0], readonly LabelKey[]])[] = [
  ["turn.count", []],
  ["cost.usage", []],
  ["tool.call.count", ["toolStatus"]],
  ["token.usage", ["tokenType"]],
];

/** A smaller change is not worth a message. */
const LEAST_CHANGE = 0.25;
const LEAST_TURNS = 100;

const [NEW, OLD] = ["openhook:version_new", "openhook:version_old"] as const;
const IS_NEW = `on (${labels(VERSION)}) openhook:version_is_new`;
const PART = `${LABEL.part}="part"`;
const WHOLE = `${LABEL.part}="whole"`;

const sums = (metric: Parameters<Growth>[0]): string => `openhook:version_${metric.replaceAll(".", "_")}:7d`;

/** Sums of the new versions, or of the others. */
const growth =
  (by: readonly LabelKey[], which: string): Growth =>
  (metric, more = "") =>
    sumBy(by, `${sums(metric)}${more === "" ? "" : `{${more}}`} ${which}`);

/** By how much each machine moves the logarithm of a ratio: its share of the part, less its share of the whole. */
function influence(record: string, by: readonly LabelKey[]): string {
  const share = (which: string): string =>
    `${record}{${which}} / on (${labels([...by, "measure"])}) group_left () (${sumBy([...by, "measure"], `${record}{${which}}`)} > 0)`;
  return sumBy([...by, "measure", "machine"], `${share(PART)} or -1 * ${share(WHOLE)}`);
}

const log = (record: string, by: readonly LabelKey[]): string => {
  const total = (which: string): string => `(${sumBy([...by, "measure"], `${record}{${which}}`)} > 0)`;
  return `ln(${total(PART)} / ${total(WHOLE)})`;
};

/** Of new less old, for each machine and then squared: what is special about a machine with both cancels out. */
const ERROR = ((): string => {
  const [both, version] = [labels([...AGENT, "measure"]), [...VERSION, "measure"] as const];
  const squares = sumBy(version, `${NEW}:influence ^ 2`);
  const shared = sumBy(version, `${NEW}:influence * on (${both}, ${LABEL.machine}) group_left () ${OLD}:influence`);
  return `sqrt(${squares} - 2 * (${shared} or 0 * ${squares}) + on (${both}) group_left () sum by (${both}) (${OLD}:influence ^ 2))`;
})();
