import type { Kernel } from "./kernel.ts";

/** What cannot be put into tables as it is. */
export class Unfit extends Error {}

/** @throws Unfit for a text that cannot stand in a table */
export function numberOf(kernel: Kernel, text: string): number {
  if (!PLAIN.test(text)) throw new Unfit();
  scratch ??= kernel.take(MAX_TEXT);
  memoryOf(kernel).write(text, scratch, "latin1");
  return kernel.textOf(scratch, text.length);
}

/** The text that has a number. */
export function textAt(kernel: Kernel, number: number): string {
  const memory = memoryOf(kernel);
  const row = kernel.textsAt() + number * TEXT_BYTES;
  const at = kernel.textBytesAt() + memory.readInt32LE(row);
  return memory.toString("latin1", at, at + memory.readInt32LE(row + 4));
}

/** All of the kernel's memory, until it grows: asked for again after whatever may take more of it. */
export function memoryOf(kernel: Kernel): Buffer {
  const { buffer } = kernel.memory;
  if (memory.buffer !== buffer) memory = Buffer.from(buffer);
  return memory;
}

// --- internal ---

/** What a text in a table may be. */
const PLAIN = /^[\x20-\x7e]{1,100}$/;

let memory = Buffer.alloc(0);
let scratch: number | undefined;
const MAX_TEXT = 128;
/** Of a row of texts. */
const TEXT_BYTES = 40;
