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

  /** @returns whether none of them was there before: each is looked for once, since it is far from the one before it */
  addAll(digests: Float64Array): boolean {
    while (this.#size + digests.length > this.#slots.length * FULL) this.#grow();
    const before = this.#size;
    for (let i = 0; i < digests.length; i++) {
      const digest = digests[i] ?? 0;
      const place = this.#placeOf(digest);
      if (this.#slots[place] === digest) continue;
      this.#slots[place] = digest;
      this.#size++;
    }
    return this.#size === before + digests.length;
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
