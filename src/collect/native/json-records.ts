/** Brackets that are open where a record begins: of OTLP's JSON, and of a file that has one record after another. */
export type RecordsAt = "{[{[{[" | "";

/**
 * Finds the records in a JSON text that comes in pieces, without parsing what is around them: memory is needed for a piece and
 * for one record.
 *
 * @throws SyntaxError if what is around the records is no JSON, or the text ends within one
 */
export class JsonRecords {
  /** Records that were too large. */
  dropped = 0;
  readonly #at: RecordsAt;
  /** The text around the records, with 0 for each of them. */
  #around = "";
  #open = "";
  /** Open brackets within the record; 0: none is open. */
  #depth = 0;
  #isText = false;
  #isEscaped = false;
  #parts: Buffer[] = [];
  #partsSize = 0;

  constructor(at: RecordsAt) {
    this.#at = at;
  }

  /** The records that end in this piece. */
  *read(piece: Buffer): Generator<Buffer> {
    let start = 0;
    for (let at = 0; at < piece.length; at++) {
      const code = piece[at];
      if (this.#isText) {
        if (this.#isEscaped) this.#isEscaped = false;
        else if (code === BACKSLASH) this.#isEscaped = true;
        else if (code === QUOTE) this.#isText = false;
      } else if (code === QUOTE) this.#isText = true;
      else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
        if (this.#depth > 0) this.#depth++;
        else if (code === OPEN_BRACE && this.#open === this.#at) {
          this.#keepAround(piece.subarray(start, at));
          start = at;
          this.#depth = 1;
        } else if (this.#open.length < MAX_OPEN) this.#open += code === OPEN_BRACE ? "{" : "[";
        else throw new SyntaxError("too many brackets are open");
      } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
        if (this.#depth === 0) this.#open = this.#open.slice(0, -1);
        else if (--this.#depth === 0) {
          this.#keepPart(piece.subarray(start, at + 1));
          start = at + 1;
          this.#around += this.#at === "" ? "" : "0";
          if (this.#partsSize > MAX_RECORD_BYTES) this.dropped++;
          else yield this.#parts.length === 1 && this.#parts[0] ? this.#parts[0] : Buffer.concat(this.#parts);
          [this.#parts, this.#partsSize] = [[], 0];
        }
      }
    }
    if (this.#depth > 0) this.#keepPart(piece.subarray(start));
    else this.#keepAround(piece.subarray(start));
  }

  /** To be called after the last piece. */
  end(): void {
    if (this.#depth > 0) throw new SyntaxError("it ends within a record");
    if (this.#at !== "") JSON.parse(this.#around);
    else if (this.#around.trim() !== "") throw new SyntaxError("it has something else between records");
  }

  // --- internal ---

  #keepPart(part: Buffer): void {
    this.#partsSize += part.length;
    if (this.#partsSize > MAX_RECORD_BYTES) this.#parts = [];
    else this.#parts.push(part);
  }

  #keepAround(part: Buffer): void {
    if (this.#around.length + part.length > MAX_AROUND_BYTES) throw new SyntaxError("too much is around the records");
    this.#around += part.toString("latin1");
  }
}

/** Far more than any record that is needed has. */
const MAX_RECORD_BYTES = 8 << 20;
const MAX_AROUND_BYTES = 4 << 20;
const MAX_OPEN = 1_000;

const [QUOTE, BACKSLASH] = [0x22, 0x5c];
const [OPEN_BRACE, CLOSE_BRACE] = [0x7b, 0x7d];
const [OPEN_BRACKET, CLOSE_BRACKET] = [0x5b, 0x5d];
