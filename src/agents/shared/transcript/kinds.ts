/** Limit per batch: a hostile file can have any number. */
const MAX_KINDS = 50;

/** Counts kinds of records that a reader does not know. */
export class Kinds {
  readonly #known: ReadonlySet<string>;
  #unknown = new Map<string, number>();
  #unread = new Map<string, number>();

  /** @param known all known kinds, with or without facts */
  constructor(known: readonly string[]) {
    this.#known = new Set(known);
  }

  /** @param kind as in the record; values other than texts are ignored @returns whether the kind is unknown */
  add(kind: unknown): kind is string {
    if (typeof kind !== "string" || kind === "" || this.#known.has(kind)) return false;
    count(this.#unknown, kind);
    return true;
  }

  /** A record of an unknown kind has token usage, which the reader cannot read. */
  hasUsage(kind: string): void {
    count(this.#unread, kind);
  }

  /** Returns the counts so far and resets them. */
  take(): { readonly unknownKinds: ReadonlyMap<string, number>; readonly unreadUsage: ReadonlyMap<string, number> } {
    const taken = { unknownKinds: this.#unknown, unreadUsage: this.#unread };
    this.#unknown = new Map();
    this.#unread = new Map();
    return taken;
  }
}

// --- internal ---

function count(counts: Map<string, number>, kind: string): void {
  if (counts.size < MAX_KINDS || counts.has(kind)) counts.set(kind, (counts.get(kind) ?? 0) + 1);
}
