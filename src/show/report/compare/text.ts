import { changeOf, dollars, duration, exact, localTime, percentOf, plural, sizeOf } from "#kit/text/figures.ts";
import { type Column, table } from "#kit/text/table.ts";
import { printable, type Terminal, wrapped } from "#kit/text/terminal.ts";
import { type ComparedMeasure, type Comparison, isTested, type NotCompared, type Side } from "./compare.ts";
import { betterOf } from "./json.ts";
import type { Measure } from "./measures.ts";
import { LEVEL, MIN_SESSIONS, RESAMPLES } from "./resample.ts";

/** The answer in one sentence, what is compared, the table, and what limits the figures. */
export function* comparisonLines(comparison: Comparison, terminal: Terminal): Generator<string> {
  const { a, b, measures } = comparison;
  yield* wrapped({ text: "" }, answerOf(comparison), terminal);
  yield "";
  yield* wrapped({ text: "A: " }, sideText(a), terminal);
  yield* wrapped({ text: "B: " }, sideText(b), terminal);
  yield "";
  yield* table(COLUMNS, measures, terminal);
  yield "";
  for (const note of notesOf(comparison)) yield* wrapped({ text: "" }, note, terminal);
}

/** Why nothing can be compared, in one sentence. @param names those that the store has, if a name is unknown */
export function notComparedText({ missing, query, versions }: NotCompared, names: string | undefined): string {
  const known =
    versions.length === 0 ? "none is known" : `known are ${versions.slice(0, MAX_NAMES).map(printable).join(", ")}`;
  const agent = query.agent === undefined ? "an agent" : printable(query.agent);
  if (missing === undefined) return `no two versions of ${agent} with at least ${MIN_SESSIONS} sessions each; ${known}`;
  if (query.by === "version") return `no session of version "${printable(missing)}" of ${agent}; ${known}`;
  return names ?? `no session of ${query.by} "${printable(missing)}" in that time`;
}

/** `costs 38% more per turn`, and `(20% to 51%)` behind it; `undefined` if no difference is shown. */
export function phraseOf({ measure, difference, verdict }: ComparedMeasure) {
  if (verdict !== "less" && verdict !== "more") return undefined;
  const by = difference?.change === undefined ? "" : sizeText(measure, difference.change);
  const bounds = difference?.interval?.map(Math.abs).toSorted((low, high) => low - high);
  const interval =
    bounds === undefined
      ? ""
      : ` (${bounds
          .map((bound) => sizeText(measure, bound))
          .join(" to ")
          .replace(" points to", " to")})`;
  return { text: measure.phrase(by, verdict === "more").replace("  ", " "), interval };
}

// --- internal ---

const MAX_NAMES = 12;

/** `B costs 38% less per turn than A (20% to 51%); no difference shown in …`. */
function answerOf({ query, a, b, measures }: Comparison): string {
  const [nameA, nameB] = [printable(a.name), printable(b.name)];
  const ofB = query.by === "version" && query.agent !== undefined ? `${printable(query.agent)} ${nameB}` : nameB;
  const [first, ...others] = measures.flatMap((one) => phraseOf(one) ?? []);
  const same = measures.flatMap(({ measure, verdict }) => (verdict === "none" ? measure.title : []));
  if (first !== undefined) {
    const lead = `${ofB} ${first.text} than ${nameA}${first.interval}`;
    const more = others.map(({ text, interval }) => `${text}${interval}`);
    const rest = same.length === 0 ? "" : `; no difference shown in ${listed(same)}`;
    return `${[lead, ...more].join("; it ")}${rest}.`;
  }
  if (same.length > 0) return `No difference between ${nameA} and ${ofB} can be shown in ${listed(same)}.`;
  return `Too few sessions to compare ${nameA} and ${ofB} (n = ${a.sessions} and ${b.sessions}): at least ${MIN_SESSIONS} on each side are needed.`;
}

const listed = (texts: readonly string[]): string =>
  texts.length < 2 ? texts.join() : `${texts.slice(0, -1).join(", ")} and ${texts.at(-1)}`;

function sideText({ name, sessions, turns, firstMs, lastMs }: Side): string {
  const [from, to] = [firstMs, lastMs].map((ms) => localTime(ms).slice(0, 10));
  return `${printable(name)}, ${plural(sessions, "session")}, ${plural(turns, "turn")}, ${from === to ? from : `${from} to ${to}`}`;
}

const COLUMNS: readonly Column<ComparedMeasure>[] = [
  { title: "", rank: 9, shrinkTo: 12, cell: ({ measure }) => measure.short ?? measure.title },
  { title: "A", rank: 8, align: "right", cell: ({ measure, a }) => valueText(measure, a.value) },
  { title: "B", rank: 8, align: "right", cell: ({ measure, b }) => valueText(measure, b.value) },
  {
    title: "change",
    rank: 7,
    align: "right",
    cell: ({ measure, difference }) =>
      difference === undefined ? "" : difference.change === undefined ? "?" : changeText(measure, difference.change),
  },
  {
    title: "95% interval",
    rank: 6,
    align: "right",
    cell: ({ measure, difference }) => {
      if (difference === undefined) return "";
      return difference.interval?.map((bound) => changeText(measure, bound)).join(" to ") ?? "?";
    },
  },
  { title: "n", rank: 6, align: "right", cell: ({ a, b }) => `${a.sessions}/${b.sessions}` },
  {
    title: "shown",
    rank: 5,
    cell: verdictText,
    style: (one) => {
      const isBetter = betterOf(one);
      return isBetter === null ? undefined : isBetter ? "green" : "red";
    },
  },
];

function verdictText(one: ComparedMeasure): string {
  const { verdict } = one;
  if (verdict === "none") return "no";
  if (verdict === "few") return "too few";
  if (verdict === "unknown") return "unknown";
  const isBetter = betterOf(one);
  return isBetter === null ? verdict : isBetter ? "better" : "worse";
}

function valueText({ unit }: Measure, value: number | undefined): string {
  if (value === undefined) return "?";
  switch (unit) {
    case "nano_usd":
      return dollars(value);
    case "ms":
      return duration(value);
    case "share":
      return value < 0.1 ? `${(value * 100).toFixed(1)}%` : percentOf(value);
    default:
      return value.toFixed(1);
  }
}

/** `-33%`, `+10`: of shares in points. */
const changeText = ({ unit }: Measure, change: number): string => changeOf(change, unit === "share" ? "" : "%");

/** `33%`, `10 points`. */
const sizeText = ({ unit }: Measure, change: number): string =>
  `${sizeOf(change)}${unit === "share" ? " points" : "%"}`;

function* notesOf({ query, a, b, measures, leftOut }: Comparison): Generator<string> {
  const from = query.sinceMs === undefined ? "" : ` since ${localTime(query.sinceMs).slice(0, 16)}`;
  const to = query.untilMs === undefined ? "" : ` until ${localTime(query.untilMs).slice(0, 16)}`;
  const only = [query.by === "version" ? undefined : query.agent, query.repository].flatMap((name) => name ?? []);
  const which = from + to === "" ? "all sessions" : `sessions that began${from}${to}`;
  yield `${[which, ...only.map(printable)].join(" · ")}; change: of B from A, of shares in points`;
  if (a.withoutCost + b.withoutCost > 0)
    yield `cost is not, or not wholly, known of ${a.withoutCost} (A) and ${b.withoutCost} (B) sessions: they are left out of it`;
  if (leftOut.mixed > 0) yield `${plural(leftOut.mixed, "session")} used both models and count for the cache only`;
  if (leftOut.helper > 0)
    yield `${plural(leftOut.helper, "session")} made most calls with another model and count for the cache only`;
  if (leftOut.resumed > 0)
    yield `${plural(leftOut.resumed, "session was", "sessions were")} resumed, perhaps with another version, and left out`;
  const tested = measures.filter(isTested).length;
  if (measures.some(({ verdict }) => verdict === "few"))
    yield `too few: at least ${MIN_SESSIONS} sessions with the figure on each side are needed`;
  if (tested > 0)
    yield `shown: at most ${LEVEL * 100}% of ${exact(RESAMPLES)} random divisions of the sessions differ as much, corrected for ${plural(tested, "measure")}; method and limits: docs/compare.md`;
}
