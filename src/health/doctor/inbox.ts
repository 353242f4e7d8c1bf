import type { Context } from "../../context.ts";
import { suggest } from "../../model/suggest.ts";
import { duration, plural } from "../../text/figures.ts";
import { staleRemark } from "../status/inbox.ts";
import { byReason, quarantinedIn } from "../status/quarantine.ts";
import type { Status } from "../status/shape.ts";
import { type Finding, inArea } from "./finding.ts";

/** Queued and quarantined payloads. */
export async function* inboxFindings(status: Status, context: Context): AsyncGenerator<Finding> {
  const { inbox } = status;
  const { ok, remark } = inArea("inbox");
  const queued = inbox.waiting + inbox.claimed;
  const ageMs = inbox.oldest === null ? 0 : context.now() - Date.parse(inbox.oldest);
  const stale = staleRemark(inbox, context.now());
  for (const text of stale) yield remark(text);
  if (stale.length === 0) {
    yield ok(queued === 0 ? "empty" : `${plural(queued, "event")} queued, the oldest for ${duration(ageMs)}`);
  }
  const quarantine = inArea("quarantine");
  if (inbox.quarantined === 0) return yield quarantine.ok("empty");
  yield quarantine.remark(
    `${plural(inbox.quarantined, "payload")} quarantined in ${inbox.quarantine_dir}`,
    `update openhook-otel, then: ${suggest("replay")}`,
  );
  const reasons = byReason(await quarantinedIn(inbox.quarantine_dir, REASONS_READ));
  for (const [reason, n] of reasons.slice(0, REASONS_SHOWN)) yield quarantine.remark(`${n} × ${reason}`);
}

// --- internal ---

const REASONS_READ = 1000;
const REASONS_SHOWN = 10;
