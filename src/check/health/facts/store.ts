import { existsSync, readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import * as z from "zod";
import type { Context } from "#config/context.ts";
import { OTLP_SIGNALS } from "#core/model/settings.ts";
import { SHAPES } from "#core/telemetry/shapes.ts";
import { isoTime } from "#kit/text/figures.ts";
import { type BridgeCommandState, bridgeCommandStates } from "#store/bridge.ts";
import { type Overflow, overflowState } from "#store/cardinality.ts";
import { type Database, StoreError } from "#store/database.ts";
import { sessionFailures } from "#store/failures.ts";
import { LAST_DRAIN, RETRIED_QUARANTINE, readMeta } from "#store/meta.ts";
import { type NativeCounts, nativeCounts } from "#store/native.ts";
import { outboxState } from "#store/outbox.ts";
import { type PutBack, putBackOf } from "#store/put-back.ts";
import { sessionCounts, sessionsWithoutTranscript, unreadableLines } from "#store/queries.ts";
import { readStore } from "#store/read-only.ts";
import { committedFiles, type LostEvents, lostEvents } from "#store/self.ts";
import { describeStoreError } from "#store/sessions/open-store.ts";
import { unwrittenCounted } from "#store/unwritten.ts";
import { parsedJson } from "./files.ts";
import { NO_SELF, type SelfStatus, selfOf } from "./self-telemetry.ts";
import type { Facts, LastDrain } from "./shape.ts";

/** Facts from the store; `state` shows whether it could be read. */
export interface StoreFacts {
  readonly state: Facts["store"]["state"];
  readonly sessions: number;
  readonly open: number;
  readonly outbox: Facts["outbox"];
  readonly logOutbox: Facts["log_outbox"];
  readonly overflow: readonly Overflow[];
  readonly failed: Facts["failed"];
  readonly lastDrain: LastDrain | null;
  readonly self: SelfStatus;
  readonly lost: LostEvents;
  /** How many of `lost` are events for which the hook could not create a file. */
  readonly unwrittenCounted: number;
  readonly bridgeCommands: readonly BridgeCommandState[];
  /** Names of claimed files whose events are stored and which may still exist. */
  readonly committedFiles: ReadonlySet<string>;
  /** Absent: the store could not be read. */
  readonly native?: NativeCounts;
  readonly meta: (key: string) => string | undefined;
  /** Present if an older store was put back. */
  readonly putBack?: PutBack | undefined;
  /** Paths of transcripts that were reported and never existed, the latest session's first; at most `TRANSCRIPTS_CHECKED`. */
  readonly missingTranscripts: readonly string[];
  /** Transcript lines that could not be read. */
  readonly unreadable: { readonly lines: number; readonly files: number };
  /** Why it could not be read, with the remedy. */
  readonly problem?: string;
}

/** Reads the store; an unreadable one is reported, not thrown. */
export function storeOf({ places }: Context): StoreFacts {
  try {
    return readStore(places.storePath, storeFacts) ?? NO_STORE;
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return { ...NO_STORE, state: STATES[error.code], problem: describeStoreError(error) };
  }
}

/**
 * Damaged stores that were set aside beside the store, newest first, with the day in UTC: they stay until the user deletes them.
 *
 * @returns nothing if there are none, or the directory cannot be listed
 */
export function setAsideStores(storePath: string): readonly { readonly path: string; readonly day: string }[] {
  const before = `${basename(storePath)}.damaged-`;
  return namesIn(dirname(storePath))
    .filter((name) => name.startsWith(before) && name.endsWith("Z"))
    .sort()
    .reverse()
    .map((name) => ({
      path: join(dirname(storePath), name),
      day: name.slice(before.length, before.length + "2026-11-21".length),
    }));
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
  outbox: { waiting_spans: 0, refused_spans: 0, bytes: 0, oldest: null },
  logOutbox: { waiting: 0, refused: 0, bytes: 0, oldest: null, dropped: 0, rejected: 0 },
  overflow: [],
  failed: [],
  lastDrain: null,
  self: NO_SELF,
  lost: { total: 0 },
  unwrittenCounted: 0,
  bridgeCommands: [],
  committedFiles: new Set(),
  meta: () => undefined,
  missingTranscripts: [],
  unreadable: { lines: 0, files: 0 },
};

const META_KEYS = [
  RETRIED_QUARANTINE,
  ...OTLP_SIGNALS.flatMap((signal) =>
    ["last_ok_ms", "last_reason", "last_rejected", "last_records", "size_limit", "not_before_ms"].map(
      (name) => `${signal}.${name}`,
    ),
  ),
];

function storeFacts(db: Database): StoreFacts {
  const { records: spans, refused, bytes, oldestMs } = outboxState(db);
  const logs = outboxState(db, "logs");
  const meta = new Map(META_KEYS.map((key) => [key, readMeta(db, key)]));
  return {
    state: "ok",
    ...sessionCounts(db),
    outbox: { waiting_spans: spans, refused_spans: refused, bytes, oldest: isoTime(oldestMs) },
    logOutbox: {
      waiting: logs.records,
      refused: logs.refused,
      bytes: logs.bytes,
      oldest: isoTime(logs.oldestMs),
      dropped: logs.droppedTotal,
      rejected: logs.rejectedTotal,
    },
    overflow: overflowState(db),
    failed: sessionFailures(db).map(({ source, sessionId, step, reason, path = null, attempts, sinceMs }) => ({
      source,
      session_id: sessionId,
      step,
      reason,
      path,
      attempts,
      since: isoTime(sinceMs),
    })),
    lastDrain: lastDrainOf(readMeta(db, LAST_DRAIN)),
    self: selfOf(db),
    lost: lostEvents(db),
    unwrittenCounted: unwrittenCounted(db),
    bridgeCommands: bridgeCommandStates(db),
    committedFiles: committedFiles(db),
    native: nativeCounts(db, SHAPES.unjoined.name),
    meta: (key) => meta.get(key),
    putBack: putBackOf(db),
    missingTranscripts: missingTranscripts(db),
    unreadable: unreadableLines(db),
  };
}

/** Limit for the files checked on disk; more would make `status` slow without new information. */
const TRANSCRIPTS_CHECKED = 50;

const missingTranscripts = (db: Database): readonly string[] =>
  sessionsWithoutTranscript(db, TRANSCRIPTS_CHECKED).flatMap(({ transcriptPath: path }) =>
    path === undefined || existsSync(path) ? [] : [path],
  );

function namesIn(dir: string): readonly string[] {
  try {
    return readdirSync(dir);
  } catch {
    return [];
  }
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
