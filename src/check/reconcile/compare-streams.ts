import type { MetricShape } from "#core/model/telemetry.ts";
import { SELF_PREFIX } from "#core/telemetry/self.ts";
import type { Findings } from "./facts.ts";
import { type Difference, KIND_NAME, KINDS, type Kind } from "./facts.ts";
import { type FoundSeries, isOfService, labelOf, namesOf } from "./fetch.ts";
import type { MachineFacts, StoredStream, StreamValue } from "./stored.ts";

/**
 * Compares the counters' sums with the store's model calls. After pruning the sums are larger; after the store was copied or restarted
 * they are smaller. Calls that ended after the first stream was created are included in any case.
 */
export function compareSums({ streams, tokens, tokensSince, hasPruned }: MachineFacts): Findings {
  const differences: Difference[] = [];
  const unknown: string[] = [];
  for (const kind of KINDS) {
    const counted = tokensIn(streams, kind, ({ value, owed }) => value.sum - owed) ?? 0;
    const [all, least] = [tokens[kind], tokensSince[kind]];
    if (counted === all) continue;
    const what = `${KIND_NAME[kind]} tokens`;
    if (counted < least || (counted > all && !hasPruned)) {
      differences.push({ between: "store and its counters", subject: TOKENS, what, left: all, right: counted });
    } else {
      const why =
        counted > all
          ? "only the sums include pruned sessions"
          : "the sums were restarted in between: a copied or damaged store, a month without a backend, or capture none";
      unknown.push(`${TOKENS}, ${what}: ${all} by the sessions, ${counted} in the sums: ${why}`);
    }
  }
  return { differences, unknown, remarks: [] };
}

/** Compares the counted values with those that a backend accepted. */
export function compareDelivered(streams: readonly StoredStream[]): readonly Difference[] {
  return streams.flatMap((stream) => {
    const { value, delivered } = stream;
    if (isSelf(stream) || (delivered?.sum === value.sum && delivered.count === value.count)) return [];
    const [left, right] = [
      value.count ?? value.sum,
      delivered === undefined ? null : (delivered.count ?? delivered.sum),
    ];
    return [{ between: "counters and delivery", subject: nameOf(stream), what: "was not delivered yet", left, right }];
  });
}

/** Compares each stream's last accepted value with Prometheus. */
export function compareSeries(
  streams: readonly StoredStream[],
  series: readonly FoundSeries[],
  shapes: ReadonlyMap<string, MetricShape>,
): Findings & { readonly compared: number } {
  const differences: Difference[] = [];
  const remarks: string[] = [];
  const delivered = streams.filter((stream) => stream.delivered !== undefined);
  const keysOf = new Map<string, Set<string>>();
  for (const { metric, attributes } of streams) {
    const keys = keysOf.get(metric) ?? new Set();
    keysOf.set(metric, keys);
    for (const name of Object.keys(attributes)) keys.add(labelOf(name));
  }
  const index = new SeriesIndex(series);
  let older = 0;
  for (const stream of delivered) {
    const shape = shapes.get(stream.metric);
    if (shape === undefined || stream.delivered === undefined) continue;
    for (const part of shape.type === "histogram" ? (["count", "sum"] as const) : ([""] as const)) {
      const found = index.of(namesOf(shape, part), stream, keysOf.get(stream.metric) ?? new Set());
      const expected = amountOf(stream.delivered, part, shape);
      const differ = (what: string, right: number | null): void => {
        const subject = `${nameOf(stream)}${part === "" ? "" : ` ${part}`}`;
        differences.push({ between: "delivered and Prometheus", subject, what, left: expected, right });
      };
      if (found.length === 0) {
        differ("has no series", null);
        continue;
      }
      // Sums of one machine only grow: of several series of one stream the largest value is the newest
      const newest = Math.max(...found.map(({ value }) => value));
      older += found.filter(({ value }) => !isSame(value, newest)).length;
      const unacknowledged = amountOf(stream.value, part, shape);
      if (!isSame(newest, expected) && !isSame(newest, unacknowledged)) differ("has another value", newest);
    }
  }
  if (older > 0) remarks.push(`Prometheus also has ${older} older series of this machine, with smaller values`);
  const strange = index.unused(shapes);
  if (strange > 0) {
    remarks.push(`Prometheus also has ${strange} series of this machine that the store does not have (any more)`);
  }
  return { differences, unknown: [], remarks, compared: delivered.length };
}

/** Tokens by kind over all streams. @returns `undefined` if no stream counts them */
export function tokensIn(
  streams: readonly StoredStream[],
  kind: Kind,
  amountOf: (stream: StoredStream) => number | undefined,
): number | undefined {
  const amounts = streams.flatMap((stream) => {
    const isThis = stream.metric === TOKENS && stream.attributes[TYPE] === KIND_NAME[kind];
    const amount = isThis ? amountOf(stream) : undefined;
    return amount === undefined ? [] : [amount];
  });
  return amounts.length === 0 ? undefined : amounts.reduce((a, b) => a + b, 0);
}

/** `tokensIn` for the series in Prometheus. */
export function tokensFound(
  streams: readonly StoredStream[],
  series: readonly FoundSeries[],
  shapes: ReadonlyMap<string, MetricShape>,
  kind: Kind,
): number | undefined {
  const shape = shapes.get(TOKENS);
  if (shape === undefined) return undefined;
  const keys = new Set(streams.flatMap((s) => (s.metric === TOKENS ? Object.keys(s.attributes).map(labelOf) : [])));
  const index = new SeriesIndex(series);
  return tokensIn(streams, kind, (stream) => {
    const found = index.of(namesOf(shape, ""), stream, keys);
    return found.length === 0 ? undefined : Math.max(...found.map(({ value }) => value));
  });
}

export const isSelf = ({ metric }: Pick<StoredStream, "metric">): boolean => metric.startsWith(SELF_PREFIX);

// --- internal ---

const TOKENS = "openhook.token.usage";
const TYPE = "openhook.token.type";

const nameOf = ({ metric, attributes, service }: StoredStream): string => {
  const shown = Object.entries({ "service.name": service, ...attributes }).map(([k, v]) => `${k}=${String(v)}`);
  return `${metric}{${shown.join(", ")}}`;
};

function amountOf(value: StreamValue, part: "" | "count" | "sum", shape: MetricShape): number {
  if (part === "count") return value.count ?? 0;
  return shape.value === "nano" ? value.sum / 1e9 : value.sum;
}

/** Whole numbers must be equal; sums of fractions may be rounded on the way. */
const isSame = (a: number, b: number): boolean =>
  a === b || (!(Number.isInteger(a) && Number.isInteger(b)) && Math.abs(a - b) <= 1e-9 * Math.max(Math.abs(a), 1));

/** Series by name, and which of them were looked up. */
class SeriesIndex {
  readonly #byName = new Map<string, FoundSeries[]>();
  readonly #used = new Set<FoundSeries>();

  constructor(series: readonly FoundSeries[]) {
    for (const found of series) this.#byName.set(found.name, [...(this.#byName.get(found.name) ?? []), found]);
  }

  of(
    names: ReadonlySet<string>,
    { attributes, service }: StoredStream,
    keys: ReadonlySet<string>,
  ): readonly FoundSeries[] {
    const wanted = new Map(Object.entries(attributes).map(([name, value]) => [labelOf(name), String(value)]));
    const found = [...names]
      .flatMap((name) => this.#byName.get(name) ?? [])
      .filter(({ labels }) => {
        const own = new Map(Object.entries(labels).map(([name, value]) => [labelOf(name), value]));
        return (
          isOfService(labels, service) &&
          // Prometheus treats an empty label as absent
          [...keys].every((key) => (own.get(key) ?? "") === (wanted.get(key) ?? ""))
        );
      });
    for (const series of found) this.#used.add(series);
    return found;
  }

  /** Series of counters and histograms that were never looked up. */
  unused(shapes: ReadonlyMap<string, MetricShape>): number {
    const names = new Set(
      [...shapes.values()].flatMap((shape) =>
        shape.type === "gauge"
          ? []
          : shape.type === "counter"
            ? [...namesOf(shape, "")]
            : [...namesOf(shape, "count"), ...namesOf(shape, "sum")],
      ),
    );
    const all = [...this.#byName.values()].flat();
    return all.filter((series) => names.has(series.name) && !this.#used.has(series)).length;
  }
}
