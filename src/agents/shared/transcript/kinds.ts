/** Limit per batch: a hostile file can have any number. */
export const MAX_KINDS = 50;

/** Counts kinds of records that a reader does not know. */
export class Kinds {
  readonly #known: ReadonlySet<string>;
  #unknown = new Map<string, number>();

  /** @param known all known kinds, with or without facts */
  constructor(known: readonly string[]) {
    this.#known = new Set(known);
  }

  /** @param kind as in the record; values other than texts are ignored */
  add(kind: unknown): void {
    if (typeof kind !== "string" || kind === "" || this.#known.has(kind)) return;
    if (this.#unknown.size >= MAX_KINDS && !this.#unknown.has(kind)) return;
    this.#unknown.set(kind, (this.#unknown.get(kind) ?? 0) + 1);
  }

  /** Returns the counts so far and resets them. */
  take(): ReadonlyMap<string, number> {
    const taken = this.#unknown;
    this.#unknown = new Map();
    return taken;
  }
}
