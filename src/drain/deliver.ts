import { ownNamesOf } from "../capture/level.ts";
import { protectPoint, protectResource, protectSpan } from "../capture/protect.ts";
import { otlpSettings } from "../config/otlp.ts";
import { isUnknown } from "../config/unknown.ts";
import { step } from "../model/fault-points.ts";
import type { OtlpSettings } from "../model/settings.ts";
import { isNotThere } from "../otlp/answer.ts";
import { type DeliverySummary, deliverMetrics, deliverSpans, isBadContent, rejectedOf } from "../otlp/deliver.ts";
import { probe } from "../otlp/probe.ts";
import { createSender, type Sender } from "../otlp/send.ts";
import { instanceId } from "../store/instance.ts";
import { readMeta, writeMeta } from "../store/meta.ts";
import {
  acknowledge,
  enforceLimits,
  OUTBOX_PARTS,
  type OutboxPart,
  type OutboxRow,
  queuedCount,
  queuedSpans,
  recordFailure,
  settleRejected,
} from "../store/outbox.ts";
import { clampFutureTimes, markSent, pendingStreams } from "../store/pending-streams.ts";
import { recordAtLevel } from "../telemetry/level.ts";
import { METRIC_SHAPES } from "../telemetry/shapes.ts";
import { type Circuit, circuitOf, recordDelivery, type Signal } from "./circuit.ts";
import { hasNoClockJump } from "./clock-jump.ts";
import type { Drain } from "./context.ts";
import { identityOf } from "./identity.ts";
import {
  areMetricsDue,
  BackendResponses,
  backendNowMs,
  isClockOff,
  isSelfStream,
  selfGauges,
} from "./self-telemetry.ts";

export interface DeliverOptions {
  /** Asked for by hand: backends that failed lately, and spans that failed alone, are tried at once. */
  readonly isEager?: boolean;
}

/**
 * Outbox and counters → backend. Only what the backend acknowledged leaves the outbox, and what is beyond its limits.
 * Without a destination nothing is sent: the store is where the records are.
 */
export async function deliver(drain: Drain, { isEager = false }: DeliverOptions = {}): Promise<void> {
  const { db, report } = drain;
  const settings = await settingsOf(drain);
  report.hasDestination = settings.traces !== undefined || settings.metrics !== undefined;
  const answers = new BackendResponses(drain.now);
  const sender = createSender(settings, { version: drain.version, onAnswer: answers.add });
  try {
    dropBeyondLimits(drain, settings.traces !== undefined);
    await deliverSignal(drain, "traces", settings, isEager, (circuit) =>
      sendSpans(drain, settings, sender, circuit, isEager),
    );
    answers.keep(drain);
    if (isEager || areMetricsDue(drain)) {
      await deliverSignal(drain, "metrics", settings, isEager, async (circuit) => {
        await probeClock(drain, settings, answers);
        return sendMetrics(drain, settings, sender, circuit);
      });
    }
  } finally {
    sender.close();
    answers.keep(drain);
    report.waiting = queuedCount(db);
  }
}

/** Where records of this drain go, and what they say of who sends them. */
export async function settingsOf(drain: Drain): Promise<OtlpSettings> {
  const settings = otlpSettings(drain.loaded.config, {
    version: drain.version,
    instanceId: instanceId(drain.db, drain.places),
    os: drain.platform,
    arch: drain.arch,
  });
  return { ...settings, resource: { ...protectResource(drain, settings.resource), ...(await identityOf(drain)) } };
}

/** All that waits, as it leaves, in the order in which it does. */
export function* spanRows(drain: Drain): Generator<OutboxRow> {
  for (const part of OUTBOX_PARTS) for (const row of rowsOf(drain, part)) yield rowAtLevel(drain, row);
}

/** Counters and gauges, as they leave. A stream is taken when its last point is; its points stand behind each other. */
export async function metricRows(drain: Drain, settings: OtlpSettings) {
  const temporality = drain.loaded.config.otlp.metrics.temporality;
  const nowMs = backendNowMs(drain);
  const gauges = await selfGauges(drain, settings.traces !== undefined, nowMs);
  const streams = pendingStreams(drain.db, METRIC_SHAPES, temporality, nowMs).filter(
    (stream) => drain.loaded.config.selfTelemetry || !isSelfStream(stream),
  );
  const rows = [
    ...streams.flatMap((stream) =>
      stream.points.map((record, i) => ({ stream, record, last: i === stream.points.length - 1 })),
    ),
    // Told and forgotten
    ...gauges.map((record) => ({ stream: undefined, record, last: true })),
  ];
  return rows.map(({ record, ...rest }, seq) => ({ seq, record: protectPoint(drain, record), ...rest }));
}

// --- internal ---

const ROWS_PER_READ = 500;
const DAY_MS = 86_400_000;
/** How often a span that was refused alone is tried again by drains that hooks start; it can be large. */
const REFUSED_AGAIN_MS = 3_600_000;
const REFUSED_TRIED = "outbox.refused_tried_ms";

/** Asks one destination, unless it is to be left alone. */
async function deliverSignal(
  drain: Drain,
  signal: Signal,
  settings: OtlpSettings,
  isEager: boolean,
  send: (circuit: Circuit) => Promise<DeliverySummary>,
): Promise<void> {
  const destination = settings[signal];
  if (destination === undefined) return;
  const circuit = circuitOf(drain.db, signal, destination, drain.now(), isEager);
  if (!circuit.isDue) {
    if (isEager)
      reportProblem(drain, `${signal}: not sent, the backend asked to wait until ${iso(circuit.askedUntilMs)}`);
    return;
  }
  const summary = await send(circuit);
  const { sent, rejected, oversized, kept, reason, remark, stopped } = summary;
  // With nothing to send, nothing was learned about the backend
  if (sent + rejected + oversized + kept === 0) return;
  recordDelivery(drain.db, signal, destination, summary, circuit, drain.now());
  if (reason !== undefined) reportProblem(drain, `${signal}: ${reason}${adviceOn(signal, summary)}`);
  if (remark !== undefined) drain.log(`${signal}: all were taken, with the words: ${remark}`);
  if (stopped === "time")
    drain.log(`${signal}: the time of one drain was over (outbox.maxDeliveryMs), the next goes on`);
}

function sendSpans(
  drain: Drain,
  settings: OtlpSettings,
  sender: Sender,
  { halvings }: Circuit,
  isEager: boolean,
): Promise<DeliverySummary> {
  const { db, report } = drain;
  const failed = new Set<number>();
  const inStep: Pick<Sender, "sendSpans"> = { sendSpans: (spans) => step("spans.send", () => sender.sendSpans(spans)) };
  return deliverSpans(
    rowsToSend(drain, failed, isEager),
    inStep,
    { ...settings, halvings },
    ({ seqs, result, outcome }) => {
      if (result === "settled") {
        const rejected = rejectedOf(outcome, seqs.length);
        report.rejected += rejected;
        report.sent += seqs.length - rejected;
        return rejected === 0 ? acknowledge(db, seqs) : settleRejected(db, seqs, rejected);
      }
      const [seq, ...others] = seqs;
      if (seq === undefined || others.length > 0) return;
      failed.add(seq);
      recordFailure(db, seq, result === "oversized" || isBadContent(outcome));
    },
  );
}

/** Oldest first; those that failed alone behind all others, and not twice in one drain. */
function* rowsToSend(drain: Drain, failed: ReadonlySet<number>, isEager: boolean): Generator<OutboxRow> {
  for (const part of OUTBOX_PARTS) {
    if (part === "refused" && !isRefusedDue(drain, isEager)) return;
    for (const row of rowsOf(drain, part)) if (!failed.has(row.seq)) yield rowAtLevel(drain, row);
  }
}

/** What was stored when more could leave does not leave now. */
const rowAtLevel = (drain: Drain, { seq, record }: OutboxRow): OutboxRow => ({
  seq,
  record: protectSpan(drain, recordAtLevel(record, drain.loaded.config.capture, ownNamesOf(drain))),
});

/** Whether what was refused alone is tried again now; notes that it is. */
function isRefusedDue({ db, now }: Drain, isEager: boolean): boolean {
  const sinceMs = Math.abs(now() - Number(readMeta(db, REFUSED_TRIED) ?? "0"));
  if (!isEager && sinceMs < REFUSED_AGAIN_MS) return false;
  if (queuedSpans(db, 0, 1, "refused").length === 0) return false;
  writeMeta(db, REFUSED_TRIED, String(now()));
  return true;
}

function* rowsOf(drain: Drain, part: OutboxPart): Generator<OutboxRow> {
  let after = 0;
  for (;;) {
    const rows = queuedSpans(drain.db, after, ROWS_PER_READ, part);
    if (rows.length === 0) return;
    yield* rows;
    after = rows.at(-1)?.seq ?? after;
  }
}

/** A clock that was far off may be right by now, or off otherwise. */
async function probeClock(drain: Drain, { metrics }: OtlpSettings, answers: BackendResponses): Promise<void> {
  if (metrics === undefined || answers.hasTold || !isClockOff(drain)) return;
  const { version } = drain;
  answers.date((await probe("metrics", metrics, { version, timeoutMs: metrics.timeoutMs })).dateMs);
  answers.keep(drain);
}

async function sendMetrics(
  drain: Drain,
  settings: OtlpSettings,
  sender: Sender,
  { halvings }: Circuit,
): Promise<DeliverySummary> {
  clampFutureTimes(drain.db, backendNowMs(drain));
  const rows = await metricRows(drain, settings);
  return deliverMetrics(
    rows,
    { sendMetrics: (points) => step("metrics.send", () => sender.sendMetrics(points)) },
    { ...settings, halvings },
    ({ seqs, result, outcome }) => {
      if (result !== "settled") return;
      drain.report.rejected += rejectedOf(outcome, seqs.length);
      const taken = seqs.flatMap((seq) => {
        const row = rows[seq];
        return row?.stream !== undefined && row.last ? [row.stream] : [];
      });
      drain.db.transaction(() => markSent(drain.db, taken), "commit.metrics");
      drain.report.metricsSent = true;
    },
  );
}

/** What waited too long, or is too much, is not sent any more; it stays in the store. */
function dropBeyondLimits(drain: Drain, hasBackend: boolean): void {
  const { loaded } = drain;
  const { maxAgeDays, maxMegabytes } = loaded.config.outbox;
  const isAged = hasNoClockJump(drain.db, drain.now()) && !isUnknown(loaded, "outbox.maxAgeDays");
  const limits = {
    maxAgeMs: isAged ? maxAgeDays * DAY_MS : Number.POSITIVE_INFINITY,
    maxBytes: isUnknown(loaded, "outbox.maxMegabytes") ? Number.POSITIVE_INFINITY : maxMegabytes * 1_000_000,
  };
  const { tooOld, tooMuch } = enforceLimits(drain.db, limits, drain.now(), hasBackend);
  if (tooOld + tooMuch === 0) return;
  const why = [
    ...(tooOld > 0 ? [`${tooOld} waited for more than ${maxAgeDays} days (outbox.maxAgeDays)`] : []),
    ...(tooMuch > 0 ? [`${tooMuch} were beyond ${maxMegabytes} MB (outbox.maxMegabytes)`] : []),
  ].join(", ");
  if (!hasBackend) {
    drain.log(`outbox: spans that no backend was set for wait no longer: ${why}`);
    return;
  }
  drain.report.dropped += tooOld + tooMuch;
  reportProblem(drain, `outbox: spans were dropped and will not be sent: ${why}; they stay in the store`);
}

function reportProblem(drain: Drain, line: string): void {
  drain.report.problems.push(line);
  drain.log(line);
}

/** What the user can do; the rest is said by the reason itself. */
function adviceOn(signal: Signal, { httpStatus, kept, oversized }: DeliverySummary): string {
  const advice = isNotThere(httpStatus)
    ? `check otlp.endpoint: /v1/traces and /v1/metrics are appended to it; if it takes no ${signal}, set otlp.${signal}.enabled to false`
    : ADVICE[httpStatus ?? 0];
  if (kept > 0) return advice === undefined ? "" : `; ${advice}`;
  return oversized > 0 ? `; ${oversized} wait although each alone is too large: ${TOO_LARGE}` : "";
}

const TOO_LARGE = "raise the backend's limit, or otlp.maxBytesPerRequest";
const ADVICE: Readonly<Record<number, string>> = {
  200: "check otlp.endpoint: it is the address of an OTLP receiver, often on port 4318",
  400: "what is refused waits and holds up nothing; if it is everything, check otlp.protocol",
  401: "check otlp.headers.authorization",
  403: "check otlp.headers.authorization: these credentials may not write",
  415: "check otlp.protocol",
};

const iso = (ms: number | undefined): string => (ms === undefined ? "later" : new Date(ms).toISOString());
