import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/**
 * How much of a folder's limits is left. Counts what this process adds and looks at the folder only if that seems to be too much, because
 * drains remove files meanwhile.
 */
export class Room {
  readonly #dir: string;
  readonly #limits: RoomLimits;
  #bytes = 0;
  #files = 0;
  #lookedMs = Number.NEGATIVE_INFINITY;

  constructor(dir: string, limits: RoomLimits) {
    this.#dir = dir;
    this.#limits = limits;
    this.#look();
  }

  /** Takes room for one more file or for more bytes of one. @returns whether there was enough; if not, nothing is taken */
  take(files: number, bytes: number): boolean {
    if (!this.#fits(files, bytes)) this.#look();
    if (!this.#fits(files, bytes)) return false;
    this.#files += files;
    this.#bytes += bytes;
    return true;
  }

  #fits(files: number, bytes: number): boolean {
    return this.#files + files <= this.#limits.files && this.#bytes + bytes <= this.#limits.bytes;
  }

  #look(): void {
    if (performance.now() - this.#lookedMs < LOOK_AGAIN_MS) return;
    this.#lookedMs = performance.now();
    ({ files: this.#files, bytes: this.#bytes } = sizeOf(this.#dir));
  }
}

export interface RoomLimits {
  readonly files: number;
  readonly bytes: number;
}

/** The files in a folder and their bytes together, without folders in it. Zero if there is no such folder. */
export function sizeOf(dir: string): RoomLimits {
  const total = { files: 0, bytes: 0 };
  try {
    for (const name of readdirSync(dir)) {
      const found = statSync(join(dir, name), { throwIfNoEntry: false });
      if (found?.isFile() !== true) continue;
      total.files++;
      total.bytes += found.size;
    }
  } catch {
    // It does not exist
  }
  return total;
}

// --- internal ---

const LOOK_AGAIN_MS = 1_000;
