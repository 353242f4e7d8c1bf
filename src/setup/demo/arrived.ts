import type { Attributes } from "#core/model/telemetry.ts";
import { SELF_PREFIX } from "#core/telemetry/self.ts";
import * as semconv from "#core/telemetry/semconv.ts";
import { METRIC_SHAPES } from "#core/telemetry/shapes.ts";
import { type Column, table } from "#kit/text/table.ts";
import type { Terminal } from "#kit/text/terminal.ts";
import { counterValues } from "#store/counters.ts";
import { type Database, openDatabase } from "#store/database.ts";
import type { ReceivedPoint } from "./otlp-json.ts";
import type { Received } from "./receiver.ts";
import type { RecordedSession, Totals } from "./recordings.ts";

/** What has arrived, with only the last point of each metric stream, because they are cumulative. */
type Arrived = Pick<Received, "spans" | "points">;

/** Keeps the latest point of each stream; of two with the same time, the one received last. */
export function withLatestPoints({ spans, points }: Received): Arrived {
  const latest = new Map<string, ReceivedPoint>();
  for (const point of points) {
    const stream = JSON.stringify([streamKey(point.metric, point.attributes), sorted(point.resource)]);
    const former = latest.get(stream);
    if (former === undefined || former.timeNs <= point.timeNs) latest.set(stream, point);
  }
  return { spans, points: [...latest.values()] };
}

/** Whether what arrived equals what was sent. */
interface Check {
  readonly exact: boolean;
  /** The comparison as a table. */
  readonly lines: readonly string[];
}

/**
 * Compares four counts of the same tokens: the model server's when the sessions were recorded, the store's, and those that arrived as
 * spans and as metrics; then every metric stream with the store's sum.
 *
 * @param storePath of the drain that sent; nothing writes to it any more
 */
export function check(
  sessions: readonly RecordedSession[],
  storePath: string,
  arrived: Arrived,
  terminal: Terminal,
): Check {
  const db = openDatabase(storePath);
  try {
    const rows = KINDS.map((kind) => {
      const recorded = sessions.reduce((sum, { totals }) => sum + totals[kind.total], 0);
      const store = inStore(db, kind.column);
      const [spans, metrics] = [inSpans(arrived, kind.attribute), inMetrics(arrived, kind.type)];
      const exact = [store, spans, metrics].every((account) => account === recorded);
      return { kind: kind.type, recorded, store, spans, metrics, exact };
    });
    const streams = unequalStreams(db, arrived);
    return {
      exact: rows.every(({ exact }) => exact) && streams.unequal.length === 0,
      lines: [
        ...table(CHECK_COLUMNS, rows, terminal),
        streams.unequal.length === 0
          ? `${streams.count} metric streams, each with the value that the store has: exact`
          : `metric streams with another value than the store has: ${streams.unequal.join(", ")}`,
      ],
    };
  } finally {
    db.close();
    db.release();
  }
}

// --- internal ---

interface Kind {
  readonly type: string;
  readonly total: keyof Totals;
  readonly column: "input" | "output" | "cache_read" | "cache_write";
  readonly attribute: string;
}
const KINDS: readonly Kind[] = [
  { type: "input", total: "input", column: "input", attribute: semconv.GEN_AI_USAGE_INPUT_TOKENS },
  { type: "output", total: "output", column: "output", attribute: semconv.GEN_AI_USAGE_OUTPUT_TOKENS },
  { type: "cache_read", total: "cache_read", column: "cache_read", attribute: semconv.GEN_AI_USAGE_CACHE_READ },
  { type: "cache_write", total: "cache_write", column: "cache_write", attribute: semconv.GEN_AI_USAGE_CACHE_WRITE },
];

interface CheckRow {
  readonly kind: string;
  readonly recorded: number;
  readonly store: number;
  readonly spans: number;
  readonly metrics: number;
  readonly exact: boolean;
}

/** A count that differs is shown with the difference. */
const account = (title: "store" | "spans" | "metrics"): Column<CheckRow> => ({
  title,
  align: "right",
  rank: 2,
  cell: (row) => {
    const excess = row[title] - row.recorded;
    return excess === 0 ? grouped(row[title]) : `${grouped(row[title])} (${excess > 0 ? "+" : ""}${grouped(excess)})`;
  },
});

const CHECK_COLUMNS: readonly Column<CheckRow>[] = [
  { title: "tokens", cell: (row) => row.kind, rank: 4 },
  { title: "recorded", cell: (row) => grouped(row.recorded), align: "right", rank: 3 },
  account("store"),
  account("spans"),
  account("metrics"),
  {
    title: "",
    cell: (row) => (row.exact ? "exact" : "differs"),
    style: (row) => (row.exact ? "green" : "red"),
    rank: 5,
  },
];

const inStore = (db: Database, column: Kind["column"]): number =>
  Number(db.prepare(`SELECT coalesce(sum(${column}), 0) AS n FROM model_calls`).get()?.["n"]);

/** Model calls only: turns and sessions repeat the sums below them. */
const inSpans = ({ spans }: Arrived, attribute: string): number =>
  sumOf(
    spans
      .filter((span) => span.attributes[semconv.OPENHOOK_SPAN_KIND] === "model_call")
      .map((span) => span.attributes[attribute]),
  );

const inMetrics = ({ points }: Arrived, type: string): number =>
  sumOf(
    points
      .filter((p) => p.metric === "openhook.token.usage" && p.attributes[semconv.OPENHOOK_TOKEN_TYPE] === type)
      .map((p) => p.value),
  );

const sumOf = (values: readonly unknown[]): number =>
  values.reduce<number>((sum, value) => sum + (typeof value === "number" ? value : 0), 0);

function unequalStreams(db: Database, { points }: Arrived): { readonly count: number; readonly unequal: string[] } {
  const arrived = new Map(points.map((point) => [streamKey(point.metric, point.attributes), point.value]));
  // What a drain counts about itself while sending is sent by the next one
  const agents = counterValues(db).filter(({ metric }) => !metric.startsWith(SELF_PREFIX));
  const stored = agents.map(({ metric, attributes, value }) => ({
    metric,
    key: streamKey(metric, attributes),
    // Stored as whole 10⁻⁹ units, sent as doubles
    value: METRIC_SHAPES.get(metric)?.value === "nano" ? value / 1e9 : value,
  }));
  return {
    count: stored.length,
    unequal: stored.filter(({ key, value }) => arrived.get(key) !== value).map(({ metric }) => metric),
  };
}

/** One agent and one resource, so name and attributes identify a stream. */
const streamKey = (metric: string, attributes: Attributes): string => JSON.stringify([metric, sorted(attributes)]);

const sorted = (attributes: Attributes): unknown => Object.entries(attributes).sort(([a], [b]) => (a < b ? -1 : 1));

/** `1,234,567`, independent of the locale. */
const grouped = (n: number): string => n.toLocaleString("en-US");
