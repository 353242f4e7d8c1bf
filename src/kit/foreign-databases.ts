// Queries of databases that other programs wrote: nothing can interrupt a query, and nothing else in its thread runs meanwhile.

/** Watches the databases that are read. */
export interface DatabaseWatch {
  /** Called before a database is opened. @throws why it must not be opened now */
  open(path: string): Promise<WatchedDatabase>;
}

interface WatchedDatabase {
  /** A query of it begins. */
  query(): void;
  /** It was closed. @param error it could not be opened */
  close(error?: unknown): void;
}

let watch: DatabaseWatch | undefined;

/** Does some work, and watches all databases that it reads. */
export async function watchingDatabases<T>(by: DatabaseWatch, work: () => Promise<T>): Promise<T> {
  watch = by;
  try {
    return await work();
  } finally {
    watch = undefined;
  }
}

/** @throws why it must not be opened now */
export const watched = (path: string): Promise<WatchedDatabase> | undefined => watch?.open(path);
