import * as z from "zod";
import { counts, unwrittenEvents } from "#collect/intake/inbox-dirs.ts";
import type { Context } from "#config/context.ts";
import { messageOf } from "#kit/errors.ts";
import { isoTime } from "#kit/text/figures.ts";
import { VERSION } from "#kit/version.ts";
import { RETRIED_QUARANTINE } from "#store/meta.ts";
import { parsedJson } from "./files.ts";
import { quarantinedIn } from "./quarantine.ts";
import type { Facts } from "./shape.ts";
import type { StoreFacts } from "./store.ts";

/**
 * Queued, quarantined and lost payloads.
 *
 * @param store the losses that drains have counted; newer ones are added
 * @returns also why they cannot be counted, with the remedy
 */
export async function inboxOf(
  { places }: Pick<Context, "places">,
  store: Pick<StoreFacts, "lost" | "unwrittenCounted" | "committedFiles" | "meta">,
): Promise<{ readonly inbox: Facts["inbox"]; readonly problem: string | undefined }> {
  let problem: string | undefined;
  const found: Awaited<ReturnType<typeof counts>> = await counts(places, store.committedFiles).catch(
    (error: unknown) => {
      problem = `${messageOf(error)}; check its owner and mode`;
      return { inbox: 0, claimed: 0, quarantined: 0, lost: 0 };
    },
  );
  const unwritten = await unwrittenEvents(places.stateDir);
  const uncounted = Math.max(0, unwritten.total - store.unwrittenCounted);
  const lastLostMs = Math.max(store.lost.lastMs ?? 0, found.lostMs ?? 0, uncounted > 0 ? unwritten.lastMs : 0);
  const inbox = {
    waiting: found.inbox,
    claimed: found.claimed,
    oldest: isoTime(found.oldestMs),
    quarantined: found.quarantined,
    quarantine_dir: places.quarantineDir,
    quarantine_newest: found.quarantined === 0 ? [] : await newestReasons(places.quarantineDir),
    quarantine_retry: retryOf(store.meta(RETRIED_QUARANTINE)),
    lost: store.lost.total + found.lost + uncounted,
    lost_last: isoTime(lastLostMs > 0 ? lastLostMs : undefined),
  };
  return { inbox, problem };
}

/** When quarantined payloads are retried. */
export const retryInWords = ({ quarantine_retry: retry }: Facts["inbox"]): string =>
  retry?.version !== VERSION || !retry.done
    ? `the next drains retry them with version ${VERSION}`
    : `version ${VERSION} has retried them${retry.converted > 0 ? ` and converted ${retry.converted} others` : ""}, and each update does so again`;

// --- internal ---

const REASONS_SHOWN = 3;

const Retry = z.object({ version: z.string(), isDone: z.boolean(), converted: z.number() });

function retryOf(stored: string | undefined): Facts["inbox"]["quarantine_retry"] {
  const retry = Retry.safeParse(parsedJson(stored ?? "null")).data;
  return retry === undefined ? null : { version: retry.version, done: retry.isDone, converted: retry.converted };
}

async function newestReasons(dir: string): Promise<Facts["inbox"]["quarantine_newest"]> {
  const newest = (await quarantinedIn(dir, REASONS_SHOWN)).filter(({ reasonMs }) => reasonMs > 0);
  return newest.slice(0, REASONS_SHOWN).map(({ source, reason, at }) => ({ source, reason, at }));
}
