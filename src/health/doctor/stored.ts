import { stat } from "node:fs/promises";
import type { Context } from "../../context.ts";
import { suggest } from "../../model/suggest.ts";
import { adviceOn, REPAIR } from "../../sessions/open-store.ts";
import type { Database } from "../../store/database.ts";
import { StoreError } from "../../store/database.ts";
import { checkIntegrity, lastActivityMs, type SourceActivity, sourceActivity } from "../../store/health.ts";
import { readStore } from "../../store/read-only.ts";
import { count, duration, localTime, plural } from "../../text/figures.ts";
import { byReason, quarantinedIn } from "../status/quarantine.ts";
import type { Status } from "../status/shape.ts";
import { storeOf } from "../status/stored.ts";
import { staleRemark } from "../status/waiting.ts";
import { type Finding, inArea } from "./finding.ts";

/** What other checks need from the store; empty if there is none or it cannot be read. */
export interface Heard {
  readonly of: (source: string) => SourceActivity | undefined;
  readonly newestMs: number | undefined;
}

/** The store, checked by SQLite itself, read-only. */
export async function storeFindings(
  status: Status,
  context: Context,
): Promise<{ readonly findings: readonly Finding[]; readonly heard: Heard }> {
  const { ok, remark, broken } = inArea("store");
  const nothing: Heard = { of: () => undefined, newestMs: undefined };
  const { storePath } = context.places;
  const sizeBytes = await stat(storePath).then(
    ({ size }) => size,
    () => 0,
  );
  const sources = status.agents.map(({ source }) => source);
  try {
    const found = readStore(storePath, (db) => look(db, sizeBytes, sources));
    if (found === undefined) return { findings: [ok("none yet")], heard: nothing };
    const { problems, isWhole, ...heard } = found;
    const { sessions, open } = status.store;
    const held = `${plural(sessions, "session")}, ${open} open, ${count(status.outbox.waiting_spans)} spans waiting`;
    const checked = isWhole ? "SQLite finds it sound" : "too large to be read through, its small tables are sound";
    const findings =
      problems.length === 0
        ? [ok(`${held}; ${checked}`)]
        : problems.map((problem) => broken(`${storePath} is damaged: ${problem}`, REPAIR));
    return { findings: [...findings, ...storeOf(context).remarks.map((text) => remark(text))], heard };
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return { findings: [broken(adviceOn(error))], heard: nothing };
  }
}

/** Queued and quarantined payloads. */
export async function* inboxFindings(status: Status, context: Context): AsyncGenerator<Finding> {
  const { inbox } = status;
  const { ok, remark } = inArea("inbox");
  const waiting = inbox.waiting + inbox.claimed;
  const ageMs = inbox.oldest === null ? 0 : context.now() - Date.parse(inbox.oldest);
  const stale = staleRemark(inbox, context.now());
  for (const text of stale) yield remark(text);
  if (stale.length === 0) {
    yield ok(waiting === 0 ? "empty" : `${plural(waiting, "event")} waiting, the oldest for ${duration(ageMs)}`);
  }
  const aside = inArea("quarantine");
  if (inbox.quarantined === 0) return yield aside.ok("empty");
  yield aside.remark(
    `${plural(inbox.quarantined, "payload")} set aside in ${inbox.quarantine_dir}`,
    `update openhook-otel, then: ${suggest("replay")}`,
  );
  const reasons = byReason(await quarantinedIn(inbox.quarantine_dir, REASONS_READ));
  for (const [reason, n] of reasons.slice(0, REASONS_SHOWN)) yield aside.remark(`${n} × ${reason}`);
}

/** Times in the future: this machine's clock was ahead, or was set back. */
export function* futureFindings({ newestMs: newest }: Heard, nowMs: number): Generator<Finding> {
  if (newest === undefined || newest - nowMs < FUTURE_MS) return;
  yield inArea("clock").remark(
    `the store holds something of ${localTime(newest)}, ${duration(newest - nowMs)} ahead of this machine's clock`,
    "compare the clock with another one; if it was set back, later sessions are right again",
  );
}

// --- internal ---

const REASONS_READ = 1000;
const REASONS_SHOWN = 10;
/** More than rounding by file systems and clock drift. */
const FUTURE_MS = 60_000;

function look(db: Database, sizeBytes: number, sources: readonly string[]) {
  const heard = new Map(sources.map((source) => [source, sourceActivity(db, source)]));
  return { ...checkIntegrity(db, sizeBytes), newestMs: lastActivityMs(db), of: (source: string) => heard.get(source) };
}
