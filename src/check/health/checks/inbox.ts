import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Context } from "#config/context.ts";
import { ownUid } from "#config/file-owner.ts";
import { suggest } from "#kit/suggest.ts";
import { duration, plural } from "#kit/text/figures.ts";
import type { Examined } from "../facts/examined.ts";
import { byReason, quarantinedIn, retryInWords } from "../facts/inbox.ts";
import { alsoInStatus, type Finding, inArea, onlyInStatus, type Result, type StatusLine } from "../finding.ts";

/** The drain that runs now. */
export function* drainFindings({ facts: { running_drain: running } }: Examined): Generator<Result> {
  const { ok, remark, broken } = inArea("drain");
  if (running === null) return yield ok("none is running");
  if (!running.slow) return yield ok(`running: ${running.text}`);
  yield onlyInStatus("remark", `the drain that is running takes long: ${running.text}`);
  yield (running.stopped ? broken : remark)(`one runs and takes long, others wait for it: ${running.text}`);
}

/** An inbox that cannot be listed. `doctor` says it of the state directory. */
export const unlistableInbox = ({ inboxProblem }: Examined): readonly StatusLine[] =>
  inboxProblem === undefined ? [] : [onlyInStatus("broken", inboxProblem)];

/** Events of other users, which no drain of this one can read. */
export async function* otherUsersFindings({ context }: Examined): AsyncGenerator<Finding> {
  const foreign = await filesOfOthers(context);
  if (foreign === undefined) return;
  yield inArea("inbox").remark(
    `${plural(foreign.count, "event")} of user ${foreign.owner} cannot be read: an agent ran as that user (sudo, a container)`,
    `sudo chown -R ${foreign.uid} ${context.places.stateDir}`,
  );
}

/** Queued payloads, and that no drain runs. */
export function* queueFindings({ facts: { inbox }, context }: Examined): Generator<Finding> {
  const { ok, remark } = inArea("inbox");
  const queued = inbox.waiting + inbox.claimed;
  const ageMs = inbox.oldest === null ? 0 : context.now() - Date.parse(inbox.oldest);
  if (queued > 0 && ageMs >= STALE_AFTER_MS) {
    const text = `events have been queued for ${duration(ageMs)} and no drain processed them: run ${suggest("drain")}`;
    yield alsoInStatus(remark(text));
  } else yield ok(queued === 0 ? "empty" : `${plural(queued, "event")} queued, the oldest for ${duration(ageMs)}`);
}

/** Quarantined payloads, by reason. */
export async function* quarantineFindings({ facts: { inbox } }: Examined): AsyncGenerator<Finding> {
  const { ok, remark } = inArea("quarantine");
  if (inbox.quarantined === 0) return yield ok("empty");
  yield remark(
    `${plural(inbox.quarantined, "payload")} quarantined in ${inbox.quarantine_dir}; ${retryInWords(inbox)}`,
    `update openhook-otel: the next drain retries them; to retry now: ${suggest("replay")}`,
  );
  const reasons = byReason(await quarantinedIn(inbox.quarantine_dir, REASONS_READ));
  for (const [reason, n] of reasons.slice(0, REASONS_SHOWN)) yield remark(`${n} × ${reason}`);
}

// --- internal ---

/** Files stay until a turn ends, which can take long; beyond this no drain has run. */
const STALE_AFTER_MS = 24 * 3_600_000;

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
