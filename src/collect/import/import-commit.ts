import type { Database } from "#store/database.ts";
import { type PackedSession, putPacked } from "#store/packed.ts";
import type { FileRead } from "./read.ts";

/** What one commit collects: packed sessions, line counts by agent, and how far each file was read. */
export class ImportCommit {
  readonly packs: PackedSession[] = [];
  readonly bySource = new Map<string, { readonly read: number; readonly unreadable: number }>();
  readonly positions: {
    readonly sessionNumber: number;
    readonly path: string;
    readonly position: FileRead;
    readonly unreadable: number;
  }[] = [];
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  /** Writes the packed sessions. */
  flush(): void {
    putPacked(this.#db, this.packs.splice(0));
  }

  addLines(source: string, sessionNumber: number, file: FileRead): void {
    const { records, unreadable } = file;
    this.positions.push({ sessionNumber, path: file.key, position: file, unreadable });
    const known = this.bySource.get(source) ?? { read: 0, unreadable: 0 };
    this.bySource.set(source, { read: known.read + records, unreadable: known.unreadable + unreadable });
  }
}
