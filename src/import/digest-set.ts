/** A set of whole numbers from 0 up to 2^53, in eight bytes each: an import has one for every record that it has seen. */
export class DigestSet {
  #slots = new Float64Array(1 << 12).fill(-1);
  #size = 0;

  has(digest: number): boolean {
    return this.#slots[this.#placeOf(digest)] === digest;
  }

  hasAny(digests: Float64Array): boolean {
    return digests.some((digest) => this.has(digest));
  }

  addAll(digests: Float64Array): void {
    while ((this.#size + digests.length) * 2 > this.#slots.length) this.#grow();
    for (const digest of digests) {
      const place = this.#placeOf(digest);
      if (this.#slots[place] === digest) continue;
      this.#slots[place] = digest;
      this.#size++;
    }
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
