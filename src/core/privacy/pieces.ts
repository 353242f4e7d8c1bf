/** So many are joined at once: collecting garbage takes most of the time if all pieces of a long text are kept in one list. */
const MAX_PIECES = 4096;

/** A text that is made of many small pieces. */
export class Pieces {
  #joined = "";
  #pieces: string[] = [];

  add(piece: string): void {
    if (this.#pieces.push(piece) < MAX_PIECES) return;
    this.#joined = this.text();
    this.#pieces = [];
  }

  text(): string {
    return this.#joined + this.#pieces.join("");
  }
}
