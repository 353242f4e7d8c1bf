import { SERIES_LABELS } from "../model/series-labels.ts";
import { checkpoint } from "../store/database.ts";
import { hasInstanceId, instanceId, isCopy, leaveToOriginal } from "../store/instance.ts";
import { setLabels } from "../store/labels.ts";
import { unsettledSessions } from "../store/sessions.ts";
import { SERVICE_NAME } from "../telemetry/semconv.ts";
import { countsOf } from "./counts.lazy.ts";
import type { Drain } from "./deps.ts";
import { protectResource } from "./protect.ts";

/**
 * Gives a store that has none, and the copy of one, an instance id of its own before anything is counted in it. A copy counts
 * from zero: what had been told and not counted when it was copied is counted by the original; as spans both tell it, with
 * the same ids.
 */
export function ownInstance(drain: Drain): void {
  const { db, places } = drain;
  db.transaction(() => setLabels(db, protectResource(drain, labelsOfSettings(drain))));
  const wasCopied = isCopy(db, places);
  if (!wasCopied && hasInstanceId(db)) return;
  db.transaction(() => {
    if (wasCopied) for (const session of unsettledSessions(db)) leaveToOriginal(db, countsOf(drain, session));
    instanceId(db, places);
  });
  // Sums that were sent under an id which a torn log then takes along would come again under the next one
  checkpoint(db);
  if (wasCopied)
    drain.log("the store is a copy, of another machine or another folder: it has a new service.instance.id now");
}

// --- internal ---

/** What the settings say of every counter that is counted from now on. */
function labelsOfSettings({ loaded }: Drain): Readonly<Record<string, string>> {
  const { attributes, serviceName } = loaded.config.resource;
  const all = { ...attributes, ...(serviceName !== undefined && { [SERVICE_NAME]: serviceName }) };
  return Object.fromEntries(Object.entries(all).filter(([name]) => SERIES_LABELS.includes(name)));
}
