import { existsSync } from "node:fs";
import * as z from "zod";
import type { Context } from "#config/context.ts";
import { METRIC_SHAPES } from "#core/telemetry/shapes.ts";
import { plural } from "#kit/text/figures.ts";
import { type BridgeCommandState, bridgeCommandStates } from "#store/bridge-state.ts";
import { MAX_SERIES, MAX_SERIES_OF_SESSION, type Overflow, overflowState } from "#store/cardinality.ts";
import { type Database, StoreError } from "#store/database.ts";
import { type FailedStep, type SessionFailure, sessionFailures } from "#store/failures.ts";
import { readMeta } from "#store/meta.ts";
import { LAST_DRAIN, RETRIED_QUARANTINE } from "#store/meta-keys.ts";
import { type OutboxState, outboxState } from "#store/outbox.ts";
import { type PutBack, putBackOf, putBackText } from "#store/put-back.ts";
import { sessionCounts, sessionsWithoutTranscript, unreadableLines } from "#store/queries.ts";
import { readStore } from "#store/read-only.ts";
import { committedFiles, type LostEvents, lostEvents } from "#store/self.ts";
import { describeStoreError } from "#store/sessions/open-store.ts";
import { unwrittenCounted } from "#store/unwritten.ts";
import { damagedStoreRemarks } from "./damaged-stores.ts";
import { parsedJson } from "./files.ts";
import { NO_SELF, type SelfStatus, selfOf } from "./self-telemetry.ts";
import type { LastDrain, Status } from "./shape.ts";

/** Facts from the store; `state` shows whether it could be read. */
export interface StoreFacts {
  readonly state: Status["store"]["state"];
  readonly sessions: number;
  readonly open: number;
  readonly outbox: Pick<OutboxState, "spans" | "refused" | "bytes" | "oldestMs">;
  readonly overflow: readonly Overflow[];
  readonly failed: readonly SessionFailure[];
  readonly lastDrain: LastDrain | null;
  readonly self: SelfStatus;
  readonly lost: LostEvents;
  /** How many of `lost` are events for which the hook could not create a file. */
  readonly unwrittenCounted: number;
  readonly bridgeCommands: readonly BridgeCommandState[];
  /** Names of claimed files whose events are stored and which may still exist. */
  readonly committedFiles: ReadonlySet<string>;
  readonly meta: (key: string) => string | undefined;
  /** Present if an older store was put back. */
  readonly putBack?: PutBack | undefined;
  readonly broken: readonly string[];
  readonly remarks: readonly string[];
}

/** Reads the store; an unreadable one is reported, not thrown. */
export function storeOf({ places, now }: Context): StoreFacts {
  const damaged = damagedStoreRemarks(places.storePath);
  try {
    const facts = readStore(places.storePath, storeFacts) ?? NO_STORE;
    return { ...facts, remarks: [...facts.remarks, ...putBackRemark(facts.putBack, now()), ...damaged] };
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    const state = STATES[error.code];
    const text = describeStoreError(error);
    // After an update nothing is wrong: the next drain migrates the store
    if (state === "older") return { ...NO_STORE, state, remarks: [text, ...damaged] };
    return { ...NO_STORE, state, broken: [text], remarks: damaged };
  }
}

// --- internal ---

const STATES = {
  E_STORE_DAMAGED: "damaged",
  E_STORE_NEWER: "newer",
  E_STORE_OLDER: "older",
  E_STORE: "unreadable",
} as const satisfies Readonly<Record<StoreError["code"], StoreFacts["state"]>>;

const NO_STORE: StoreFacts = {
  state: "none",
  sessions: 0,
  open: 0,
  outbox: { spans: 0, refused: 0, bytes: 0 },
  overflow: [],
  failed: [],
  lastDrain: null,
  self: NO_SELF,
  lost: { total: 0 },
  unwrittenCounted: 0,
  bridgeCommands: [],
  committedFiles: new Set(),
  meta: () => undefined,
  broken: [],
  remarks: [],
};

const META_KEYS = [
  RETRIED_QUARANTINE,
  ...["traces", "metrics"].flatMap((signal) =>
    ["last_ok_ms", "last_reason", "last_rejected", "last_records", "size_limit", "not_before_ms"].map(
      (name) => `${signal}.${name}`,
    ),
  ),
];

function storeFacts(db: Database): StoreFacts {
  const { sessions, open: openCount } = sessionCounts(db);
  const outbox = outboxState(db);
  const overflow = overflowState(db);
  const failed = sessionFailures(db);
  const meta = new Map(META_KEYS.map((key) => [key, readMeta(db, key)]));
  return {
    state: "ok",
    sessions,
    open: openCount,
    outbox,
    overflow,
    failed,
    lastDrain: lastDrainOf(readMeta(db, LAST_DRAIN)),
    self: selfOf(db),
    lost: lostEvents(db),
    unwrittenCounted: unwrittenCounted(db),
    bridgeCommands: bridgeCommandStates(db),
    committedFiles: committedFiles(db),
    meta: (key) => meta.get(key),
    broken: [],
    putBack: putBackOf(db),
    remarks: [
      ...failureRemarks(failed),
      ...missingTranscripts(db),
      ...unreadableRemark(db),
      ...refusedSpansRemark(outbox),
      ...overflowRemark(overflow),
    ],
  };
}

const number = z.number().default(0);
const DrainNote = z.object({
  atMs: z.number(),
  files: number,
  events: number,
  ignored: number,
  quarantined: number,
  left: number,
  transcriptLinesUnreadable: number,
  spans: number,
  sent: number,
  rejected: number,
  problems: z.array(z.string()).default([]),
});

function lastDrainOf(note: string | undefined): LastDrain | null {
  const stored = note === undefined ? undefined : DrainNote.safeParse(parsedJson(note)).data;
  if (stored === undefined) return null;
  const { atMs, transcriptLinesUnreadable, ...rest } = stored;
  return { at: new Date(atMs).toISOString(), ...rest, transcript_lines_unreadable: transcriptLinesUnreadable };
}

const PUT_BACK_SHOWN_MS = 30 * 24 * 3_600_000;

const putBackRemark = (putBack: PutBack | undefined, nowMs: number): readonly string[] =>
  putBack === undefined || nowMs - putBack.atMs > PUT_BACK_SHOWN_MS ? [] : [putBackText(putBack)];

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
function failureRemarks(failed: readonly SessionFailure[]): readonly string[] {
  const shown = failed.slice(0, FAILURES_SHOWN).map((failure) => {
    const { source, sessionId, step, reason, path, attempts } = failure;
    if (step === "limit" || step === "records") return setAsideText(failure);
    const of = path === undefined ? "" : ` of ${path}`;
    const tried = attempts === 1 ? "" : `, tried ${attempts} times`;
    const { what, sequel } = FAILED[step];
    return `could not ${what} the session ${sessionId} (${source})${of}: ${reason}${tried}; ${sequel}`;
  });
  const more = failed.length - shown.length;
  return more > 0 ? [...shown, `${plural(more, "more failure")} of this kind; --json lists them all`] : shown;
}

type SetAsideStep = "limit" | "records";

function setAsideText({ source, sessionId, step, reason, path, attempts }: SessionFailure): string {
  const of = `${path ?? "a transcript"} (session ${sessionId}, ${source})`;
  return step === "records"
    ? `set aside: ${plural(attempts, "record")} of ${of}: ${reason}; everything else in the file was read`
    : `set aside: ${of}: ${reason}; the file is read again when it changes or after an update; other sessions are not affected`;
}

/** Limit for the files checked on disk; more would make `status` slow without new information. */
const TRANSCRIPTS_CHECKED = 50;

/** Sessions whose reported transcript never existed. */
function missingTranscripts(db: Database): readonly string[] {
  const missing = sessionsWithoutTranscript(db, TRANSCRIPTS_CHECKED).filter(
    ({ transcriptPath }) => transcriptPath !== undefined && !existsSync(transcriptPath),
  );
  const [newest] = missing;
  if (newest === undefined) return [];
  const of = missing.length === 1 ? "a session" : plural(missing.length, "session");
  return [
    `the transcript of ${of} could not be read, so tokens and model calls are unknown: ${newest.transcriptPath} does not exist`,
  ];
}

function unreadableRemark(db: Database): readonly string[] {
  const { lines, files } = unreadableLines(db);
  return lines === 0
    ? []
    : [`${plural(lines, "transcript line")} in ${plural(files, "file")} could not be read; the other lines were`];
}

const refusedSpansRemark = ({ refused }: OutboxState): readonly string[] =>
  refused === 0
    ? []
    : [
        `the backend refuses ${plural(refused, "span")} or reports ${refused === 1 ? "it" : "them"} as too large; see drain.log for the reason. Other spans are delivered. Refused spans are retried every hour until outbox.maxAgeDays`,
      ];

function overflowRemark(overflow: readonly Overflow[]): readonly string[] {
  return overflow.map(({ metric, series, amount, madeMost }) => {
    const why =
      madeMost !== undefined && madeMost.series >= MAX_SERIES_OF_SESSION
        ? `${madeMost.session} made ${madeMost.series} series, the limit for one session`
        : `it has ${series} series, the limit is ${MAX_SERIES}`;
    return `series limit reached: ${metric}: ${why}. New series are combined in one with the attribute otel.metric.overflow, which holds ${amountOf(metric, amount)}; sums stay correct. Series that do not change for a day make room; prune does so immediately`;
  });
}

/** In the metric's unit; of a histogram, the number of values. */
function amountOf(metric: string, amount: number): string {
  const shape = METRIC_SHAPES.get(metric);
  if (shape?.type !== "counter") return plural(amount, "value");
  return `${shape.value === "nano" ? amount / 1e9 : amount} ${shape.unit.replace(/[{}]/g, "")}`;
}
