import { statSync } from "node:fs";
import { dirname } from "node:path";
import type { MetricShape } from "#core/model/telemetry.ts";
import { suggest } from "#kit/suggest.ts";
import type { Database } from "./database.ts";
import { adoptDelivered, deliveredAfter, generationOf } from "./delivered-log.ts";
import { fileSystemOf } from "./file-system.ts";
import { changeInstance, hasInstanceId, restartCounters, type StorePlace } from "./instance.ts";
import { readMeta, writeMeta } from "./meta.ts";
import { putBackNote } from "./put-back-note.lazy.ts";

/** What is known about an older store that was put back, for example from a backup. */
export interface PutBack {
  /** When a drain noticed it, in milliseconds since the epoch. */
  readonly atMs: number;
  /** The last delivery of metrics that the store knows of; absent: it knows of none. */
  readonly storeMs?: number | undefined;
  /** The last delivery before it was put back; absent: unknown, because `delivered.log` was put back too. */
  readonly deliveredMs?: number | undefined;
  /** Deliveries, or parts of them, are missing in `delivered.log`: what they contained is counted again if transcripts report it again. */
  readonly hasGap: boolean;
}

/** What was noticed last; `undefined` if this store was never put back. */
export function putBackOf(db: Database): PutBack | undefined {
  const text = readMeta(db, PUT_BACK);
  return text === undefined ? undefined : putBackNote(JSON.parse(text));
}

/**
 * Metrics of a store that was put back continue under another instance id: its sums are lower than those that the backend has, which
 * would be counted again as they grow. Facts that were delivered meanwhile are not counted again. Unsent sums are dropped if a
 * later delivery contained them, and move to the new series otherwise.
 *
 * A new store in the place of another one only gets the delivered facts, so that they are not counted again.
 *
 * @returns `undefined` if nothing was put back
 */
export function noticePutBack(
  db: Database,
  place: StorePlace & { readonly storePath: string },
  shapes: ReadonlyMap<string, MetricShape>,
  nowMs: number,
): PutBack | undefined {
  const records = deliveredAfter(place.storePath, generationOf(db));
  const newest = records.at(-1);
  const isReplaced = noteFile(db, place.storePath);
  if (newest === undefined && !isReplaced) return undefined;
  const lastMs = Number(readMeta(db, "metrics.last_ok_ms") ?? "0");
  const found: PutBack = {
    atMs: nowMs,
    hasGap:
      newest === undefined || (records[0]?.after ?? 0) > generationOf(db) || records.some(({ isPartial }) => isPartial),
    ...(newest !== undefined && { deliveredMs: newest.atMs }),
    ...(lastMs > 0 && { storeMs: lastMs }),
  };
  const isOlder = hasInstanceId(db);
  db.transaction(() => {
    adoptDelivered(db, records);
    if (!isOlder) return;
    if (records.some(({ isComplete }) => isComplete)) restartCounters(db, place);
    else changeInstance(db, place, shapes, nowMs);
    writeMeta(db, PUT_BACK, JSON.stringify(found));
  });
  return isOlder ? found : undefined;
}

/** What happened, and what follows from it; one line. */
export function putBackText({ atMs, storeMs, deliveredMs, hasGap }: PutBack): string {
  const until = storeMs === undefined ? "knows of no delivery" : `knows of deliveries until ${timeText(storeMs)}`;
  const last = deliveredMs === undefined ? "later ones are not known" : `the last one was ${timeText(deliveredMs)}`;
  const counted = hasGap
    ? "not all of what was delivered meanwhile is known, so some of it can be counted twice"
    : "what was delivered meanwhile is not counted again";
  return (
    `an older store.db was put back (noticed ${timeText(atMs)}): it ${until}, ${last}; ` +
    `metrics continue under a new service.instance.id; ${counted}; ` +
    `events that only hooks reported meanwhile are missing in reports, sessions with transcripts can be read again: ${suggest("import")}`
  );
}

/**
 * Stores the inode number of the store's file. If a backup program put back the whole state directory, `delivered.log` is as old as the
 * store and shows nothing; but such a program usually creates new files, with other inode numbers.
 *
 * @returns whether it was another file before; false on file systems that change the numbers of their files
 */
export function noteFile(db: Database, storePath: string): boolean {
  if (!fileSystemOf(dirname(storePath)).hasStableInodes) return false;
  const here = String(statSync(storePath, { bigint: true }).ino);
  const known = readMeta(db, FILE);
  if (known === here) return false;
  writeMeta(db, FILE, here);
  return known !== undefined;
}

// --- internal ---

/** Inode number of the store's file. */
const FILE = "store.file";

const timeText = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;

const PUT_BACK = "store.put_back";
