import type { CallSums } from "#core/model/model-call.ts";
import { costText, count, duration, percentOf, plural, tokensText } from "#kit/text/figures.ts";
import { bar, type Column, roomBeside, table } from "#kit/text/table.ts";
import { printable, type Terminal } from "#kit/text/terminal.ts";
import { missSums } from "../cache-misses.ts";
import type { Explanation } from "../explain.ts";
import type { TimePart, TimeSpent } from "../explain-time.ts";
import { describeCause } from "../finding.ts";
import { EVIDENCE, extraCostText, missTitle } from "../findings-cache.ts";
import { isWait } from "../native/notes.ts";
import { type NativeSums, nativeSums } from "../native/sums.ts";
import { toolTitle } from "../titles.ts";

/** The parts of the session's time, in a fixed order; their sum is the whole. */
export function* timeTable({ time, money, habits, view }: Explanation, terminal: Terminal): Generator<string> {
  if (time === undefined) return;
  const wholeMs = time.endMs - time.startMs;
  const named = (key: "toolMs" | "heldMs"): string =>
    time.tools
      .toSorted((x, y) => y[key] - x[key])
      .slice(0, 3)
      .flatMap((tool) => (tool[key] > 0 ? [`${printable(toolTitle(tool.name))} ${duration(tool[key])}`] : []))
      .join(", ");
  const turns = view.turnList.filter(({ origin }) => origin === "human" || origin === "machine").length;
  const slowest = habits.slowest.find(({ kind }) => kind === "model");
  const details: Readonly<Record<TimePart, string>> = {
    model: `${plural(money.total.modelCalls, "call")}${slowest === undefined ? "" : slowestText(slowest.ms, time.parts.model)}${firstTokenText(nativeSums(view))}`,
    tool: named("toolMs"),
    held: [named("heldMs"), ...permissionText(time)].join("; "),
    agent: time.isModelTimed ? "in a turn, no model or tool running" : "in a turn, including the model",
    user: turns === 0 ? "there was no turn" : `outside of ${plural(turns, "turn")}`,
    away: `between ${view.segments.length} stretches`,
  };
  const parts: readonly TimePart[] = time.isModelTimed
    ? ["model", "tool", "held", "agent", "user", "away"]
    : ["tool", "held", "agent", "user", "away"];
  const rows: readonly Row[] = parts
    .filter((part) => time.parts[part] > 0)
    .map((part) => ({
      what: PART_TITLES[part],
      share: wholeMs === 0 ? 0 : time.parts[part] / wholeMs,
      figures: [duration(time.parts[part])],
      detail: details[part],
    }));
  // The session has no duration
  if (rows.length === 0) return;
  yield* drawn(["", `${duration(wholeMs)} in all`, "time"], rows, terminal);
}

/** Where the money went. Each group divides the same total in another way. */
export function* moneyTable({ money }: Explanation, terminal: Terminal): Generator<string> {
  const { total } = money;
  const measure = total.costNanoUsd === undefined ? tokensIn : (sums: CallSums) => sums.costNanoUsd;
  const whole = measure(total) ?? 0;
  const shareOf = (part: number | undefined): number | undefined =>
    part === undefined || whole === 0 ? part : part / whole;
  const row = (what: string, sums: CallSums): Row => ({
    what,
    share: shareOf(measure(sums)),
    figures: [costText(sums), tokensText(sums)],
    detail: sums.modelCalls === 0 ? "" : plural(sums.modelCalls, "call"),
  });
  /** The largest parts of one grouping; a single part that is the whole is left out. */
  const cut = <T>(
    group: string,
    all: readonly { readonly part: T; readonly sums: CallSums }[],
    most: number,
    name: (part: T) => string,
    least = 2,
  ): readonly Row[] =>
    all.length < least
      ? []
      : all
          .toSorted((a, b) => (measure(b.sums) ?? 0) - (measure(a.sums) ?? 0))
          .slice(0, most)
          .map(({ part, sums }, i) => ({ ...row(name(part), sums), group: i === 0 ? group : "" }));
  const cuts: readonly Row[] = [
    ...cut("turn", money.turns, 3, (turn) => (turn === 0 ? "none" : String(turn))),
    ...cut("model", money.models, 2, (model) => printable(model ?? "(unnamed)")),
    ...cut("thread", money.threads, 3, (thread) =>
      thread.subagent ? `subagent${thread.type === undefined ? "s" : ` ${printable(thread.type)}`}` : "main",
    ),
    ...cut("after", money.causes, 3, describeCause),
    ...cut("MCP", money.mcpServers, 2, printable, 1),
  ];
  // A single call has no parts but a cost
  const rows = cuts.length > 0 ? cuts : cut("after", money.causes, 1, describeCause, 1);
  if (rows.length === 0) return;
  yield* drawn(
    ["by", total.costNanoUsd === undefined ? "cost unknown" : `${costText(total)} in all`, "cost", "tokens"],
    rows,
    terminal,
  );
}

/** What was paid because the cache was not read, by cause; nothing if only subagents began. */
export function* cacheTable({ cacheMisses }: Explanation, terminal: Terminal): Generator<string> {
  const sums = missSums(cacheMisses);
  if (sums.every(({ cause }) => cause === "subagent")) return;
  const tokens = sums.reduce((sum, one) => sum + one.tokens, 0);
  const rows = sums.map(
    (sum): Row => ({
      what: missTitle(sum.cause),
      share: sum.tokens / tokens,
      figures: [extraCostText(sum), count(sum.tokens)],
      detail: [plural(sum.calls, "call"), EVIDENCE[sum.evidence]].filter((text) => text !== "").join(", "),
    }),
  );
  yield* drawn(["", "not from the cache", "more", "tokens"], rows, terminal);
}

// --- internal ---

/** A call can run beside tools or outside turns and then take longer than the time spent waiting for the model. */
const slowestText = (ms: number, waitedMs: number): string =>
  ms <= waitedMs ? `, slowest ${duration(ms)}` : `; the slowest took ${duration(ms)}, not all of it waited for`;

const permissionText = ({ permissionMs = 0 }: TimeSpent): readonly string[] =>
  !isWait({ permissionMs }) ? [] : [`${duration(permissionMs)} for your permission`];
const firstTokenText = (sums: NativeSums | undefined): string =>
  sums?.firstTokenMs === undefined ? "" : `, first token after ${duration(sums.firstTokenMs)}`;

interface Row {
  /** The group's title; on its first row only. */
  readonly group?: string;
  readonly what: string;
  /** Of the whole, 0 to 1; `undefined` if its figure is unknown. */
  readonly share: number | undefined;
  readonly figures: readonly string[];
  readonly detail: string;
}

const PART_TITLES: Readonly<Record<TimePart, string>> = {
  model: "waiting for the model",
  tool: "tools",
  held: "tools waiting",
  agent: "between calls",
  user: "waiting for you",
  away: "session closed",
};

const tokensIn = (sums: CallSums): number | undefined => sums.input;

const MAX_BAR = 16;
const MIN_BAR = 8;

/** @param titles of the columns; the bars come before the last column, which has no title */
function* drawn(titles: readonly string[], rows: readonly Row[], terminal: Terminal): Generator<string> {
  const [group = "", what = "", ...figures] = titles;
  const isGrouped = rows.some((row) => row.group !== undefined);
  const columns: readonly Column<Row>[] = [
    { title: group, rank: 11, cell: (row) => row.group ?? "", style: () => "dim" },
    { title: what, rank: 10, ...(isGrouped && { shrinkTo: 14 }), cell: (row) => row.what },
    ...figures.map(
      (of, i): Column<Row> => ({
        title: of,
        rank: i === 0 ? 9 : 5,
        align: "right",
        cell: (row) => row.figures[i] ?? "",
      }),
    ),
    { title: "share", rank: 7, align: "right", cell: ({ share }) => (share === undefined ? "?" : percentOf(share)) },
    { title: "", rank: 3, ...(!isGrouped && { shrinkTo: 24 }), cell: ({ detail }) => detail },
  ];
  const width = Math.min(MAX_BAR, Math.max(MIN_BAR, roomBeside(columns, rows, terminal)));
  const bars: Column<Row> = {
    title: "",
    rank: 6,
    cell: ({ share = 0 }) => bar(share, width).padEnd(width),
    style: () => "cyan",
  };
  yield* table([...columns.slice(0, -1), bars, ...columns.slice(-1)], rows, terminal);
}
