import { unreadTranscripts } from "#store/failures.ts";
import { ALLOWED_FOLDERS, readMeta, writeMeta } from "#store/meta.ts";
import type { Drain } from "./context.ts";

/** Sessions whose transcripts were not read, if the user has set other folders since; drains read old sessions only then. */
export const sessionsToReadAgain = (drain: Drain): readonly number[] =>
  isUnchanged(drain) ? [] : unreadTranscripts(drain.db, { limit: MAX_SESSIONS }).map(({ session }) => session.id);

/** Notes the folders, after those sessions were read. */
export function noteAllowedFolders(drain: Drain): void {
  if (!isUnchanged(drain)) writeMeta(drain.db, ALLOWED_FOLDERS, foldersOf(drain));
}

// --- internal ---

const MAX_SESSIONS = 1_000;

const foldersOf = ({ loaded }: Drain): string => loaded.config.transcripts.folders ?? "";
const isUnchanged = (drain: Drain): boolean => (readMeta(drain.db, ALLOWED_FOLDERS) ?? "") === foldersOf(drain);
