/** A line of a JSON lines file. Valid until the next batch of lines is read: its bytes are reused. */
export interface JsonLine {
  readonly bytes: Buffer;
  /** As in the file; without its long strings if `isCut`. */
  text(): string;
  /** Its first bytes, one character each. */
  head(bytes: number): string;
  readonly isCut: boolean;
}
