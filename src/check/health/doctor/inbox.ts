import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Context } from "#config/context.ts";
import { ownUid } from "#config/file-owner.ts";
import { suggest } from "#kit/suggest.ts";
import { duration, plural } from "#kit/text/figures.ts";
import { retryInWords, staleRemark } from "../status/inbox.ts";
import { byReason, quarantinedIn } from "../status/quarantine.ts";
import type { Status } from "../status/shape.ts";
import { type Finding, inArea } from "./finding.ts";

/** The drain that runs now. */
export function* drainFindings({ running_drain: running }: Status): Generator<Finding> {
  const { ok, remark, broken } = inArea("drain");
  if (running === null) return yield ok("none is running");
  if (!running.slow) return yield ok(`running: ${running.text}`);
  yield (running.stopped ? broken : remark)(`one runs and takes long, others wait for it: ${running.text}`);
}

/** Queued and quarantined payloads. */
export async function* inboxFindings(status: Status, context: Context): AsyncGenerator<Finding> {
  const { inbox } = status;
  const { ok, remark } = inArea("inbox");
  const queued = inbox.waiting + inbox.claimed;
  const ageMs = inbox.oldest === null ? 0 : context.now() - Date.parse(inbox.oldest);
  const foreign = await filesOfOthers(context);
  if (foreign !== undefined) {
    yield remark(
      `${plural(foreign.count, "event")} of user ${foreign.owner} cannot be read: an agent ran as that user (sudo, a container)`,
      `sudo chown -R ${foreign.uid} ${context.places.stateDir}`,
    );
  }
  const stale = staleRemark(inbox, context.now());
  for (const text of stale) yield remark(text);
  if (stale.length === 0) {
    yield ok(queued === 0 ? "empty" : `${plural(queued, "event")} queued, the oldest for ${duration(ageMs)}`);
  }
  const quarantine = inArea("quarantine");
  if (inbox.quarantined === 0) return yield quarantine.ok("empty");
  yield quarantine.remark(
    `${plural(inbox.quarantined, "payload")} quarantined in ${inbox.quarantine_dir}; ${retryInWords(inbox)}`,
    `update openhook-otel: the next drain retries them; to retry now: ${suggest("replay")}`,
  );
  const reasons = byReason(await quarantinedIn(inbox.quarantine_dir, REASONS_READ));
  for (const [reason, n] of reasons.slice(0, REASONS_SHOWN)) yield quarantine.remark(`${n} × ${reason}`);
}

// --- internal ---

/** Inbox files that belong to another user; root can change that. `undefined`: there are none. */
async function filesOfOthers({ places, platform }: Context) {
  const uid = ownUid(platform);
  if (uid === undefined || uid === 0) return undefined;
  const owners: number[] = [];
  for (const folder of [places.inboxDir, places.claimedDir]) {
    for (const name of await readdir(folder).catch(() => [])) {
      const owner = (await lstat(join(folder, name)).catch(() => undefined))?.uid;
      if (owner !== undefined && owner !== uid) owners.push(owner);
    }
  }
  return owners[0] === undefined ? undefined : { uid, owner: owners[0], count: owners.length };
}

const REASONS_READ = 1000;
const REASONS_SHOWN = 10;
