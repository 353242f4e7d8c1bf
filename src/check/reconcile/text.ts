import type { Context } from "#config/context.ts";
import { printLines } from "#kit/text/ascii.ts";
import { exact, localTime, plural, preciseDollars } from "#kit/text/figures.ts";
import { type Column, table } from "#kit/text/table.ts";
import { flow, printable, type Style, type Terminal, terminalOf, wrapped } from "#kit/text/terminal.ts";
import type { NativeRow } from "./compare-native.ts";
import { type Difference, KIND_NAME, KINDS } from "./facts.ts";
import type { Report, SessionReport } from "./report.ts";

/** Prints the result: tokens by model, sessions, counters of the machine, and the differences. */
export function printReport(report: Report, context: Context): void {
  printLines(context, lines(report, terminalOf(context)));
}

/** One line for a difference. */
export function differenceText({ between, session, subject, what, left, right }: Difference): string {
  const numbers = left === null && right === null ? "" : `: ${shown(left)} and ${shown(right)}`;
  return printable(`${session === undefined ? "" : `${session}: `}${subject}: ${what}${numbers} (${between})`);
}

// --- internal ---

const MAX_LINES = 20;
const ID_LENGTH = 8;

const shown = (n: number | null | undefined): string =>
  n === null ? "none" : n === undefined ? "?" : Number.isInteger(n) ? exact(n) : String(n);

function* lines(report: Report, terminal: Terminal): Generator<string> {
  yield* flow(
    [
      [{ text: report.what, style: "bold" }],
      [{ text: plural(report.sessions.length, "session") }],
      ...report.backends.map(({ title, url }) => [{ text: printable(`${title} ${url}`) }]),
    ],
    terminal,
  );
  if (report.sessions.length > 0) {
    yield "";
    yield* tokenTable(report, terminal);
    yield "";
    yield* sessionTable(report, terminal);
  }
  if (report.native !== undefined) {
    yield "";
    yield* nativeTable(report.native, terminal);
  }
  if (report.counters !== undefined) {
    yield "";
    yield* counterTable(report.counters, terminal);
  }
  yield "";
  yield* list("?", "yellow", report.unknown, terminal);
  yield* list("·", "dim", report.remarks, terminal);
  yield* list(
    "✗",
    "red",
    report.differences.map((difference, i) => `${i === 0 ? "first difference: " : ""}${differenceText(difference)}`),
    terminal,
  );
  yield* verdict(report, terminal);
}

function* verdict({ differences, unknown, compared }: Report, terminal: Terminal): Generator<string> {
  const open = unknown.length === 0 ? "" : `; ${unknown.length} unknown`;
  if (differences.length > 0) {
    yield* wrapped({ text: "" }, `${plural(differences.length, "difference")} found${open}`, terminal);
  } else if (compared === 0) yield* wrapped({ text: "" }, `nothing could be compared${open}`, terminal);
  else yield* wrapped({ text: "" }, `everything that can be compared agrees${open}`, terminal);
}

function* list(mark: string, style: Style, all: readonly string[], terminal: Terminal): Generator<string> {
  for (const line of all.slice(0, MAX_LINES)) yield* wrapped({ text: `${mark} `, style }, printable(line), terminal);
  if (all.length > MAX_LINES) {
    yield* wrapped({ text: `${mark} `, style }, `and ${all.length - MAX_LINES} more: --json lists all`, terminal);
  }
}

interface Line {
  readonly name: string;
  readonly kind: string;
  readonly cells: readonly string[];
  readonly isWrong: boolean;
}

const isUneven = (values: readonly (number | undefined)[]): boolean => {
  const known = values.filter((value) => value !== undefined);
  return known.some((value) => value !== known[0]);
};

function* tokenTable(report: Report, terminal: Terminal): Generator<string> {
  const { transcripts, known, stored, delivered } = report.totals;
  const sources = [
    ["transcripts", known],
    ["store", stored],
    ["in spans", delivered],
    ...report.totals.traces.map(({ title, sums }) => [title, sums] as const),
  ] as const;
  const models = [...new Set(sources.flatMap(([, sums]) => [...(sums?.byModel.keys() ?? [])]))].sort();
  const rows = models.flatMap((model) =>
    KINDS.flatMap((kind): Line[] => {
      const values = sources.map(([, sums]) => sums?.of(model, kind));
      if (values.every((value) => value === undefined)) return [];
      const cells = sources.map(([, sums], i) => (sums === undefined ? "?" : shown(values[i] ?? undefined)));
      // Unknown for some sessions: a lower bound, not compared
      if (transcripts === undefined) cells[0] = values[0] === undefined ? "?" : `${cells[0]} + ?`;
      const comparable = transcripts === undefined ? values.slice(1) : values;
      return [{ name: printable(model), kind: KIND_NAME[kind], cells, isWrong: isUneven(comparable) }];
    }),
  );
  yield* table(
    columnsOf(
      "model",
      sources.map(([title]) => title),
      rows,
    ),
    rows,
    terminal,
  );
}

const columnsOf = (name: string, titles: readonly string[], _: readonly Line[]): readonly Column<Line>[] => [
  { title: name, rank: 10, shrinkTo: 12, cell: (row) => row.name },
  { title: "tokens", rank: 9, cell: (row) => row.kind },
  ...titles.map(
    (title, i): Column<Line> => ({
      title,
      rank: 8 - i,
      align: "right",
      cell: (row) => row.cells[i] ?? "",
      style: (row) => (row.isWrong ? "red" : undefined),
    }),
  ),
];

function* sessionTable({ sessions, totals }: Report, terminal: Terminal): Generator<string> {
  const columns: readonly Column<SessionReport>[] = [
    { title: "started", rank: 6, cell: ({ startMs }) => localTime(startMs).slice(0, 16) },
    { title: "session", rank: 10, cell: ({ source, id }) => printable(`${source}/${id.slice(0, ID_LENGTH)}`) },
    {
      title: "calls",
      rank: 5,
      align: "right",
      cell: ({ calls }) =>
        calls.reported === calls.stored ? exact(calls.stored) : `${shown(calls.reported)}/${calls.stored}`,
    },
    { title: "spans", rank: 8, align: "right", cell: ({ spans }) => exact(spans.stored) },
    { title: "delivered", rank: 7, align: "right", cell: ({ spans }) => shown(spans.delivered) },
    ...totals.traces.map(
      ({ title }, i): Column<SessionReport> => ({
        title,
        rank: 4 - i,
        align: "right",
        cell: ({ spans }) => shown(spans.found[i]),
      }),
    ),
    {
      title: "",
      rank: 9,
      cell: ({ verdict: word }) => word,
      style: ({ verdict: word }) => STYLE[word],
    },
  ];
  yield* table(columns, sessions, terminal);
}

/** One row for each session and model; where the two differ, the store's figure is first. */
function* nativeTable(rows: readonly NativeRow[], terminal: Terminal): Generator<string> {
  if (rows.length === 0) yield* wrapped({ text: "" }, "no session has native telemetry of tokens or cost", terminal);
  const figure = (row: NativeRow, kind: NativeRow["figures"][number]["kind"]): string => {
    const found = row.figures.find((one) => one.kind === kind);
    if (found === undefined) return "?";
    const text = (value: number): string => (kind === "cost" ? preciseDollars(value) : exact(value));
    return found.isEqual ? text(found.stored) : `${text(found.stored)}/${text(found.native)}`;
  };
  const columns: readonly Column<NativeRow>[] = [
    { title: "native telemetry", rank: 8, shrinkTo: 12, cell: ({ session }) => printable(session) },
    { title: "model", rank: 9, shrinkTo: 12, cell: ({ model }) => printable(model) },
    {
      title: "calls",
      rank: 6,
      align: "right",
      cell: ({ calls: { stored, native } }) =>
        stored === native ? exact(stored) : `${exact(native)}/${exact(stored)}`,
    },
    ...(["input", "output", "cost"] as const).map(
      (kind, i): Column<NativeRow> => ({ title: kind, rank: 7 - i, align: "right", cell: (row) => figure(row, kind) }),
    ),
    {
      title: "",
      rank: 10,
      cell: ({ verdict: word }) => word,
      style: ({ verdict: word }) => NATIVE_STYLE[word],
    },
  ];
  yield* table(columns, rows, terminal);
}

const NATIVE_STYLE = { equal: "green", differs: "red", incomplete: "yellow" } as const satisfies Record<
  NativeRow["verdict"],
  Style
>;

const STYLE = { agree: "green", differ: "red", unknown: "yellow" } as const satisfies Record<
  SessionReport["verdict"],
  Style
>;

function* counterTable(counters: NonNullable<Report["counters"]>, terminal: Terminal): Generator<string> {
  const rows = counters.tokens.map((row): Line => {
    const values = [row.stored, row.delivered, ...(counters.hasPrometheus ? [row.prometheus] : [])];
    return {
      name: "",
      kind: row.kind,
      cells: values.map((value) => shown(value)),
      isWrong: isUneven(values),
    };
  });
  const titles = ["counted", "delivered", ...(counters.hasPrometheus ? ["Prometheus"] : [])];
  yield* flow(
    [
      [{ text: "counters of this machine", style: "bold" }],
      [{ text: plural(counters.streams, "stream") }],
      [{ text: `service.instance.id ${printable(counters.instanceId ?? "none yet")}` }],
    ],
    terminal,
  );
  if (rows.length > 0) yield* table(columnsOf("", titles, rows), rows, terminal);
}
