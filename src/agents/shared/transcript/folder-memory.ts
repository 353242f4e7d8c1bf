import { readdirSync, statSync } from "node:fs";

/**
 * What is made of the names in a folder, remembered while the folder stays as it is: thousands of sessions lie in one, and
 * each asks what lies beside it.
 */
export class FolderMemory<T> {
  readonly #make: (folder: string, names: readonly string[]) => T;
  readonly #known = new Map<string, { readonly changedMs: number; readonly made: T }>();

  /** @param make gets the names sorted; of a folder that cannot be read, none */
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
    // A folder that changed just now can change again within the same tick of its file system's clock
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

/** FAT's */
const COARSEST_TICK_MS = 2_000;
const MAX_FOLDERS = 1_000;
