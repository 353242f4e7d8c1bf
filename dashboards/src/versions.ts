import type { Panels } from "./dashboard.ts";
import { orZero } from "./measures.ts";
import { type Column, table, UNIT } from "./panels.ts";
import { exact, LABEL, type LabelKey, ratio, raw, sumBy } from "./promql.ts";
import { matching } from "./variables.ts";

/** A ratio of two counters, by which versions of an agent are compared. More is worse. */
export interface VersionMeasure {
  readonly title: string;
  readonly part: (growth: Growth) => string;
  readonly whole: (growth: Growth) => string;
  /** How it is shown. */
  readonly as: Pick<Column, "unit" | "decimals" | "noValue">;
}
/** How much a counter has grown, summed by what the caller needs. @param metric without `openhook.version.` */
export type Growth = (metric: "turn.count" | "cost.usage" | "tool.call.count" | "token.usage", more?: string) => string;

export const VERSION_MEASURES: readonly VersionMeasure[] = [
  {
    title: "Cost per turn",
    part: (growth) => growth("cost.usage"),
    whole: (growth) => growth("turn.count"),
    as: { unit: UNIT.usd, decimals: 3, noValue: "unknown" },
  },
  {
    title: "Failed tool calls",
    part: (growth) => orZero(growth("tool.call.count", `${LABEL.toolStatus}="error"`), growth("tool.call.count")),
    whole: (growth) => growth("tool.call.count"),
    as: { unit: UNIT.share, decimals: 1, noValue: "–" },
  },
  {
    title: "Input not from the cache",
    part: (growth) => `(${tokens(growth, "input")} - ${tokens(growth, "cache_read")})`,
    whole: (growth) => tokens(growth, "input"),
    as: { unit: UNIT.share, decimals: 1, noValue: "not reported" },
  },
];

/** Fewer machines show nothing: a single one could decide. */
export const LEAST_MACHINES = 10;

/** An alert is evaluated again and again, so it needs more standard errors than a table. */
export const SURE_FOR_ALERTS = 5 * few();

/** Two versions of an agent beside each other, and whether they differ. */
export const versions = (): Panels => [
  table({
    title: "Two versions",
    description:
      "The two versions that are chosen above, at first those with the highest numbers, in this time range. Cost is that of calls with a known price, input that of calls that report cache reads. A turn counts for the version that its session had when it ended.",
    todo: "Look at turns and machines first: few of them say little, whatever the other figures are.",
    width: 13,
    height: 6,
    noValue: "no turns of these versions",
    by: [["sourceVersion", "Version"]],
    columns: [
      { name: "Turns", expr: byVersion("turn.count"), unit: UNIT.count },
      {
        name: "Machines",
        expr: `count by (${LABEL.sourceVersion}) (${sumBy(["sourceVersion", "machine"], ofBoth("turn.count"))} > 0)`,
        unit: UNIT.count,
      },
      ...VERSION_MEASURES.map(({ title, part, whole, as }) => ({
        name: title,
        expr: ratio(part(byVersion), whole(byVersion)),
        ...as,
      })),
    ],
    sortBy: "Version",
  }),
  table({
    title: "What the difference shows",
    description: `Whether the first version has more or less than the second one. Shown only if both ran on at least ${LEAST_MACHINES} machines, and if the difference is more than ${SURE} times its standard error, which comes from how much machines differ from each other. It does not say that the version is the reason: other work, settings and models of the same days count too.`,
    todo: "“No difference can be shown” is the usual answer, and does not mean that there is none. On one machine, `openhook-otel compare` compares sessions.",
    width: 11,
    height: 6,
    noValue: "no turns of both versions",
    by: [["sourceVersion", "Version"]],
    columns: VERSION_MEASURES.map((measure) => ({
      name: measure.title,
      expr: `label_replace(${verdict(measure)}, "${LABEL.sourceVersion}", "${NEWER}", "", "")`,
      unit: UNIT.count,
      noValue: "–",
      texts: [
        [1, "more", "orange"],
        [-1, "less", "green"],
        [0, "no difference can be shown", "text"],
      ],
    })),
    sortBy: "Version",
  }),
];

// --- internal ---

/** Standard errors; decision 0080 has the share of made-up teams without a difference that reach them. */
const SURE = 4;
/** How much larger the standard error is than the root of the sum of squares: √(n / (n - 1)), which is most for the fewest machines. */
function few(): number {
  return Math.sqrt(LEAST_MACHINES / (LEAST_MACHINES - 1));
}

/** Variables of the dashboard. */
const [NEWER, OLDER] = ["$version", "$before"] as const;
const BY_MACHINE: readonly LabelKey[] = ["sourceVersion", "machine"];

const tokens = (growth: Growth, type: "input" | "cache_read"): string =>
  growth("token.usage", `${LABEL.tokenType}="${type}"`);

const of =
  (version: string): Growth =>
  (metric, more = "") => {
    const which = [`${LABEL.agent}="$compared"`, matching("environment"), `${LABEL.sourceVersion}="${version}"`, more];
    return exact(`${raw(`openhook.version.${metric}`)}{${which.filter((matcher) => matcher !== "").join(", ")}}`);
  };

const summed =
  (by: readonly LabelKey[], growth: Growth): Growth =>
  (metric, more) =>
    sumBy(by, growth(metric, more));

const ofBoth: Growth = (...what) => `(${of(NEWER)(...what)} or ${of(OLDER)(...what)})`;
const byVersion = summed(["sourceVersion"], ofBoth);

/** 1: more, -1: less, 0: no difference can be shown. */
function verdict(measure: VersionMeasure): string {
  const logOf = (version: string): string => {
    const growth = summed([], of(version));
    return `ln((${measure.part(growth)} > 0) / (${measure.whole(growth)} > 0))`;
  };
  const enough = (version: string): string =>
    `count(${measure.whole(summed(BY_MACHINE, of(version)))} > 0) >= ${LEAST_MACHINES}`;
  // What is special about a machine with both versions cancels out
  const moved = sumBy(["machine"], `${influence(measure, NEWER)} or -1 * ${influence(measure, OLDER)}`);
  const sure = `${(SURE * few()).toFixed(2)} * sqrt(sum(${moved} ^ 2))`;
  // Below one half, round() is 0
  const result = `clamp(round(0.5 * (${logOf(NEWER)} - ${logOf(OLDER)}) / (${sure})), -1, 1)`;
  return `(${result} and ${enough(NEWER)} and ${enough(OLDER)} or 0 * (${[NEWER, OLDER].map((version) => measure.whole(summed([], of(version)))).join(" + ")}))`;
}

/** By how much each machine moves the logarithm of a version's ratio: its share of the part, less its share of the whole. */
function influence({ part, whole }: VersionMeasure, version: string): string {
  const [x, y] = [part(summed(BY_MACHINE, of(version))), whole(summed(BY_MACHINE, of(version)))];
  const share = (one: string, other: string): string => `${orZero(one, other)} / scalar(sum(${one}))`;
  return `(${share(x, y)} - ${share(y, x)})`;
}
