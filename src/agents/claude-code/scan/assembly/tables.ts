// What was read of a session: texts, each once, and a row for each answer of a model, tool call, result and prompt. Rows refer
// to texts by number. The layout is that of `src/model/fact-tables.ts`, which takes it as it is.

/** Memory that is asked for once and kept: sessions come one after the other. What looks at sixteen bytes looks beyond it. */
export function take(bytes: usize): usize {
  return heap.alloc(bytes + 64);
}

export class Table {
  at: usize = 0;
  rows: i32 = 0;
  capacity: i32 = 0;
  constructor(readonly stride: i32) {}

  /** A new row; what stands in it is of another session. */
  add(): usize {
    if (this.rows === this.capacity) this.grow(1);
    return this.at + this.rows++ * this.stride;
  }

  /** So many at once. @returns where the first of them is */
  more(count: i32): usize {
    if (this.rows + count > this.capacity) this.grow(count);
    const at = this.row(this.rows);
    this.rows += count;
    return at;
  }

  private grow(count: i32): void {
    let capacity = this.capacity === 0 ? max(1024, 16384 / this.stride) : this.capacity;
    while (capacity < this.rows + count) capacity *= 2;
    const at = take(capacity * this.stride);
    memory.copy(at, this.at, this.rows * this.stride);
    this.at = at;
    this.capacity = capacity;
  }

  @inline
  row(n: i32): usize {
    return this.at + n * this.stride;
  }
}

export const NONE: i32 = -1;

/** id, request, model, requested model, finish reason, prompt, agent, flags; seven kinds of tokens; next of that id; times */
export const calls = new Table(88);
export const CALL_COMPLETE: i32 = 1;
export const CALL_ASKS: i32 = 2;
export const CALL_USAGE: i32 = 4;
/** call, name, executable, prompt, agent, nothing; time */
export const uses = new Table(32);
/** call, status, error, prompt, agent, spawned agent, exit code, lines added, lines removed, nothing; time */
export const results = new Table(48);
/** line, origin, length, prompt, agent, nothing; time */
export const prompts = new Table(32);
/** Digests of what the session owns. */
export const owned = new Table(8);

/** Bytes of all texts, a line feed behind each. */
const bytes = new Table(1);
/** place, length, hash; rows of a use, a result, an answer and a prompt that go by it, plus one; what sums note of it */
export const texts = new Table(40);
export const TEXT_USE: i32 = 12;
export const TEXT_RESULT: i32 = 16;
export const TEXT_CALL: i32 = 20;
export const TEXT_PROMPT: i32 = 24;
/** The turn of a prompt's id and the run of a subagent's, plus one; a prompt has taken it. */
export const TEXT_TURN: i32 = 28;
export const TEXT_AGENT: i32 = 32;
export const TEXT_TAKEN: i32 = 36;

let slots: usize = 0;
let slotCount: i32 = 0;

export function clear(): void {
  calls.rows = uses.rows = results.rows = prompts.rows = owned.rows = bytes.rows = texts.rows = 0;
  if (slotCount === 0) {
    slotCount = 4096;
    slots = take(slotCount * 4);
  }
  memory.fill(slots, 0, slotCount * 4);
}

export function textBytesAt(): usize {
  return bytes.at;
}
export function textBytes(): i32 {
  return bytes.rows;
}

@inline
function hashOf(at: usize, length: i32): u32 {
  let hash: u64 = length;
  let i = 0;
  for (; i + 8 <= length; i += 8) {
    hash = (hash ^ load<u64>(at + i)) * 0x9e3779b97f4a7c15;
    hash ^= hash >>> 29;
  }
  if (i < length) {
    const rest = load<u64>(at + i) & ((<u64>1 << ((length - i) * 8)) - 1);
    hash = (hash ^ rest) * 0x9e3779b97f4a7c15;
    hash ^= hash >>> 29;
  }
  return <u32>(hash ^ (hash >>> 32));
}

export function same(a: usize, b: usize, length: i32): bool {
  let i = 0;
  for (; i + 8 <= length; i += 8) if (load<u64>(a + i) !== load<u64>(b + i)) return false;
  for (; i < length; i++) if (load<u8>(a + i) !== load<u8>(b + i)) return false;
  return true;
}

/** The number of a text; a new one where it was never seen. */
export function textOf(at: usize, length: i32): i32 {
  const hash = hashOf(at, length);
  let slot = hash & (slotCount - 1);
  while (true) {
    const known = load<i32>(slots + slot * 4) - 1;
    if (known < 0) break;
    const row = texts.row(known);
    if (load<u32>(row, 8) === hash && load<i32>(row, 4) === length && same(bytes.at + load<i32>(row), at, length)) return known;
    slot = (slot + 1) & (slotCount - 1);
  }
  const place = bytes.rows;
  const to = bytes.more(length + 1);
  memory.copy(to, at, length);
  store<u8>(to + length, 0x0a);
  const row = texts.add();
  store<i32>(row, place);
  store<i32>(row, length, 4);
  store<u32>(row, hash, 8);
  store<i64>(row, 0, 12);
  store<i64>(row, 0, 20);
  store<i64>(row, 0, 28);
  store<i32>(row, 0, 36);
  const number = texts.rows - 1;
  store<i32>(slots + slot * 4, number + 1);
  if (texts.rows * 2 > slotCount) growSlots();
  return number;
}

/** Whether a byte is in a text. */
export function has(text: i32, wanted: u8): bool {
  const row = texts.row(text);
  const at = bytes.at + load<i32>(row);
  const end = at + load<i32>(row, 4);
  for (let i = at; i < end; i++) if (load<u8>(i) === wanted) return true;
  return false;
}

/** Whether a text is this one. @param wanted ASCII */
export function isText(text: i32, wanted: string): bool {
  if (text === NONE) return false;
  const row = texts.row(text);
  if (load<i32>(row, 4) !== wanted.length) return false;
  const at = bytes.at + load<i32>(row);
  for (let i = 0; i < wanted.length; i++) if (load<u8>(at + i) !== <u8>wanted.charCodeAt(i)) return false;
  return true;
}

function growSlots(): void {
  slotCount *= 2;
  slots = take(slotCount * 4);
  memory.fill(slots, 0, slotCount * 4);
  for (let i = 0; i < texts.rows; i++) {
    let slot = load<u32>(texts.row(i), 8) & (slotCount - 1);
    while (load<i32>(slots + slot * 4) !== 0) slot = (slot + 1) & (slotCount - 1);
    store<i32>(slots + slot * 4, i + 1);
  }
}

// Digests are those of `digestOf` in `src/model/packed.ts`: what one changes the other must change too.

/** The two halves of one, while it goes. */
export class Digest {
  static high: u32 = 0;
  static low: u32 = 0;
  /** Behind the source and the first letters of each kind of key. */
  static highs: StaticArray<u32> = new StaticArray<u32>(4);
  static lows: StaticArray<u32> = new StaticArray<u32>(4);
}
export const KEY_CALL: i32 = 0;
export const KEY_USE: i32 = 1;
export const KEY_RESULT: i32 = 2;
export const KEY_PROMPT: i32 = 3;

/** Behind an id, as behind its source: `SEPARATOR` there. */
const SEPARATOR: u32 = 0xff51;

@inline
function digestUnit(unit: u32): void {
  Digest.high = (Digest.high ^ unit) * 0x9e3779b1;
  Digest.low = (Digest.low ^ unit) * 0x5f356495;
}

function digestText(text: i32): void {
  const row = texts.row(text);
  const at = bytes.at + load<i32>(row);
  const end = at + load<i32>(row, 4);
  for (let i = at; i < end; i++) digestUnit(load<u8>(i));
}

/** Notes that the session owns a record: its key is made of a text, and of a second one for an answer. */
export function own(kind: i32, text: i32, second: i32): void {
  Digest.high = Digest.highs[kind];
  Digest.low = Digest.lows[kind];
  digestText(text);
  if (kind === KEY_CALL) {
    digestUnit(0x3a);
    if (second !== NONE) digestText(second);
  }
  store<f64>(owned.add(), digestHere());
}

/** The digest of what went into `Digest`: the end of `digestOf`. */
@inline
function digestHere(): f64 {
  let high = Digest.high ^ SEPARATOR;
  let low = Digest.low;
  high = ((high ^ (high >>> 16)) * 0x85ebca77) ^ ((low ^ (low >>> 13)) * 0xc2b2ae3d);
  low = ((low ^ (low >>> 16)) * 0x85ebca77) ^ ((high ^ (high >>> 13)) * 0xc2b2ae3d);
  return <f64>(high >>> 16) * 4294967296.0 + <f64>low;
}
