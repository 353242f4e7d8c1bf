/** Of one batch; a hostile file has as many as it likes. */
export const MAX_KINDS = 50;

/** Counts kinds of records that a reader does not know. */
export class Kinds {
  readonly #known: ReadonlySet<string>;
  #unknown = new Map<string, number>();

  /** @param known all kinds that were ever seen, told or not */
  constructor(known: readonly string[]) {
    this.#known = new Set(known);
  }

  /** @param kind as a record says it; what is no text is no kind */
  saw(kind: unknown): void {
    if (typeof kind !== "string" || kind === "" || this.#known.has(kind)) return;
    if (this.#unknown.size >= MAX_KINDS && !this.#unknown.has(kind)) return;
    this.#unknown.set(kind, (this.#unknown.get(kind) ?? 0) + 1);
  }

  /** Those of a batch; the next one begins anew. */
  take(): ReadonlyMap<string, number> {
    const taken = this.#unknown;
    this.#unknown = new Map();
    return taken;
  }
}
