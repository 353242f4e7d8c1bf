import type { TranscriptEntry } from "#core/model/transcript.ts";
import { commonKey } from "#core/rules/keys.ts";
import { digestOf } from "#kit/digest.ts";

/** A set of whole numbers from 0 to 2^53 in about ten bytes each. An import keeps one number for every record. */
export class DigestSet {
  #slots: Float64Array;
  #size = 0;

  /** @param expected estimated number of members; the set grows beyond it */
  constructor(expected = 0) {
    const slots = 2 ** Math.ceil(Math.log2(Math.max(MIN_SLOTS, Math.min(MAX_SLOTS, expected / FULL))));
    this.#slots = new Float64Array(slots).fill(-1);
  }

  has(digest: number): boolean {
    return this.#slots[this.#placeOf(digest)] === digest;
  }

  addAll(digests: Float64Array): void {
    this.#makeRoom(digests.length);
    for (let i = 0; i < digests.length; i++) this.#add(digests[i] ?? 0);
  }

  /**
   * Adds digests until one is already in the set. Each is looked up once, because lookups miss the processor's cache.
   *
   * @returns how many were added: all of them, or those before the first one that was already there
   */
  addUntilKnown(digests: Float64Array): number {
    this.#makeRoom(digests.length);
    for (let i = 0; i < digests.length; i++) if (!this.#add(digests[i] ?? 0)) return i;
    return digests.length;
  }

  #makeRoom(more: number): void {
    while (this.#size + more > this.#slots.length * FULL) this.#grow();
  }

  /** @returns false if it is already in the set */
  #add(digest: number): boolean {
    const place = this.#placeOf(digest);
    if (this.#slots[place] === digest) return false;
    this.#slots[place] = digest;
    this.#size++;
    return true;
  }

  /** Its slot, or the free slot for it. */
  #placeOf(digest: number): number {
    const mask = this.#slots.length - 1;
    let place = (digest >>> 0) & mask;
    for (let found = this.#slots[place]; found !== -1 && found !== digest; found = this.#slots[place]) {
      place = (place + 1) & mask;
    }
    return place;
  }

  #grow(): void {
    const before = this.#slots;
    this.#slots = new Float64Array(before.length * 2).fill(-1);
    for (const digest of before) if (digest !== -1) this.#slots[this.#placeOf(digest)] = digest;
  }
}

/** Digests of the entries whose id is unique over all sessions. */
export const recordDigests = (source: string, entries: readonly TranscriptEntry[]): Float64Array =>
  Float64Array.from(
    entries.flatMap(({ globalKey }) => (globalKey === undefined ? [] : keysFor(globalKey))),
    (key) => digestOf(source, key),
  );

/** The keys under which a record can be found: its own, and the one that all records of its answer share. */
export function keysFor(globalKey: string): readonly string[] {
  const common = commonKey(globalKey);
  return common === undefined ? [globalKey] : [globalKey, common];
}

// --- internal ---

const MIN_SLOTS = 1 << 12;
/** Lookups get slow in a fuller set. */
const FULL = 0.75;
/** Most slots at the start, 32 MB: the expected number is only an estimate. */
const MAX_SLOTS = 1 << 22;
