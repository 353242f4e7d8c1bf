import type { DatabaseWatch } from "#kit/foreign-databases.ts";
import { ExcessError } from "#kit/json-limits.ts";
import { hasReadDatabase } from "#store/positions.ts";
import { partSizeOf } from "../transcripts/session-files.ts";
import type { Drain } from "./context.ts";
import { reasonSetAside } from "./set-aside.ts";

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
