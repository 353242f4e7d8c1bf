import { SELF } from "#core/telemetry/self.ts";
import * as semconv from "#core/telemetry/semconv.ts";
import { isoTime } from "#kit/text/figures.ts";
import { counterValues } from "#store/counters.ts";
import type { Database } from "#store/database.ts";
import { CLOCK_SKEW, LAST_DRAIN_MS, LAST_PRUNE, PRUNED_SESSIONS, readMeta } from "#store/meta.ts";
import { outboxState } from "#store/outbox.ts";
import { rejectedPoints } from "#store/rejected-points.ts";
import { type Drift, readDrift } from "#store/self.ts";
import { repairedSpans } from "#store/spans.ts";

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
interface DriftStatus {
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
  const { droppedTotal, rejectedTotal } = outboxState(db);
  const points = rejectedPoints(db);
  const { no_room: _, rejected_points: __, ...spans } = by(SELF.dropped.name, semconv.OPENHOOK_REASON);
  return {
    payloads: by(SELF.payloads.name, semconv.OPENHOOK_OUTCOME),
    // The counter also has log records, and does not include changes since the last delivery
    dropped: { ...spans, retention: droppedTotal, rejected: rejectedTotal },
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

// --- internal ---

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
    const namesOf = (kind: Drift["kind"]): string[] =>
      group.filter((drift) => drift.kind === kind).map(({ name }) => name);
    return [
      {
        source: first.source,
        version: first.version,
        events: namesOf("event"),
        fields: namesOf("field"),
        records: namesOf("record"),
        unread_usage: namesOf("usage"),
        count: group.reduce((sum, { count }) => sum + count, 0),
        last_seen: isoTime(Math.max(...group.map(({ lastMs }) => lastMs))),
      },
    ];
  });
}
