import { METRIC_SHAPES } from "#core/telemetry/shapes.ts";
import { duration, localTime, plural } from "#kit/text/figures.ts";
import { MAX_SERIES, MAX_SERIES_OF_SESSION, type Overflow } from "#store/cardinality.ts";
import type { FailedStep } from "#store/failures.ts";
import { putBackText } from "#store/put-back.ts";
import { describeStoreError, repairHint } from "#store/sessions/open-store.ts";
import type { Examined } from "../facts/examined.ts";
import type { Facts } from "../facts/shape.ts";
import { type StoreFacts, setAsideStores } from "../facts/store.ts";
import type { Tried } from "../facts/tried.ts";
import { type Finding, inArea, onlyInStatus, type StatusLine } from "../finding.ts";

/** What SQLite said of the store, and what is in it. */
export function* storeFindings(tried: Omit<Tried, "exposed" | "hookSource">): Generator<Finding> {
  const { facts, context, checked } = tried;
  const { error, integrity } = checked;
  const { ok, remark, broken } = inArea("store");
  // Nothing is wrong after an update: the next drain migrates the store
  if (error !== undefined) return yield (error.code === "E_STORE_OLDER" ? remark : broken)(describeStoreError(error));
  if (integrity === undefined) return yield ok("none yet");
  const { sessions, open } = facts.store;
  const content = `${plural(sessions, "session")}, ${open} open, ${plural(facts.outbox.waiting_spans, "span")} queued`;
  const extent = integrity.isWhole
    ? "SQLite's integrity check found no problem"
    : "too large for a full check; its small tables are intact";
  if (integrity.problems.length === 0) yield ok(`${content}; ${extent}`);
  for (const problem of integrity.problems) {
    yield broken(`${context.places.storePath} is damaged: ${problem}`, repairHint());
  }
  for (const text of storeRemarks(tried)) yield remark(text);
}

/** What `status` says of the store, which it does not have SQLite check. */
export function* storeLines(examined: Examined): Generator<StatusLine> {
  const { problem, state } = examined.store;
  if (problem !== undefined) yield onlyInStatus(state === "older" ? "remark" : "broken", problem);
  for (const text of storeRemarks(examined)) yield onlyInStatus("remark", text);
}

/** Times in the future: this machine's clock was ahead, or was set back. */
export function* futureFindings({ checked: { newestMs: newest }, context }: Tried): Generator<Finding> {
  const aheadMs = newest === undefined ? 0 : newest - context.now();
  if (newest === undefined || aheadMs < FUTURE_MS) return;
  yield inArea("clock").remark(
    `the store has an event at ${localTime(newest)}, ${duration(aheadMs)} ahead of this machine's clock`,
    "check this machine's clock; if it was set back, new sessions get correct times",
  );
}

// --- internal ---

/** More than rounding by file systems and clock drift. */
const FUTURE_MS = 60_000;

const PUT_BACK_SHOWN_MS = 30 * 24 * 3_600_000;

function* storeRemarks({ store, context }: Examined): Generator<string> {
  yield* failureRemarks(store);
  const [newest, ...others] = store.missingTranscripts;
  if (newest !== undefined) {
    const whose = others.length === 0 ? "a session" : plural(others.length + 1, "session");
    yield `the transcript of ${whose} could not be read, so tokens and model calls are unknown: ${newest} does not exist`;
  }
  const { lines, files } = store.unreadable;
  if (lines > 0) {
    yield `${plural(lines, "transcript line")} in ${plural(files, "file")} could not be read; the other lines were`;
  }
  const queues = [
    ["span", store.outbox.refused_spans],
    ["log record", store.logOutbox.refused],
  ] as const;
  for (const [noun, refused] of queues) {
    if (refused === 0) continue;
    yield `the backend refuses ${plural(refused, noun)} or reports ${refused === 1 ? "it" : "them"} as too large; see drain.log for the reason. Other ${noun}s are delivered. Refused ${noun}s are retried every hour until outbox.maxAgeDays`;
  }
  for (const overflow of store.overflow) yield overflowText(overflow);
  const { putBack } = store;
  if (putBack !== undefined && context.now() - putBack.atMs <= PUT_BACK_SHOWN_MS) yield putBackText(putBack);
  for (const { path, day } of setAsideStores(context.places.storePath)) {
    yield `a damaged store was set aside on ${day} as ${path}; drain.log lists what was recovered from it; delete it when you no longer need it`;
  }
}

const FAILURES_SHOWN = 3;

/** What failed, and what follows from it. */
const FAILED: Readonly<Record<Exclude<FailedStep, SetAsideStep>, { readonly what: string; readonly sequel: string }>> =
  {
    read: { what: "read", sequel: "other sessions are not affected, and every drain retries: if it stays, report it" },
    build: {
      what: "build",
      sequel: "other sessions are not affected, and every drain retries: if it stays, report it",
    },
    redact: {
      what: "redact a span of",
      sequel: "it stays in the queue, other spans are delivered, and drains retry every hour: if it stays, report it",
    },
    encode: {
      what: "encode a span of",
      sequel: "it stays in the queue, other spans are delivered, and drains retry every hour: if it stays, report it",
    },
    price: { what: "price a model call of", sequel: "its cost is unknown, its tokens are not affected: report it" },
  };

/** Work on sessions that failed. */
function failureRemarks({ failed }: StoreFacts): readonly string[] {
  const shown = failed.slice(0, FAILURES_SHOWN).map((failure) => {
    const { source, session_id: sessionId, step, reason, path, attempts } = failure;
    if (step === "limit" || step === "records") return setAsideText(failure);
    const from = path === null ? "" : ` of ${path}`;
    const tried = attempts === 1 ? "" : `, tried ${attempts} times`;
    const { what, sequel } = FAILED[step];
    return `could not ${what} the session ${sessionId} (${source})${from}: ${reason}${tried}; ${sequel}`;
  });
  const more = failed.length - shown.length;
  return more > 0 ? [...shown, `${plural(more, "more failure")} of this kind; --json lists them all`] : shown;
}

type SetAsideStep = "limit" | "records";

function setAsideText({
  source,
  session_id: sessionId,
  step,
  reason,
  path,
  attempts,
}: Facts["failed"][number]): string {
  const what = `${path ?? "a transcript"} (session ${sessionId}, ${source})`;
  return step === "records"
    ? `set aside: ${plural(attempts, "record")} of ${what}: ${reason}; everything else in the file was read`
    : `set aside: ${what}: ${reason}; the file is read again when it changes or after an update; other sessions are not affected`;
}

function overflowText({ metric, series, amount, madeMost }: Overflow): string {
  const why =
    madeMost !== undefined && madeMost.series >= MAX_SERIES_OF_SESSION
      ? `${madeMost.session} made ${madeMost.series} series, the limit for one session`
      : `it has ${series} series, the limit is ${MAX_SERIES}`;
  return `series limit reached: ${metric}: ${why}. New series are combined in one with the attribute otel.metric.overflow, which holds ${amountOf(metric, amount)}; sums stay correct. Series that do not change for a day make room; prune does so immediately`;
}

/** In the metric's unit; of a histogram, the number of values. */
function amountOf(metric: string, amount: number): string {
  const shape = METRIC_SHAPES.get(metric);
  if (shape?.type !== "counter") return plural(amount, "value");
  return `${shape.value === "nano" ? amount / 1e9 : amount} ${shape.unit.replace(/[{}]/g, "")}`;
}
