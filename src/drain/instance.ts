import { protectResource } from "../capture/protect.ts";
import { SERIES_LABELS } from "../model/series-labels.ts";
import { checkpoint } from "../store/database.ts";
import { changeInstance, hasInstanceId, instanceId, isCopy, markCounted } from "../store/instance.ts";
import { setLabels } from "../store/labels.ts";
import { readMeta, writeMeta } from "../store/meta.ts";
import { unsettledSessions } from "../store/sessions.ts";
import { SERVICE_NAME } from "../telemetry/semconv.ts";
import { METRIC_SHAPES } from "../telemetry/shapes.ts";
import type { Drain } from "./context.ts";
import { countsOf } from "./counts.lazy.ts";

/**
 * Gives a store that has none, and the copy of one, an instance id of its own before anything is counted in it. A copy counts
 * from zero: what had been told and not counted when it was copied is counted by the original; as spans both tell it, with
 * the same ids.
 */
export function ensureInstance(drain: Drain): void {
  const { db, places } = drain;
  db.transaction(() => setLabels(db, protectResource(drain, labelsOfSettings(drain))));
  const wasCopied = isCopy(db, places);
  if (!wasCopied && hasInstanceId(db)) {
    renewAfterLongAbsence(drain);
    return;
  }
  db.transaction(() => {
    if (wasCopied) for (const session of unsettledSessions(db)) markCounted(db, countsOf(drain, session));
    instanceId(db, places);
  });
  // Sums that were sent under an id which a torn log then takes along would come again under the next one
  checkpoint(db);
  if (wasCopied)
    drain.log("the store is a copy, of another machine or another folder: it has a new service.instance.id now");
}

// --- internal ---

/** Dashboards look for the value that a counter had up to 30 days before, see `dashboards/src/promql.ts`. */
const AWAY_MS = 28 * 86_400_000;
/** Nobody was told anything before this program was: never, or by a clock that stood at its beginning. */
const BEFORE_US_MS = Date.UTC(2025, 0);

/**
 * A machine that comes back after a month goes on as another one: of the one that it was the value is out of sight, and all
 * it ever counted would be taken for what it counted today.
 */
function renewAfterLongAbsence(drain: Drain): void {
  const { db, places, now } = drain;
  const lastMs = Number(readMeta(db, "metrics.last_ok_ms") ?? "0");
  if (lastMs < BEFORE_US_MS || now() - lastMs < AWAY_MS) return;
  db.transaction(() => {
    changeInstance(db, places, METRIC_SHAPES, now());
    writeMeta(db, "metrics.last_ok_ms", String(now()));
  });
  checkpoint(db);
  drain.log("no backend has taken metrics for 28 days: they go on under a new service.instance.id");
}

/** What the settings say of every counter that is counted from now on. */
function labelsOfSettings({ loaded }: Drain): Readonly<Record<string, string>> {
  const { attributes, serviceName } = loaded.config.resource;
  const all = { ...attributes, ...(serviceName !== undefined && { [SERVICE_NAME]: serviceName }) };
  return Object.fromEntries(Object.entries(all).filter(([name]) => SERIES_LABELS.includes(name)));
}
