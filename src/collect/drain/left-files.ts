import { statSync } from "node:fs";
import { ownUid } from "#config/file-owner.ts";
import { reportProblem } from "#store/capture/report-problem.ts";
import type { InboxProblem } from "../intake/inbox.ts";
import type { Drain } from "./context.ts";

/** Reports inbox files that could not be read, in a few lines however many there are, and whose they are. */
export function reportLeftFiles(drain: Drain, left: readonly InboxProblem[]): void {
  drain.report.left += left.length;
  for (const { path, reason } of left.slice(0, SHOWN)) {
    reportProblem(drain, `could not read ${JSON.stringify(path)}: ${reason}`);
  }
  if (left.length > SHOWN) reportProblem(drain, `could not read ${left.length - SHOWN} more files of the inbox`);
  const uid = ownUid(drain.platform);
  const others = left
    .map(({ path }) => statSync(path, { throwIfNoEntry: false })?.uid)
    .filter((owner) => owner !== uid);
  const [owner] = others.filter((one) => one !== undefined);
  if (uid === undefined || uid === 0 || owner === undefined) return;
  reportProblem(
    drain,
    `${others.length} of these files belong to user ${owner}, as which an agent ran (sudo, a container); ` +
      `make them yours: sudo chown -R ${uid} ${JSON.stringify(drain.places.stateDir)}`,
  );
}

// --- internal ---

const SHOWN = 3;
