import { SERIES_LABELS } from "#core/rules/series-labels.ts";
import { SERVICE_NAME } from "#core/telemetry/semconv.ts";
import { METRIC_SHAPES } from "#core/telemetry/shapes.ts";
import { EARLIEST_MS } from "#kit/time.ts";
import { reportProblem } from "#store/capture/context.ts";
import { protectResource } from "#store/capture/protect.ts";
import { makeRoom, SHOWN_MS } from "#store/cardinality.ts";
import { checkpoint } from "#store/database.ts";
import { adoptDelivered, deliveredAfter, generationOf } from "#store/delivered-log.ts";
import { changeInstance, hasInstanceId, instanceId, isCopy, markCounted } from "#store/instance.ts";
import { setLabels } from "#store/labels.ts";
import { readMeta, writeMeta } from "#store/meta.ts";
import { noteFile, noticePutBack, putBackText } from "#store/put-back.ts";
import { unsettledSessions } from "#store/sessions.ts";
import type { Drain } from "./context.ts";
import { countKeysOf } from "./counts.lazy.ts";

/**
 * Gives a new store, and the copy of a store, its own instance id before anything is counted in it. A copy counts from zero: facts
 * that were stored but not counted when it was copied are counted by the original. Both send their spans, with the same ids.
 */
export function ensureInstance(drain: Drain): void {
  const { db, places } = drain;
  db.transaction(() => setLabels(db, protectResource(drain, configuredLabels(drain))));
  const wasCopied = isCopy(db, places);
  if (!wasCopied) reportPutBack(drain);
  if (!wasCopied && hasInstanceId(db)) {
    renewAfterLongAbsence(drain);
    makeRoom(db, drain.now());
    return;
  }
  db.transaction(() => {
    if (wasCopied) {
      for (const session of unsettledSessions(db)) markCounted(db, countKeysOf(drain, session));
      adoptDelivered(db, deliveredAfter(places.storePath, generationOf(db)));
      noteFile(db, places.storePath);
    }
    instanceId(db, places);
  });
  // If the id were lost with a torn log, sums that were sent under it would be sent again under the next id
  checkpoint(db);
  if (wasCopied) drain.log("the store was copied from another machine or folder, so it has a new service.instance.id");
}

// --- internal ---

/** See `noticePutBack`. */
function reportPutBack(drain: Drain): void {
  const { db, places, now } = drain;
  const found = noticePutBack(db, places, METRIC_SHAPES, now());
  if (found === undefined) return;
  checkpoint(db);
  reportProblem(drain, putBackText(found));
}

/**
 * A machine that reports again after a month gets another instance id: dashboards no longer see the last value of the old
 * one, and would show everything that it ever counted as counted today.
 */
function renewAfterLongAbsence(drain: Drain): void {
  const { db, places, now } = drain;
  const lastMs = Number(readMeta(db, "metrics.last_ok_ms") ?? "0");
  if (lastMs < EARLIEST_MS || now() - lastMs < SHOWN_MS) return;
  db.transaction(() => {
    changeInstance(db, places, METRIC_SHAPES, now());
    writeMeta(db, "metrics.last_ok_ms", String(now()));
  });
  checkpoint(db);
  drain.log("no backend has accepted metrics for 28 days: they continue under a new service.instance.id");
}

/** The labels from the settings, for everything that is counted from now on. */
function configuredLabels({ loaded }: Drain): Readonly<Record<string, string>> {
  const { attributes, serviceName } = loaded.config.resource;
  const all = { ...attributes, ...(serviceName !== undefined && { [SERVICE_NAME]: serviceName }) };
  return Object.fromEntries(Object.entries(all).filter(([name]) => SERIES_LABELS.includes(name)));
}
