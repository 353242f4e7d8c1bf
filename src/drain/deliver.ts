import { otlpSettings } from "../config/otlp.ts";
import type { OtlpSettings } from "../model/settings.ts";
import { type DeliverySummary, deliverMetrics, deliverSpans } from "../otlp/deliver.ts";
import { createSender } from "../otlp/send.ts";
import { markSent, pendingStreams } from "../store/counters.ts";
import { instanceId } from "../store/instance.ts";
import { readMeta, writeMeta } from "../store/meta.ts";
import { acknowledge, type OutboxRow, waitingCount, waitingSpans } from "../store/outbox.ts";
import { METRIC_SHAPES } from "../telemetry/metrics.ts";
import type { Drain } from "./deps.ts";

/**
 * Outbox and counters → backend. Only what the backend acknowledged leaves the outbox. Without a destination nothing is
 * done: the store is where the records are.
 */
export async function deliver(drain: Drain): Promise<void> {
  const { db, report } = drain;
  const settings = settingsOf(drain);
  report.hasDestination = settings.traces !== undefined || settings.metrics !== undefined;
  const sender = createSender(settings, { version: drain.version });
  try {
    if (settings.traces !== undefined && isDue(drain, "traces")) {
      const summary = await deliverSpans(waiting(drain), sender, settings, ({ seqs, result, outcome }) => {
        if (result === "kept") return;
        acknowledge(db, seqs);
        if (outcome.status === "ok") report.rejected += outcome.rejected;
        else report.rejected += seqs.length;
      });
      report.sent += summary.sent;
      note(drain, "traces", summary);
    }
    if (settings.metrics !== undefined && isDue(drain, "metrics")) await sendMetrics(drain, settings, sender);
  } finally {
    sender.close();
    report.waiting = waitingCount(db);
  }
}

/** Where records of this drain go. */
export const settingsOf = (drain: Drain): OtlpSettings =>
  otlpSettings(drain.loaded.config, {
    version: drain.version,
    instanceId: instanceId(drain.db, drain.places),
    os: drain.platform,
    arch: drain.arch,
  });

// --- internal ---

const ROWS_PER_READ = 500;

function* waiting(drain: Drain): Generator<OutboxRow> {
  let after = 0;
  for (;;) {
    const rows = waitingSpans(drain.db, after, ROWS_PER_READ);
    if (rows.length === 0) return;
    yield* rows;
    after = rows.at(-1)?.seq ?? after;
  }
}

async function sendMetrics(
  drain: Drain,
  settings: OtlpSettings,
  sender: Parameters<typeof deliverMetrics>[1],
): Promise<void> {
  const temporality = settings.metrics?.temporality ?? "cumulative";
  const streams = pendingStreams(drain.db, METRIC_SHAPES, temporality, drain.now());
  // A stream is taken when its last point is; its points stand behind each other
  const rows = streams.flatMap((stream) =>
    stream.points.map((record, i) => ({ stream, record, last: i === stream.points.length - 1 })),
  );
  const summary = await deliverMetrics(
    rows.map(({ record }, seq) => ({ seq, record })),
    sender,
    settings,
    ({ seqs, result, outcome }) => {
      if (result === "kept") return;
      if (outcome.status === "ok") drain.report.rejected += outcome.rejected;
      const taken = seqs.flatMap((seq) => {
        const row = rows[seq];
        return row?.last === true ? [row.stream] : [];
      });
      drain.db.transaction(() => markSent(drain.db, taken));
      drain.report.metricsSent = true;
    },
  );
  note(drain, "metrics", summary);
}

/** Keeps what the backend asked for: not before the time it named. */
function note(drain: Drain, signal: "traces" | "metrics", summary: DeliverySummary): void {
  const notBeforeMs = summary.afterMs === undefined ? 0 : drain.now() + summary.afterMs;
  writeMeta(drain.db, `${signal}.not_before_ms`, String(notBeforeMs));
  writeMeta(drain.db, `${signal}.last_reason`, summary.reason ?? "");
  if (summary.reason === undefined) {
    // With nothing to send, nothing was learned about the backend
    if (summary.sent === 0) return;
    writeMeta(drain.db, `${signal}.last_ok_ms`, String(drain.now()));
    return;
  }
  const line = `${signal}: ${summary.reason}`;
  drain.report.problems.push(line);
  drain.log(line);
}

const isDue = (drain: Drain, signal: "traces" | "metrics"): boolean =>
  drain.now() >= Number(readMeta(drain.db, `${signal}.not_before_ms`) ?? "0");
