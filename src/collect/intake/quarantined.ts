import { lstat, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { retryOnce } from "#kit/errors.ts";
import { step } from "#kit/fault-points.ts";
import { readOwn } from "#kit/own-file.ts";
import type { InboxFile } from "./inbox.ts";
import { type InboxDirs, isOurs, listEntries, msOf, REASON_SUFFIX } from "./inbox-dirs.ts";
import { EVENT_FILE, MAX_FILE_BYTES, parseInboxFile } from "./inbox-file.ts";
import { decodePayload } from "./payload.ts";
import { renameFile } from "./quarantine.ts";

/** Names of the quarantined files that an intake wrote, in the order in which they are retried. */
export const quarantinedNames = async (dirs: InboxDirs): Promise<readonly string[]> =>
  (await listEntries(dirs.quarantineDir))
    .filter(isOurs)
    .map(({ name }) => name)
    .sort();

/** Reads a quarantined payload. @returns `undefined` if it is gone, or is none that any version can convert: torn, foreign, too large */
export async function readQuarantined(dirs: InboxDirs, name: string): Promise<InboxFile | undefined> {
  const path = join(dirs.quarantineDir, name);
  const stats = await lstat(path, { bigint: true }).catch(() => undefined);
  if (stats === undefined || !stats.isFile() || stats.size > MAX_FILE_BYTES) return undefined;
  const parsed = parseInboxFile(readOwn(path), msOf(stats.mtimeNs));
  if (!parsed.ok) return undefined;
  const { facts, payload, end } = parsed;
  if (end === undefined) {
    const decoded = decodePayload(payload);
    if (!decoded.ok || decoded.notes.includes("cut")) return undefined;
  }
  return { path, facts, payload };
}

/** Moves a quarantined payload back to the inbox. The file's time, which is the event's, stays. */
export async function putBack(dirs: InboxDirs, name: string): Promise<void> {
  const from = join(dirs.quarantineDir, name);
  const to = join(
    dirs.inboxDir,
    `${RETRIED}${name.slice(0, -EVENT_FILE.length).slice(0, NAME_CHARACTERS)}${EVENT_FILE}`,
  );
  await retryOnce(() => step("inbox.quarantine", () => renameFile(from, to)));
  await rm(`${from}${REASON_SUFFIX}`, { force: true }).catch(() => {});
}

/** Whether a claimed file was put back by `putBack`: it was counted as quarantined before. */
export const isRetried = ({ path }: Pick<InboxFile, "path">): boolean => CLAIMED_AGAIN.test(basename(path));

// --- internal ---

const RETRIED = "again-";
/** A claimed file has its time before its name. */
const CLAIMED_AGAIN = /^\d{20}-again-/;
/** Enough to stay unique, and names do not grow with each retry. */
const NAME_CHARACTERS = 120;
