import type { Kernel } from "./kernel.ts";

/** What cannot be put into tables as it is. */
export class Unfit extends Error {}

/** @throws Unfit for a text that cannot stand in a table */
export function numberOf(kernel: Kernel, text: string): number {
  if (!PLAIN.test(text)) throw new Unfit();
  scratch ??= kernel.take(MAX_TEXT);
  Buffer.from(kernel.memory.buffer).write(text, scratch, "latin1");
  return kernel.textOf(scratch, text.length);
}

/** The text that has a number. */
export function textAt(kernel: Kernel, number: number): string {
  const row = new Int32Array(kernel.memory.buffer, kernel.textsAt() + number * TEXT_BYTES, 2);
  const [place = 0, length = 0] = row;
  const at = kernel.textBytesAt() + place;
  return Buffer.from(kernel.memory.buffer).toString("latin1", at, at + length);
}

// --- internal ---

/** What a text in a table may be. */
const PLAIN = /^[\x20-\x7e]{1,100}$/;

let scratch: number | undefined;
const MAX_TEXT = 128;
/** Of a row of texts. */
const TEXT_BYTES = 40;
