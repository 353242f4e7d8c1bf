import type { JsonLine } from "./json-line.ts";
import { MODULE_BASE64 } from "./shorten/module.ts";

/** A complete line among the bytes, without its line feed. Valid until the next lines are requested. */
export interface PlacedLine extends JsonLine {
  readonly start: number;
  readonly end: number;
}

/**
 * Finds the lines in a part of a JSON lines file, and returns their texts without long strings. Most bytes of transcripts are
 * files and outputs, and parsing them takes longer than all other reading. WebAssembly compares up to 64 bytes at a time: about
 * 5 GB/s.
 */
export interface Shortener {
  /** The buffer for the part of the file. */
  readonly bytes: Buffer;
  /** Complete lines between two positions. */
  lines(from: number, to: number): Generator<PlacedLine, void, void>;
}

/** Longer strings are cut: paths and names are shorter. Parsing is faster the less is left, and the less of it is not ASCII. */
const MAX_STRING_BYTES = 192;
/** The same for commands: a line whose command is cut is parsed again. */
const MAX_COMMAND_BYTES = 384;

/** Ends a string that was cut. If an agent's string ends with it too, its line is parsed once more than needed. */
const CUT = "\0";
export const isCut = (text: string): boolean => text.endsWith(CUT);

/**
 * @param capacity of `bytes`
 * @returns `undefined` if the engine cannot run it or has no memory for it; then whole lines are parsed
 */
export function makeShortener(capacity: number): Shortener | undefined {
  const code = compiled();
  if (code === undefined) return undefined;
  // A string that is cut is longer than what replaces it, so the copies need no more room than the bytes
  const copiesAt = aligned(capacity + OVERRUN_BYTES);
  const tableAt = aligned(copiesAt + capacity + OVERRUN_BYTES);
  const pages = Math.ceil((tableAt + MAX_LINES * 4 * NUMBERS) / PAGE_BYTES);
  const memory = memoryOf(pages);
  if (memory === undefined) return undefined;
  const { shorten, readEnd, copyEnd } = new WebAssembly.Instance(code, { host: { memory } }).exports as unknown as Code;
  const all = Buffer.from(memory.buffer);
  const table = new Int32Array(memory.buffer, tableAt, MAX_LINES * NUMBERS);
  return {
    bytes: all.subarray(0, capacity),
    *lines(from, to) {
      let copiesEnd = copiesAt;
      for (let at = from; at < to; at = readEnd.value) {
        const found = shorten(at, to, copiesEnd, tableAt, ...LIMITS);
        if (found === 0) return;
        copiesEnd = copyEnd.value;
        for (let i = 0; i < found; i++) {
          const place = i * NUMBERS;
          yield new Line(all, table, place, i + 1 < found ? (table[place + NUMBERS + 2] ?? 0) : copiesEnd);
        }
      }
    },
  };
}

// --- internal ---

/** Bytes of a cut string that are kept, up to the first one that is not ASCII: its beginning shows its kind. */
const KEPT_BYTES = 96;
/** The module reads this far beyond the end. */
const OVERRUN_BYTES = 64;
const PAGE_BYTES = 65_536;
const MAX_LINES = 4_096;
const LIMITS = [MAX_LINES, MAX_STRING_BYTES, KEPT_BYTES, MAX_COMMAND_BYTES] as const;
/** Numbers per line in the table: start, end, start of the copy, whether it is cut. */
const NUMBERS = 4;

interface Code {
  readonly readEnd: { readonly value: number };
  readonly copyEnd: { readonly value: number };
  shorten(from: number, to: number, copies: number, table: number, ...limits: typeof LIMITS): number;
}

class Line implements PlacedLine {
  readonly start: number;
  readonly end: number;
  readonly isCut: boolean;
  readonly #all: Buffer;
  readonly #copyStart: number;
  readonly #copyEnd: number;

  constructor(all: Buffer, table: Int32Array, place: number, copyEnd: number) {
    this.start = table[place] ?? 0;
    this.end = table[place + 1] ?? 0;
    this.isCut = table[place + 3] === 1;
    this.#all = all;
    this.#copyStart = table[place + 2] ?? 0;
    this.#copyEnd = copyEnd;
  }

  get bytes(): Buffer {
    return this.#all.subarray(this.start, this.end);
  }

  text(): string {
    // UTF-8; naming it costs as much as a short line takes
    return this.#all.toString(undefined, this.#copyStart, this.#copyEnd);
  }

  head(bytes: number): string {
    return this.#all.toString("latin1", this.start, Math.min(this.end, this.start + bytes));
  }
}

let module: WebAssembly.Module | "none" | undefined;

function compiled(): WebAssembly.Module | undefined {
  if (module === undefined) {
    try {
      module = new WebAssembly.Module(Buffer.from(MODULE_BASE64, "base64"));
    } catch {
      module = "none";
    }
  }
  return module === "none" ? undefined : module;
}

/**
 * The engine reserves ten gigabytes of addresses for each memory; some machines allow less (`ulimit -v`). It fails only after a
 * third of a second, so a failure is remembered.
 */
function memoryOf(pages: number): WebAssembly.Memory | undefined {
  try {
    return new WebAssembly.Memory({ initial: pages });
  } catch {
    module = "none";
    return undefined;
  }
}

const aligned = (at: number): number => Math.ceil(at / 16) * 16;
