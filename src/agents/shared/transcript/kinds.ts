import { asObject } from "../payload/json.ts";

/** Of one batch; a hostile file has as many as it likes. */
export const MAX_KINDS = 50;

/**
 * Counts kinds of records that a reader has never heard of. A kind stands at the beginning or the end of its line; only a
 * line where none is known is parsed.
 */
export class Kinds {
  readonly #known: ReadonlySet<string>;
  #unknown = new Map<string, number>();

  /** @param known all kinds that were ever seen, told or not */
  constructor(known: readonly string[]) {
    this.#known = new Set(known);
  }

  /** A line that told nothing: perhaps it is of a new kind. */
  look(line: Buffer): void {
    if (line.length > MAX_PARSED_BYTES || this.#isKnown(line)) return;
    try {
      this.saw(asObject(JSON.parse(line.toString("utf8")))?.["type"]);
    } catch {
      // Counted as unreadable by whoever reads it
    }
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

  #isKnown(line: Buffer): boolean {
    const ends = [line.toString("latin1", 0, END_BYTES), line.toString("latin1", Math.max(0, line.length - END_BYTES))];
    return ends.some((text) => [...text.matchAll(TYPE)].some(([, kind]) => this.#known.has(kind ?? "")));
  }
}

// --- internal ---

const END_BYTES = 400;
const MAX_PARSED_BYTES = 4 << 20;
const TYPE = /"type":\s*"([^"]{1,64})"/g;
