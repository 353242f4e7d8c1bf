import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { counts, unwrittenEvents } from "#collect/intake/inbox-dirs.ts";
import type { Context } from "#config/context.ts";
import { messageOf } from "#kit/errors.ts";
import { isoTime } from "#kit/text/figures.ts";
import { VERSION } from "#kit/version.ts";
import { RETRIED_QUARANTINE } from "#store/meta.ts";
import { firstBytes, parsedJson } from "./files.ts";
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

/** One quarantined payload, without its content. */
export interface QuarantinedPayload {
  readonly name: string;
  readonly isFile: boolean;
  /** When its reason was written, in milliseconds since the epoch; 0 without a reason. */
  readonly reasonMs: number;
  readonly source: string | null;
  readonly reason: string | null;
  /** ISO 8601. */
  readonly at: string | null;
}

/**
 * Quarantined payloads, the newest reason first.
 *
 * @param limit read this many reasons; the others have none
 * @returns nothing if there is no such directory
 */
export async function quarantinedIn(
  dir: string,
  limit = Number.POSITIVE_INFINITY,
): Promise<readonly QuarantinedPayload[]> {
  const entries = await readdir(dir, { withFileTypes: true }).catch(() => []);
  const dated = await Promise.all(
    entries
      .filter(({ name }) => !name.endsWith(REASON_SUFFIX) && !name.startsWith("."))
      .map(async (entry) => ({
        name: entry.name,
        isFile: entry.isFile(),
        reasonMs: await stat(join(dir, `${entry.name}${REASON_SUFFIX}`)).then(
          (found) => found.mtimeMs,
          () => 0,
        ),
      })),
  );
  const sorted = dated.sort((a, b) => b.reasonMs - a.reasonMs || (a.name < b.name ? -1 : 1));
  const found: QuarantinedPayload[] = [];
  // One after the other: thousands at once would exceed the limit of open files
  for (const [index, payload] of sorted.entries()) {
    found.push({ ...payload, ...(index < limit ? await reasonOf(dir, payload) : NONE) });
  }
  return found;
}

/** Number of payloads per reason, the most frequent first. */
export function byReason(all: readonly QuarantinedPayload[]): readonly (readonly [string, number])[] {
  const counts = new Map<string, number>();
  for (const { source, reason } of all) {
    const text = `${source ?? "unnamed agent"}: ${reason ?? "no reason recorded"}`;
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  return [...counts].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1));
}

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

const REASON_SUFFIX = ".reason";
/** Size limit of a reason file; ours have about a hundred bytes. */
const REASON_BYTES = 4096;
const REASON_CHARACTERS = 200;

const Reason = z.object({
  reason: z.string(),
  source: z.string().optional(),
  at: z.string().optional(),
});

const NONE = { source: null, reason: null, at: null } as const;

async function reasonOf(
  dir: string,
  { name, reasonMs }: Pick<QuarantinedPayload, "name" | "reasonMs">,
): Promise<Pick<QuarantinedPayload, "source" | "reason" | "at">> {
  if (reasonMs === 0) return NONE;
  const stored = Reason.safeParse(
    parsedJson(await firstBytes(join(dir, `${name}${REASON_SUFFIX}`), REASON_BYTES)),
  ).data;
  return {
    source: stored?.source ?? null,
    reason: stored === undefined ? null : stored.reason.slice(0, REASON_CHARACTERS),
    at: stored?.at ?? new Date(reasonMs).toISOString(),
  };
}
