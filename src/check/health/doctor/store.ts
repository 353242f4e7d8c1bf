import { stat } from "node:fs/promises";
import type { Context } from "#config/context.ts";
import { duration, localTime, plural } from "#kit/text/figures.ts";
import type { Database } from "#store/database.ts";
import { StoreError } from "#store/database.ts";
import { checkIntegrity, lastActivityMs, type SourceActivity, sourceActivity } from "#store/health.ts";
import { readStore } from "#store/read-only.ts";
import { describeStoreError, repairHint } from "#store/sessions/open-store.ts";
import type { Status } from "../status/shape.ts";
import { storeOf } from "../status/store.ts";
import { type Finding, inArea } from "./finding.ts";

/** What other checks need from the store; empty if there is none or it cannot be read. */
export interface StoreActivity {
  readonly of: (source: string) => SourceActivity | undefined;
  readonly newestMs: number | undefined;
}

/** The store, checked by SQLite itself, read-only. */
export async function storeFindings(
  status: Status,
  context: Context,
): Promise<{ readonly findings: readonly Finding[]; readonly activity: StoreActivity }> {
  const { ok, remark, broken } = inArea("store");
  const none: StoreActivity = { of: () => undefined, newestMs: undefined };
  const { storePath } = context.places;
  const sizeBytes = await stat(storePath).then(
    ({ size }) => size,
    () => 0,
  );
  const sources = status.agents.map(({ source }) => source);
  try {
    const found = readStore(storePath, (db) => readForDoctor(db, sizeBytes, sources));
    if (found === undefined) return { findings: [ok("none yet")], activity: none };
    const { problems, isWhole, ...activity } = found;
    const { sessions, open } = status.store;
    const content = `${plural(sessions, "session")}, ${open} open, ${plural(status.outbox.waiting_spans, "span")} queued`;
    const checked = isWhole
      ? "SQLite's integrity check found no problem"
      : "too large for a full check; its small tables are intact";
    const findings =
      problems.length === 0
        ? [ok(`${content}; ${checked}`)]
        : problems.map((problem) => broken(`${storePath} is damaged: ${problem}`, repairHint()));
    return { findings: [...findings, ...storeOf(context).remarks.map((text) => remark(text))], activity };
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    // Nothing is wrong after an update: the next drain migrates the store
    const finding = error.code === "E_STORE_OLDER" ? remark : broken;
    return { findings: [finding(describeStoreError(error))], activity: none };
  }
}

/** Times in the future: this machine's clock was ahead, or was set back. */
export function* futureFindings({ newestMs: newest }: StoreActivity, nowMs: number): Generator<Finding> {
  if (newest === undefined || newest - nowMs < FUTURE_MS) return;
  yield inArea("clock").remark(
    `the store has an event at ${localTime(newest)}, ${duration(newest - nowMs)} ahead of this machine's clock`,
    "check this machine's clock; if it was set back, new sessions get correct times",
  );
}

// --- internal ---

/** More than rounding by file systems and clock drift. */
const FUTURE_MS = 60_000;

function readForDoctor(db: Database, sizeBytes: number, sources: readonly string[]) {
  const activity = new Map(sources.map((source) => [source, sourceActivity(db, source)]));
  return {
    ...checkIntegrity(db, sizeBytes),
    newestMs: lastActivityMs(db),
    of: (source: string) => activity.get(source),
  };
}
