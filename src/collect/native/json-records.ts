/** Brackets that are open where a record begins: in a request, and in a file that has one record after another. */
export type RecordsAt = typeof IN_REQUEST | typeof IN_FILE;
export const IN_REQUEST = "{[{[{[";
export const IN_FILE = "";

/**
 * Finds the records in a JSON text that comes in pieces, without parsing what is around them: memory is needed for a piece and
 * for one record.
 */
export class JsonRecords {
  /** Records that were too large, and in a file what is no whole record. */
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
    // Members of the object would take twice the time
    let [isText, isEscaped] = [this.#isText, this.#isEscaped];
    for (let at = 0; at < piece.length; at++) {
      const code = piece[at];
      if (isText) {
        if (isEscaped) isEscaped = false;
        else if (code === BACKSLASH) isEscaped = true;
        else if (code === QUOTE) isText = false;
      } else if (code === QUOTE) isText = true;
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
          if (this.#at === IN_REQUEST) this.#around += "0";
          if (this.#partsSize > MAX_RECORD_BYTES) this.dropped++;
          else yield this.#parts.length === 1 && this.#parts[0] ? this.#parts[0] : Buffer.concat(this.#parts);
          [this.#parts, this.#partsSize] = [[], 0];
        }
      }
    }
    [this.#isText, this.#isEscaped] = [isText, isEscaped];
    if (this.#depth > 0) this.#keepPart(piece.subarray(start));
    else this.#keepAround(piece.subarray(start));
  }

  /**
   * To be called after the last piece. An agent that is killed leaves half a record at the end of its file.
   *
   * @throws SyntaxError if what is around the records of a request is no JSON, or it ends within one
   */
  end(): void {
    if (this.#at === IN_FILE) this.dropped += this.#depth > 0 || this.#around.trim() !== "" ? 1 : 0;
    else if (this.#depth > 0) throw new SyntaxError("it ends within a record");
    else JSON.parse(this.#around);
  }

  // --- internal ---

  #keepPart(part: Buffer): void {
    this.#partsSize += part.length;
    if (this.#partsSize > MAX_RECORD_BYTES) this.#parts = [];
    else this.#parts.push(part);
  }

  #keepAround(part: Buffer): void {
    if (part.length === 0) return;
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
