import { readdirSync, statSync } from "node:fs";

/**
 * Caches a value made from the names in a folder until the folder changes: one folder can have thousands of sessions, and
 * each needs the names of the files beside it.
 */
export class FolderMemory<T> {
  readonly #make: (folder: string, names: readonly string[]) => T;
  readonly #known = new Map<string, { readonly changedMs: number; readonly made: T }>();

  /** @param make gets the names, sorted; empty if the folder cannot be read */
  constructor(make: (folder: string, names: readonly string[]) => T) {
    this.#make = make;
  }

  of(folder: string): T {
    const changedMs = tried(() => statSync(folder, { throwIfNoEntry: false }))?.mtimeMs;
    const known = this.#known.get(folder);
    if (known !== undefined && known.changedMs === changedMs) return known.made;
    const startMs = Date.now();
    const names = changedMs === undefined ? [] : (tried(() => readdirSync(folder)) ?? []);
    const made = this.#make(folder, [...names].sort());
    // A folder that has just changed can change again within the same tick of its file system's clock
    if (changedMs === undefined || changedMs > startMs - COARSEST_TICK_MS) this.#known.delete(folder);
    else {
      if (this.#known.size >= MAX_FOLDERS) this.#known.clear();
      this.#known.set(folder, { changedMs, made });
    }
    return made;
  }
}

// --- internal ---

function tried<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}

/** The resolution of FAT's times, the coarsest of all file systems. */
const COARSEST_TICK_MS = 2_000;
const MAX_FOLDERS = 1_000;
