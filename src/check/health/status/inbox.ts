import * as z from "zod";
import { counts, unwrittenEvents } from "#collect/intake/inbox-dirs.ts";
import type { Context } from "#config/context.ts";
import { messageOf } from "#kit/error-message.ts";
import { suggest } from "#kit/suggest.ts";
import { duration, isoTime, plural } from "#kit/text/figures.ts";
import { VERSION } from "#kit/version.ts";
import { RETRIED_QUARANTINE } from "#store/meta-keys.ts";
import { parsedJson } from "./files.ts";
import { quarantinedIn } from "./quarantine.ts";
import type { Status } from "./shape.ts";
import type { StoreFacts } from "./store.ts";

/**
 * Queued, quarantined and lost payloads.
 *
 * @param store the losses that drains have counted; newer ones are added
 */
export async function inboxOf(
  { places }: Pick<Context, "places">,
  store: Pick<StoreFacts, "lost" | "unwrittenCounted" | "committedFiles" | "meta">,
): Promise<{ readonly inbox: Status["inbox"]; readonly broken: string[] }> {
  const empty = { inbox: 0, claimed: 0, quarantined: 0, lost: 0 };
  const broken: string[] = [];
  const found: Awaited<ReturnType<typeof counts>> = await counts(places, store.committedFiles).catch(
    (error: unknown) => {
      broken.push(`${messageOf(error)}; check its owner and mode`);
      return empty;
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
  return { inbox, broken };
}

/** When quarantined payloads are retried. */
export const retryInWords = ({ quarantine_retry: retry }: Status["inbox"]): string =>
  retry?.version !== VERSION || !retry.done
    ? `the next drains retry them with version ${VERSION}`
    : `version ${VERSION} has retried them${retry.converted > 0 ? ` and converted ${retry.converted} others` : ""}, and each update does so again`;

/** Reports that no drain runs. */
export function staleRemark({ waiting, claimed, oldest }: Status["inbox"], nowMs: number): readonly string[] {
  const ageMs = oldest === null ? 0 : nowMs - Date.parse(oldest);
  if (waiting + claimed === 0 || ageMs < STALE_AFTER_MS) return [];
  return [`events have been queued for ${duration(ageMs)} and no drain processed them: run ${suggest("drain")}`];
}

/**
 * Reports events lost because of a full disk, for a month after the last one.
 *
 * @returns `undefined` if there is nothing to report
 */
export function lostRemark({ lost, lost_last }: Status["inbox"], stateDir: string, nowMs: number): string | undefined {
  const ageMs = lost_last === null ? Number.POSITIVE_INFINITY : nowMs - Date.parse(lost_last);
  if (lost === 0 || ageMs > LOST_SHOWN_MS) return undefined;
  const ago = duration(Math.max(0, ageMs));
  return `${plural(lost, "event")} lost because the disk of ${stateDir} was full, the last one ${ago} ago; data in transcripts is still collected`;
}

// --- internal ---

/** Files stay until a turn ends, which can take long; beyond this no drain has run. */
const STALE_AFTER_MS = 24 * 3_600_000;

const LOST_SHOWN_MS = 30 * 24 * 3_600_000;

const REASONS_SHOWN = 3;

const Retry = z.object({ version: z.string(), isDone: z.boolean(), converted: z.number() });

function retryOf(stored: string | undefined): Status["inbox"]["quarantine_retry"] {
  const retry = Retry.safeParse(parsedJson(stored ?? "null")).data;
  return retry === undefined ? null : { version: retry.version, done: retry.isDone, converted: retry.converted };
}

async function newestReasons(dir: string): Promise<Status["inbox"]["quarantine_newest"]> {
  const newest = (await quarantinedIn(dir, REASONS_SHOWN)).filter(({ reasonMs }) => reasonMs > 0);
  return newest.slice(0, REASONS_SHOWN).map(({ source, reason, at }) => ({ source, reason, at }));
}
