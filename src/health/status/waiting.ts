import { constants, existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import type { Context } from "../../context.ts";
import { counts } from "../../intake/inbox-dirs.ts";
import { suggest } from "../../model/suggest.ts";
import { duration, isoTime, plural } from "../../text/figures.ts";
import { isAccessible, readPart } from "./files.ts";
import { quarantinedIn } from "./quarantine.ts";
import type { Status } from "./shape.ts";
import type { StoreFacts } from "./stored.ts";

/** Folders that the hook or a drain must write to and cannot. */
export async function unwritable({ places }: Context): Promise<readonly string[]> {
  const lost = "what agents tell is lost until it can be written; check its owner and mode";
  for (const dir of [places.stateDir, places.inboxDir, places.claimedDir]) {
    const existing = await nearestExisting(dir);
    if (!(await isDirectory(existing))) return [`${existing} is no directory: ${lost}`];
    if (!(await isAccessible(existing, constants.W_OK | constants.X_OK)))
      return [`cannot write to ${existing}: ${lost}`];
  }
  return [];
}

/**
 * Queued, quarantined and lost payloads.
 *
 * @param store the losses that drains have counted; newer ones are added
 */
export async function inboxOf(
  { places }: Pick<Context, "places">,
  store: Pick<StoreFacts, "lost" | "taken">,
): Promise<{ readonly inbox: Status["inbox"]; readonly broken: string[] }> {
  const empty = { inbox: 0, claimed: 0, quarantined: 0, lost: 0 };
  const broken: string[] = [];
  const found: Awaited<ReturnType<typeof counts>> = await counts(places, store.taken).catch((error: unknown) => {
    broken.push(`${messageOf(error)}; check its owner and mode`);
    return empty;
  });
  const lastLostMs = Math.max(store.lost.lastMs ?? 0, found.lostMs ?? 0);
  const inbox = {
    waiting: found.inbox,
    claimed: found.claimed,
    oldest: isoTime(found.oldestMs),
    quarantined: found.quarantined,
    quarantine_dir: places.quarantineDir,
    quarantine_newest: found.quarantined === 0 ? [] : await newestReasons(places.quarantineDir),
    lost: store.lost.total + found.lost,
    lost_last: isoTime(lastLostMs > 0 ? lastLostMs : undefined),
  };
  return { inbox, broken };
}

/** Reports that no drain runs. */
export function staleRemark({ waiting, claimed, oldest }: Status["inbox"], nowMs: number): readonly string[] {
  const ageMs = oldest === null ? 0 : nowMs - Date.parse(oldest);
  if (waiting + claimed === 0 || ageMs < STALE_AFTER_MS) return [];
  return [`events wait for ${duration(ageMs)} and no drain has taken them: run ${suggest("drain")}`];
}

/**
 * Reports events lost because of a full disk, for a month after the last one.
 *
 * @returns `undefined` if there is nothing to report
 */
export function lostRemark({ lost, lost_last }: Status["inbox"], stateDir: string, nowMs: number): string | undefined {
  const ageMs = lost_last === null ? Number.POSITIVE_INFINITY : nowMs - Date.parse(lost_last);
  if (lost === 0 || ageMs > LOST_TOLD_MS) return undefined;
  const ago = duration(Math.max(0, ageMs));
  return `${plural(lost, "event")} found no room on the disk of ${stateDir} and ${lost === 1 ? "is" : "are"} lost, the last ${ago} ago; what transcripts hold is told all the same`;
}

/** The log of background drains, and its last lines. */
export async function logOf(path: string): Promise<Status["log"]> {
  const tail = await readPart(path, (size) => Math.max(0, size - LOG_TAIL_BYTES), LOG_TAIL_BYTES);
  const lines = tail.split("\n").filter((line) => line !== "");
  return { path, exists: existsSync(path), last_lines: lines.slice(-LOG_LINES) };
}

// --- internal ---

async function nearestExisting(path: string): Promise<string> {
  let at = path;
  while (!(await exists(at)) && dirname(at) !== at) at = dirname(at);
  return at;
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

const isDirectory = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );

/** Files stay until a turn ends, which can take long; beyond this no drain has run. */
const STALE_AFTER_MS = 24 * 3_600_000;

const LOST_TOLD_MS = 30 * 24 * 3_600_000;

const REASONS_SHOWN = 3;

async function newestReasons(dir: string): Promise<Status["inbox"]["quarantine_newest"]> {
  const newest = (await quarantinedIn(dir, REASONS_SHOWN)).filter(({ reasonMs }) => reasonMs > 0);
  return newest.slice(0, REASONS_SHOWN).map(({ source, reason, at }) => ({ source, reason, at }));
}

const LOG_TAIL_BYTES = 4096;
const LOG_LINES = 3;

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
