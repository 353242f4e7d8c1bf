import { SELF } from "#core/telemetry/self.ts";
import * as semconv from "#core/telemetry/semconv.ts";
import { isoTime, plural } from "#kit/text/figures.ts";
import { counterValues } from "#store/counters.ts";
import type { Database } from "#store/database.ts";
import { readMeta } from "#store/meta.ts";
import { CLOCK_SKEW, LAST_DRAIN_MS, LAST_PRUNE, PRUNED_SESSIONS } from "#store/meta-keys.ts";
import { outboxState } from "#store/outbox.ts";
import { repairedSpans } from "#store/put-spans.ts";
import { rejectedPoints } from "#store/rejected-points.ts";
import { type Drift, readDrift } from "#store/self.ts";

/** The program's own counters since its store was created. */
export interface SelfStatus {
  /** By outcome: `converted`, `ignored`, `quarantined`. */
  readonly payloads: Readonly<Record<string, number>>;
  /** Spans by reason: `retention`, `rejected`; all 0 while nothing was lost. Lost events are reported with the inbox. */
  readonly dropped: Readonly<Record<string, number>>;
  /** Deltas that the backend rejected; they are not sent again. */
  readonly dropped_points: number;
  /** Of these, how many its counters still lack: cumulative sums that it accepts repair them. */
  readonly missing_points: number;
  /** Spans whose parent was not found: they were queued below their session. */
  readonly repaired_spans: number;
  /** By outcome: `ok`, `failed`, `killed`. */
  readonly drains: Readonly<Record<string, number>>;
  readonly last_drain_ms: number | null;
  /** By outcome: `understood`, `unreadable`. */
  readonly transcript_lines: Readonly<Record<string, number>>;
  /** By outcome: `ok`, `partial`, `retry`, `refused`, `too_large`. */
  readonly requests: Readonly<Record<string, number>>;
  /** Names from agents that this version does not know. */
  readonly drift: readonly DriftStatus[];
  /** By how much this machine's clock is ahead of the backend's; `null`: unknown. */
  readonly clock_skew_ms: number | null;
  readonly pruned_sessions: number;
  readonly last_prune: string | null;
}

/** Unknown names of one version of one agent. */
export interface DriftStatus {
  readonly source: string;
  readonly version: string;
  readonly events: readonly string[];
  readonly fields: readonly string[];
  readonly records: readonly string[];
  /** Kinds of records whose token usage is unknown. */
  readonly unread_usage: readonly string[];
  readonly count: number;
  readonly last_seen: string | null;
}

export const NO_SELF: SelfStatus = {
  payloads: {},
  dropped: {},
  dropped_points: 0,
  missing_points: 0,
  repaired_spans: 0,
  drains: {},
  last_drain_ms: null,
  transcript_lines: {},
  requests: {},
  drift: [],
  clock_skew_ms: null,
  pruned_sessions: 0,
  last_prune: null,
};

/** The counters from the store. */
export function selfOf(db: Database): SelfStatus {
  const values = counterValues(db);
  const by = (metric: string, attribute: string): Record<string, number> => {
    const sums: Record<string, number> = {};
    for (const { metric: name, attributes, value } of values) {
      if (name !== metric) continue;
      const key = String(attributes[attribute]);
      sums[key] = (sums[key] ?? 0) + value;
    }
    return sums;
  };
  const meta = (key: string): number | null => {
    const text = readMeta(db, key);
    return text === undefined ? null : Number(text);
  };
  const { droppedTotal } = outboxState(db);
  const points = rejectedPoints(db);
  const { no_room: _, rejected_points: __, ...spans } = by(SELF.dropped.name, semconv.OPENHOOK_REASON);
  return {
    payloads: by(SELF.payloads.name, semconv.OPENHOOK_OUTCOME),
    // The counter does not include changes since the last delivery
    dropped: { ...spans, retention: droppedTotal },
    dropped_points: points.total,
    missing_points: points.missing,
    repaired_spans: repairedSpans(db),
    drains: by(SELF.drains.name, semconv.OPENHOOK_OUTCOME),
    last_drain_ms: meta(LAST_DRAIN_MS),
    transcript_lines: by(SELF.lines.name, semconv.OPENHOOK_OUTCOME),
    requests: by(SELF.requests.name, semconv.OPENHOOK_OUTCOME),
    drift: byVersion(readDrift(db)),
    clock_skew_ms: meta(CLOCK_SKEW),
    pruned_sessions: meta(PRUNED_SESSIONS) ?? 0,
    last_prune: isoTime(meta(LAST_PRUNE) ?? undefined),
  };
}

/** One line per agent version that sends unknown names. */
export const driftLines = ({ drift }: SelfStatus): readonly string[] =>
  drift.map(({ source, version, events, fields, records, unread_usage: unread }) => {
    const what = [
      ...named("event", events),
      ...named("field", fields),
      ...named("kind of transcript record", records, "kinds of transcript records"),
    ];
    const of = version === "unknown" ? source : `${source} ${version}`;
    const sentences = [
      ...(what.length === 0 ? [] : [`${of} sends names that this version does not know: ${what.join("; ")}`]),
      ...named("kind of record", unread, "kinds of records").map(
        (usage) =>
          `${of} writes token usage that this version cannot read, in ${usage}: totals with it are lower bounds`,
      ),
    ];
    return sentences.join(". ");
  });

/** What the user should know about it. */
export function selfRemarks(self: SelfStatus): readonly string[] {
  const dropped = droppedCount(self);
  const reasons = Object.entries(self.dropped).filter(([, n]) => n > 0);
  return [
    ...(dropped === 0
      ? []
      : [
          `${plural(dropped, "span")} dropped before a backend accepted them (${reasons.map(([reason, n]) => `${n} ${reason}`).join(", ")}); they stay in the store`,
        ]),
    ...pointsRemark(self),
    ...repairedRemark(self),
    ...driftLines(self).map((line) => `${line}: update openhook-otel`),
  ];
}

/** Nothing unless this program has an error. */
export const repairedRemark = ({ repaired_spans: spans }: SelfStatus): readonly string[] =>
  spans === 0
    ? []
    : [
        `${plural(spans, "span")} without a known parent; each was sent below its session, and its figures are complete`,
      ];

/** What is known of rejected deltas; nothing if the backend's counters include them by now. */
export const pointsRemark = ({ missing_points: points }: SelfStatus): readonly string[] =>
  points === 0
    ? []
    : [
        `the backend rejected ${plural(points, "metric point")} of deltas without naming them; they are dropped, because sending all again would count the accepted ones twice: its counters are too small`,
      ];

/** Records dropped before a backend accepted them. */
export const droppedCount = ({ dropped }: SelfStatus): number => Object.values(dropped).reduce((sum, n) => sum + n, 0);

// --- internal ---

const NAMES_SHOWN = 5;

function named(one: string, names: readonly string[], many = `${one}s`): readonly string[] {
  if (names.length === 0) return [];
  const plain = names.filter((name) => name !== "_other");
  const shown = plain.slice(0, NAMES_SHOWN).join(", ");
  const more = names.length - Math.min(plain.length, NAMES_SHOWN);
  const list = [shown, ...(more > 0 ? [`${more} more`] : [])].filter((text) => text !== "").join(" and ");
  return [`${plural(names.length, one, many)} (${list})`];
}

function byVersion(all: readonly Drift[]): readonly DriftStatus[] {
  const groups = new Map<string, Drift[]>();
  for (const drift of all) {
    const key = JSON.stringify([drift.source, drift.version]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [drift]);
    else group.push(drift);
  }
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const of = (kind: Drift["kind"]): string[] => group.filter((one) => one.kind === kind).map(({ name }) => name);
    return [
      {
        source: first.source,
        version: first.version,
        events: of("event"),
        fields: of("field"),
        records: of("record"),
        unread_usage: of("usage"),
        count: group.reduce((sum, { count }) => sum + count, 0),
        last_seen: isoTime(Math.max(...group.map(({ lastMs }) => lastMs))),
      },
    ];
  });
}
