// Queries of databases that others wrote: nothing can interrupt one, and nothing else in its thread runs meanwhile.

/** Knows which databases are read. */
export interface DatabaseWatch {
  /** Called before a database is opened. @throws why it must not be opened now */
  open(path: string): Promise<WatchedDatabase>;
}

export interface WatchedDatabase {
  /** A query of it begins. */
  query(): void;
  /** It was closed. @param error it could not be opened */
  close(error?: unknown): void;
}

let watch: DatabaseWatch | undefined;

/** Does work, during which all databases of others are watched. */
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
