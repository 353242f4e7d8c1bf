/** A set of whole numbers from 0 up to 2^53, in some ten bytes each: an import has one for every record that it has seen. */
export class DigestSet {
  #slots: Float64Array;
  #size = 0;

  /** @param expected how many there will be, as well as that is known: it grows */
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
   * Adds one after the other, up to the first that is there already. Each is looked for once: they lie far from each other.
   *
   * @returns how many were added: all of them, or as many as stand before that one
   */
  addUntilKnown(digests: Float64Array): number {
    this.#makeRoom(digests.length);
    for (let i = 0; i < digests.length; i++) if (!this.#add(digests[i] ?? 0)) return i;
    return digests.length;
  }

  #makeRoom(more: number): void {
    while (this.#size + more > this.#slots.length * FULL) this.#grow();
  }

  /** @returns false for one that is there */
  #add(digest: number): boolean {
    const place = this.#placeOf(digest);
    if (this.#slots[place] === digest) return false;
    this.#slots[place] = digest;
    this.#size++;
    return true;
  }

  /** Where it is, or would be. */
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

// --- internal ---

const MIN_SLOTS = 1 << 12;
/** Fuller ones would be searched longer. */
const FULL = 0.75;
/** To begin with: 32 MB. */
const MAX_SLOTS = 1 << 22;
