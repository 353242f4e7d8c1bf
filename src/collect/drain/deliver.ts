import { isUnknown } from "#config/config-state.ts";
import type { HeaderReader } from "#config/headers.ts";
import { type Destinations, OTLP_SIGNALS, type OtlpSignal } from "#core/model/settings.ts";
import type { MetricPoint } from "#core/model/telemetry.ts";
import { messageOf } from "#kit/errors.ts";
import { type FaultPoint, step } from "#kit/fault-points.ts";
import {
  type DeliverySummary,
  deliverMetrics,
  deliverQueued,
  isBadContent,
  joined,
  NOTHING_SENT,
  type Row,
  rejectedOf,
} from "#send/otlp/deliver.ts";
import { probe } from "#send/otlp/probe.lazy.ts";
import { createSender, type Sender } from "#send/otlp/send.lazy.ts";
import { reportProblem, reportProblemOnce } from "#store/capture/context.ts";
import { checkpoint, StoreError } from "#store/database.ts";
import { deliveredLogOf, limitCountedLately, raiseGeneration, writeDelivered } from "#store/delivered-log.ts";
import { clearSpanFailures } from "#store/failures.ts";
import { readMeta, writeMeta } from "#store/meta.ts";
import {
  acknowledge,
  enforceLimits,
  hasQueued,
  OUTBOX_PARTS,
  type QueuedSignal,
  queuedCount,
  recordFailure,
  sessionOfQueued,
  settleRejected,
} from "#store/outbox.ts";
import { clampTimes, markSent } from "#store/pending-streams.ts";
import { addRejectedPoints, clearMissingPoints } from "#store/rejected-points.ts";
import { headerReader } from "../bridge/read-headers.ts";
import { type Circuit, circuitOf, recordDelivery } from "./circuit.ts";
import { BackendResponses, backendNowMs, hasNoClockJump, isClockOff } from "./clock.ts";
import { affectsAllSessions, noteFailure } from "./contain.ts";
import { type Drain, emptyQueueReport, type QueueReport } from "./context.ts";
import { adviceOn } from "./delivery-advice.ts";
import { deliverySettings, destinationsOf, LOGS, metricRows, type Queue, rowsOf, SPANS } from "./delivery-rows.ts";
import { areMetricsDue } from "./self.ts";

interface DeliverOptions {
  /** The user started the drain: retry backends that failed recently, and spans that were refused, immediately. */
  readonly isEager?: boolean;
}

/**
 * Queues and counters → backend. Spans and log records leave their queue when the backend acknowledged them, or when it is over its
 * limits. Without an endpoint nothing is sent; the records stay in the store.
 */
export async function deliver(drain: Drain, { isEager = false }: DeliverOptions = {}): Promise<void> {
  const { db, report } = drain;
  const settings = destinationsOf(drain);
  report.hasDestination = OTLP_SIGNALS.some((signal) => settings[signal] !== undefined);
  if (drain.loaded.config.logs !== "off") report.logs ??= emptyQueueReport();
  const responses = new BackendResponses(drain.now);
  const { version, places, platform, now } = drain;
  const readHeaders = headerReader(places, platform, now);
  const sender = openedOnUse(async () =>
    createSender(await deliverySettings(drain), { version, readHeaders, onResponse: responses.add }),
  );
  try {
    for (const signal of QUEUED) dropBeyondLimits(drain, signal, settings[signal] !== undefined);
    await deliverSignal(drain, "traces", settings, isEager, (circuit) =>
      sendQueued(drain, SPANS, settings, sender, circuit, isEager),
    );
    responses.store(drain);
    await deliverSignal(drain, "logs", settings, isEager, (circuit) =>
      sendQueued(drain, LOGS, settings, sender, circuit, isEager),
    );
    if (isEager || areMetricsDue(drain)) {
      await deliverSignal(drain, "metrics", settings, isEager, async (circuit) => {
        await probeClock(drain, settings, responses, readHeaders);
        return sendMetrics(drain, settings, sender, circuit);
      });
    }
  } finally {
    sender.close();
    responses.store(drain);
    limitCountedLately(db);
    clearSpanFailures(db);
    report.waiting = queuedCount(db);
    if (report.logs !== undefined) report.logs.waiting = queuedCount(db, "logs");
  }
}

// --- internal ---

const DAY_MS = 86_400_000;
/** Drains that hooks start retry refused spans this often; such a span can be large. */
const REFUSED_AGAIN_MS = 3_600_000;
const REFUSED_TRIED = {
  traces: "outbox.refused_tried_ms",
  logs: "log_outbox.refused_tried_ms",
} as const satisfies Record<QueuedSignal, string>;
const QUEUED: readonly QueuedSignal[] = ["traces", "logs"];
/** What the records of a queue are called. */
const WORDS = { traces: "span", logs: "log record" } as const satisfies Record<QueuedSignal, string>;
const SEND = { traces: "spans.send", logs: "logs.send" } as const satisfies Record<QueuedSignal, FaultPoint>;

/** Where the results of a queue are counted. */
const reportOn = ({ report }: Drain, signal: QueuedSignal): QueueReport =>
  signal === "traces" ? report : (report.logs ?? emptyQueueReport());

/** A sender that is opened by the first request: most drains send nothing, and then load nothing of OTLP. */
function openedOnUse(open: () => Promise<Sender>): Sender {
  let opening: Promise<Sender> | undefined;
  let opened: Sender | undefined;
  const sender = async (): Promise<Sender> => {
    opening ??= open();
    opened = await opening;
    return opened;
  };
  return {
    sendSpans: async (records) => (await sender()).sendSpans(records),
    sendLogs: async (records) => (await sender()).sendLogs(records),
    sendMetrics: async (points) => (await sender()).sendMetrics(points),
    close: () => opened?.close(),
  };
}

/** A backend that refused or failed before may do so because of the size. */
const sizesOf = ({ halvings, sizeLimit, failures }: Circuit) => ({
  halvings,
  sizeLimit,
  mayBeSize: failures > 0 || sizeLimit !== undefined,
});

/** Delivers to one destination, unless it is not due yet: see `circuitOf`. */
async function deliverSignal(
  drain: Drain,
  signal: OtlpSignal,
  settings: Destinations,
  isEager: boolean,
  send: (circuit: Circuit) => Promise<DeliverySummary>,
): Promise<void> {
  const destination = settings[signal];
  if (destination === undefined) return;
  const circuit = circuitOf(drain.db, signal, destination, drain.now(), isEager);
  if (!circuit.isDue) {
    if (isEager)
      reportProblem(drain, `${signal}: not sent, the backend asked to wait until ${iso(circuit.retryAfterUntilMs)}`);
    return;
  }
  const summary = await send(circuit);
  const { sent, rejected, oversized, kept, reason, remark, stopped } = summary;
  // Nothing was sent, so the state of the backend is unknown
  if (sent + rejected + oversized + kept === 0) return;
  recordDelivery(drain.db, signal, destination, summary, circuit, drain.now());
  if (reason !== undefined) {
    const advice = adviceOn(signal, summary, destination, sizesOf(circuit).mayBeSize);
    reportProblem(drain, `${signal}: ${reason}${advice}`);
  }
  if (summary.sizeLimit !== undefined) {
    drain.log(
      `${signal}: the backend refused large requests; they have at most ${summary.sizeLimit} bytes from now on`,
    );
  }
  if (remark !== undefined) drain.log(`${signal}: accepted, with this message: ${remark}`);
  if (stopped === "time") drain.log(`${signal}: stopped after outbox.maxDeliveryMs; the next drain continues`);
}

function sendQueued<Queued extends { readonly seq: number }, Item>(
  drain: Drain,
  queue: Queue<Queued, Item>,
  settings: Destinations,
  sender: Sender,
  circuit: Circuit,
  isEager: boolean,
): Promise<DeliverySummary> {
  const { db } = drain;
  const { signal } = queue;
  const report = reportOn(drain, signal);
  const failed = new Set<number>();
  return deliverQueued(
    rowsToSend(drain, queue, failed, isEager),
    (records) => step(SEND[signal], () => queue.send(sender, records)),
    { ...settings, ...sizesOf(circuit) },
    ({ seqs, result, outcome, encodingError }) => {
      if (result === "settled") {
        const rejected = rejectedOf(outcome, seqs.length);
        report.rejected += rejected;
        report.sent += seqs.length - rejected;
        return rejected === 0 ? acknowledge(db, seqs, signal) : settleRejected(db, seqs, rejected, signal);
      }
      const [seq, ...others] = seqs;
      if (seq === undefined || others.length > 0) return;
      failed.add(seq);
      recordFailure(db, seq, result === "oversized" || isBadContent(outcome), signal);
      if (encodingError !== undefined) noteFailure(drain, sessionOfQueued(db, seq, signal), "encode", encodingError);
    },
  );
}

/** Queued records, oldest first; those that failed in a request without others come last, and only once per drain. */
function* rowsToSend<Queued extends { readonly seq: number }, Item>(
  drain: Drain,
  queue: Queue<Queued, Item>,
  failed: Set<number>,
  isEager: boolean,
): Generator<Row<Item>> {
  for (const part of OUTBOX_PARTS) {
    if (part === "refused" && !isRefusedDue(drain, queue.signal, isEager)) return;
    for (const queued of rowsOf(drain, queue, part)) {
      const { seq } = queued;
      const record = failed.has(seq) ? undefined : recordToSend(drain, queue, queued, failed);
      if (record !== undefined) yield { seq, record };
    }
  }
}

/** @returns `undefined` if the record cannot be redacted: it stays in the queue, and others are sent */
function recordToSend<Queued extends { readonly seq: number }, Item>(
  drain: Drain,
  { signal, atLevel }: Queue<Queued, Item>,
  queued: Queued,
  failed: Set<number>,
): Item | undefined {
  try {
    return atLevel(drain, queued);
  } catch (error) {
    if (affectsAllSessions(error)) throw error;
    failed.add(queued.seq);
    recordFailure(drain.db, queued.seq, true, signal);
    noteFailure(drain, sessionOfQueued(drain.db, queued.seq, signal), "redact", error);
    const what = `a ${WORDS[signal]} stays in the queue, because it cannot be redacted`;
    reportProblemOnce(drain, `${signal}: ${what}: ${messageOf(error)}`);
    return undefined;
  }
}

/** Whether refused records are retried now; stores that they are. */
function isRefusedDue({ db, now }: Drain, signal: QueuedSignal, isEager: boolean): boolean {
  const sinceMs = Math.abs(now() - Number(readMeta(db, REFUSED_TRIED[signal]) ?? "0"));
  if (!isEager && sinceMs < REFUSED_AGAIN_MS) return false;
  if (!hasQueued(db, "refused", signal)) return false;
  writeMeta(db, REFUSED_TRIED[signal], String(now()));
  return true;
}

/** Gets the backend's time again if the clock was far off: it may have been corrected. */
async function probeClock(
  drain: Drain,
  { metrics }: Destinations,
  responses: BackendResponses,
  readHeaders: HeaderReader,
): Promise<void> {
  if (metrics === undefined || responses.hasDate || !isClockOff(drain)) return;
  const { version } = drain;
  responses.addDate((await probe("metrics", metrics, { version, readHeaders, timeoutMs: metrics.timeoutMs })).dateMs);
  responses.store(drain);
}

async function sendMetrics(
  drain: Drain,
  settings: Destinations,
  sender: Sender,
  circuit: Circuit,
): Promise<DeliverySummary> {
  clampTimes(drain.db, backendNowMs(drain));
  const rows = await metricRows(drain, settings);
  const isCumulative = settings.metrics?.temporality === "cumulative";
  let isStored = false;
  const send = (some: typeof rows) =>
    deliverMetrics(
      some,
      { sendMetrics: (points) => step("metrics.send", () => sender.sendMetrics(points)) },
      { ...settings, ...sizesOf(circuit) },
      ({ seqs, result, outcome }) => {
        if (result !== "settled") return;
        const rejected = rejectedOf(outcome, seqs.length);
        drain.report.rejected += rejected;
        const counters = seqs.filter((seq) => rows[seq]?.stream !== undefined).length;
        // The backend has nothing of these counters, so they stay pending with their full sums
        if (rejected === seqs.length) return;
        const accepted = seqs.flatMap((seq) => {
          const row = rows[seq];
          return row?.stream !== undefined && row.last ? [row.stream] : [];
        });
        drain.db.transaction(() => {
          markSent(drain.db, accepted);
          // A cumulative sum is repaired by the next export, a delta is not: it counts as dropped
          if (!isCumulative && rejected > 0 && counters > 0) addRejectedPoints(drain.db, Math.min(rejected, counters));
          raiseGeneration(drain.db);
        }, "commit.metrics");
        isStored = true;
        drain.report.metricsSent = true;
      },
      isCumulative ? byKind : undefined,
    );
  // A response says how many points were rejected, not which. Deltas must not be sent twice, so gauges are not in their requests
  const isCounter = ({ stream }: (typeof rows)[number]): boolean => stream !== undefined;
  const parts = isCumulative ? [rows] : [rows.filter(isCounter), rows.filter((row) => !isCounter(row))];
  let summary = NOTHING_SENT;
  for (const part of parts) {
    if (part.length > 0 && summary.stopped === undefined) summary = joined(summary, await send(part));
  }
  if (isStored) noteDelivery(drain, summary.kept === 0);
  const isAllAccepted = summary.sent === rows.length && summary.rejected === 0;
  if (isCumulative && isAllAccepted) clearMissingPoints(drain.db);
  return summary;
}

/** Writes what was delivered to a file beside the store: see `put-back.ts`. */
function noteDelivery(drain: Drain, isComplete: boolean): void {
  const { db, places, now } = drain;
  // The file must not be newer than the store's main file: a log can get lost
  checkpoint(db);
  try {
    step("delivered.write", () => writeDelivered(db, places.storePath, { isComplete, atMs: now() }));
  } catch (error) {
    if (error instanceof StoreError) throw error;
    const path = JSON.stringify(deliveredLogOf(places.storePath));
    const text = `cannot write ${path}: ${messageOf(error)}; until it can be written, a store that is put back from a backup is not noticed`;
    reportProblemOnce(drain, text);
  }
}

/** Backends that reject some points reject whole kinds: cumulative sums, histograms. */
const byKind = (part: readonly Row<MetricPoint>[]): readonly (readonly Row<MetricPoint>[])[] =>
  ["sum", "histogram", "gauge"]
    .map((kind) => part.filter(({ record }) => record.data.kind === kind))
    .filter((points) => points.length > 0);

/** Drops records from a queue that are too old or over its size limit. Spans stay in the store. */
function dropBeyondLimits(drain: Drain, signal: QueuedSignal, hasBackend: boolean): void {
  const { loaded } = drain;
  const { maxAgeDays, maxMegabytes } = loaded.config.outbox;
  const isAged = hasNoClockJump(drain.db, drain.now()) && !isUnknown(loaded, "outbox.maxAgeDays");
  const limits = {
    maxAgeMs: isAged ? maxAgeDays * DAY_MS : Number.POSITIVE_INFINITY,
    maxBytes: isUnknown(loaded, "outbox.maxMegabytes") ? Number.POSITIVE_INFINITY : maxMegabytes * 1_000_000,
  };
  const { tooOld, tooMuch } = enforceLimits(drain.db, limits, drain.now(), hasBackend, signal);
  if (tooOld + tooMuch === 0) return;
  const why = [
    ...(tooOld > 0 ? [`${tooOld} were queued for more than ${maxAgeDays} days (outbox.maxAgeDays)`] : []),
    ...(tooMuch > 0 ? [`${tooMuch} exceeded the limit of ${maxMegabytes} MB (outbox.maxMegabytes)`] : []),
  ].join(", ");
  if (!hasBackend) {
    drain.log(`outbox: ${WORDS[signal]}s were dropped from the queue; no endpoint was set: ${why}`);
    return;
  }
  reportOn(drain, signal).dropped += tooOld + tooMuch;
  reportProblem(
    drain,
    `outbox: ${WORDS[signal]}s were dropped and will not be sent: ${why}; ${signal === "traces" ? "they" : "their spans"} stay in the store`,
  );
}

const iso = (ms: number | undefined): string => (ms === undefined ? "later" : new Date(ms).toISOString());
