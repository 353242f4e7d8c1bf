import type { DatabaseWatch } from "#kit/foreign-databases.ts";
import { ExcessError } from "#kit/json-limits.ts";
import { unreadTranscripts } from "#store/failures.ts";
import { ALLOWED_FOLDERS, readMeta, writeMeta } from "#store/meta.ts";
import { hasReadDatabase } from "#store/positions.ts";
import { partSizeOf } from "../transcripts/session-files.ts";
import type { Drain } from "./context.ts";
import { reasonSetAside } from "./set-aside.ts";

/** Sessions whose transcripts were not read, if the user has set other folders since; drains read old sessions only then. */
export const sessionsToReadAgain = (drain: Drain): readonly number[] =>
  isUnchanged(drain) ? [] : unreadTranscripts(drain.db, { limit: MAX_SESSIONS }).map(({ session }) => session.id);

/** Notes the folders, after those sessions were read. */
export function noteAllowedFolders(drain: Drain): void {
  if (!isUnchanged(drain)) writeMeta(drain.db, ALLOWED_FOLDERS, foldersOf(drain));
}

/**
 * Watches the databases that a drain reads: a query that does not return ends the process, see `Progress.database`. A database that is
 * set aside is not opened. If another process keeps one locked, the drain waits for it only once.
 */
export function databaseWatch(drain: Pick<Drain, "db" | "version" | "now" | "progress">): DatabaseWatch {
  const locked = new Map<string, unknown>();
  return {
    async open(path) {
      // An unchanged database needs no watch, which takes some time to start: its queries have returned before
      const isKnown = hasReadDatabase(drain.db, path, partSizeOf({ path, watch: [path, `${path}-wal`] }));
      const { query, leave } = await drain.progress.database(path, isKnown);
      try {
        if (locked.has(path)) throw locked.get(path);
        const reason = reasonSetAside(drain, path);
        if (reason !== undefined) throw new ExcessError(reason);
      } catch (error) {
        leave();
        throw error;
      }
      query();
      return {
        query,
        close(error) {
          leave();
          if (error instanceof Error && /locked|busy/i.test(error.message)) locked.set(path, error);
        },
      };
    },
  };
}

// --- internal ---

const MAX_SESSIONS = 1_000;

const foldersOf = ({ loaded }: Drain): string => loaded.config.transcripts.folders ?? "";
const isUnchanged = (drain: Drain): boolean => (readMeta(drain.db, ALLOWED_FOLDERS) ?? "") === foldersOf(drain);
