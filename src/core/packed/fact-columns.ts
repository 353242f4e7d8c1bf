import { TOKEN_KINDS } from "../model/token-kinds.ts";
import type { TranscriptEntry } from "../model/transcript.ts";
import {
  COLUMNS,
  type ColumnKind,
  derivedKey,
  type FactTable,
  type FactTables,
  SAME,
  TABLE_KINDS,
  type TableKind,
} from "./fact-tables.ts";
import { decodeFacts, encodeFacts } from "./facts.ts";

/**
 * Encodes tables as one value: a JSON head, the texts, then each column with as many bytes per number as it needs, relative to
 * its smallest number. If all rows have the same number, the column is only in the head; an empty column is omitted.
 */
export function encodeTables({ texts, tables, others }: FactTables): Uint8Array {
  const body = new Body();
  const head: Head = {
    version: VERSION,
    texts: 0,
    tables: Object.fromEntries(
      TABLE_KINDS.filter((kind) => tables[kind].rows > 0).map((kind) => [
        kind,
        { rows: tables[kind].rows, columns: columnsOf(tables[kind], body) },
      ]),
    ),
    ...(others.length > 0 && { others: encodeFacts(others) }),
  };
  const text = Buffer.from(texts.join("\n"), "utf8");
  const json = Buffer.from(JSON.stringify({ ...head, texts: text.length } satisfies Head), "utf8");
  const all = Buffer.allocUnsafeSlow(HEAD_BYTES + json.length + text.length + body.length);
  all.write(MAGIC, "latin1");
  all.writeUInt32LE(json.length, 4);
  json.copy(all, HEAD_BYTES);
  text.copy(all, HEAD_BYTES + json.length);
  all.set(body.bytes(), HEAD_BYTES + json.length + text.length);
  return all;
}

/**
 * Decodes tables; facts of one kind keep their order.
 *
 * @param wanted the tables to decode; without it, all facts
 * @throws Error if the value has another format
 */
export function decodeTables(value: Uint8Array, wanted?: ReadonlySet<string>): readonly TranscriptEntry[] {
  const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  if (bytes.toString("latin1", 0, MAGIC.length) !== MAGIC) throw new Error("these are no tables of facts");
  const textsAt = HEAD_BYTES + bytes.readUInt32LE(4);
  const head = JSON.parse(bytes.toString("utf8", HEAD_BYTES, textsAt)) as Head;
  if (head.version !== VERSION) {
    throw new Error(`tables of facts are coded in version ${head.version}, this program knows ${VERSION}`);
  }
  const texts = bytes.toString("utf8", textsAt, textsAt + head.texts).split("\n");
  let at = textsAt + head.texts;
  const entries: TranscriptEntry[] = [];
  for (const [kind, { rows, columns }] of Object.entries(head.tables)) {
    const isWanted = wanted === undefined || wanted.has(kind);
    const read = Object.entries(columns).flatMap(([name, column]) => {
      const from = at;
      at += column[0] * rows;
      if (at > bytes.length) throw new Error("tables of facts end before their last column");
      return isWanted ? [[name, readColumn(bytes, from, column, rows)] as const] : [];
    });
    if (!isWanted) continue;
    const values: Values = new Map(read);
    for (let row = 0; row < rows; row++) entries.push(entryOf(kind as TableKind, values, row, texts));
  }
  if (at !== bytes.length) throw new Error(`tables of facts of ${at} bytes are ${bytes.length} bytes long`);
  return head.others === undefined || wanted !== undefined ? entries : [...entries, ...decodeFacts(head.others)];
}

/** Decodes the facts of a packed session in any stored format. @throws Error for any other format */
export const decodePackedFacts = (facts: string | Uint8Array): readonly TranscriptEntry[] =>
  typeof facts === "string" ? decodeFacts(facts) : decodeTables(facts);

/** The tool calls of a packed session if there is one that changed files; otherwise none. @throws Error for an unknown format */
export function decodePackedEdits(facts: string | Uint8Array): readonly TranscriptEntry[] {
  if (typeof facts === "string") return facts.includes('"files"') ? decodeFacts(facts) : [];
  const bytes = Buffer.from(facts.buffer, facts.byteOffset, facts.byteLength);
  const hasFiles = bytes.subarray(0, HEAD_BYTES + bytes.readUInt32LE(4)).includes('"files"');
  return hasFiles ? decodeTables(facts, CALL_TABLES) : [];
}

// --- internal ---

const CALL_TABLES: ReadonlySet<TableKind> = new Set(["tool_use", "tool_result"]);

const MAGIC = "OHT3";
const VERSION = 3;
/** The magic and the length of the head. */
const HEAD_BYTES = 8;

interface Head {
  readonly version: number;
  /** Their size in bytes. */
  readonly texts: number;
  readonly tables: Readonly<Record<string, { readonly rows: number; readonly columns: Columns }>>;
  readonly others?: string;
}

type Columns = Readonly<Record<string, Column>>;
/** Bytes per number, and the number that is stored as 0; if some rows have no number, 0 means none and 1 is that number. */
type Column = readonly [width: Width, base: number, hasGaps?: 1];

/** 0: the same number in every row. 8: stored unchanged. */
type Width = 0 | 1 | 2 | 4 | 8;

function columnsOf(table: FactTable, body: Body): Columns {
  const columns: Record<string, Column> = {};
  for (const [place, name] of Object.keys(COLUMNS[table.kind]).entries()) {
    const column = encodeColumn(table, place, body);
    if (column !== undefined) columns[name] = column;
  }
  return columns;
}

/** @returns `undefined` if no row has a number */
function encodeColumn({ data, stride, rows }: FactTable, place: number, body: Body): Column | undefined {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  let gaps = 0;
  let isWhole = true;
  const end = rows * stride;
  for (let at = place; at < end; at += stride) {
    const value = data[at] ?? Number.NaN;
    if (value < low) low = value;
    if (value > high) high = value;
    if (Number.isNaN(value)) gaps++;
    else if (isWhole && value !== Math.floor(value)) isWhole = false;
  }
  if (gaps === rows) return undefined;
  const hasGaps = gaps > 0;
  const width = isWhole ? widthOf(high - low + (hasGaps ? 1 : 0)) : 8;
  const base = width === 8 ? 0 : low;
  body.put(data, place, stride, end, width, base, hasGaps);
  return hasGaps && width !== 8 ? [width, base, 1] : [width, base];
}

function widthOf(range: number): Width {
  return range === 0 ? 0 : range <= 0xff ? 1 : range <= 0xffff ? 2 : range <= 0xffffffff ? 4 : 8;
}

/** The bytes of all columns, concatenated. */
class Body {
  #bytes = Buffer.allocUnsafe(1 << 14);
  length = 0;

  bytes(): Buffer {
    return this.#bytes.subarray(0, this.length);
  }

  put(
    data: Float64Array,
    place: number,
    stride: number,
    end: number,
    width: Width,
    base: number,
    hasGaps: boolean,
  ): void {
    if (width === 0) return;
    const bytes = this.#room((end / stride) * width);
    let to = this.length;
    if (width === 8) {
      for (let at = place; at < end; at += stride, to += 8) bytes.writeDoubleLE(data[at] ?? Number.NaN, to);
    } else {
      const shift = hasGaps ? 1 - base : -base;
      for (let at = place; at < end; at += stride) {
        const value = (data[at] ?? Number.NaN) + shift;
        const stored = Number.isNaN(value) ? 0 : value;
        bytes[to++] = stored;
        if (width === 1) continue;
        bytes[to++] = stored >>> 8;
        if (width === 2) continue;
        bytes[to++] = stored >>> 16;
        bytes[to++] = stored >>> 24;
      }
    }
    this.length = to;
  }

  #room(more: number): Buffer {
    if (this.length + more > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(this.length + more, this.#bytes.length * 2));
      this.#bytes.copy(larger, 0, 0, this.length);
      this.#bytes = larger;
    }
    return this.#bytes;
  }
}

type Values = ReadonlyMap<string, Float64Array>;

function readColumn(bytes: Buffer, from: number, [width, base, hasGaps]: Column, rows: number): Float64Array {
  const values = new Float64Array(rows);
  for (let row = 0, at = from; row < rows; row++, at += width) {
    const stored =
      width === 0
        ? 0
        : width === 1
          ? bytes.readUInt8(at)
          : width === 2
            ? bytes.readUInt16LE(at)
            : width === 4
              ? bytes.readUInt32LE(at)
              : bytes.readDoubleLE(at);
    values[row] = hasGaps !== 1 ? stored + base : stored === 0 ? Number.NaN : stored - 1 + base;
  }
  return values;
}

function entryOf(kind: TableKind, values: Values, row: number, texts: readonly string[]): TranscriptEntry {
  const numberOf = (name: string): number => values.get(name)?.[row] ?? Number.NaN;
  const memberOf = (name: string, column: ColumnKind): unknown => {
    const number = numberOf(name);
    if (Number.isNaN(number)) return undefined;
    if (column === "json") return JSON.parse(texts[number] ?? "null");
    return column === "text" ? (texts[number] ?? "") : column === "flag" ? number === 1 : number;
  };
  const members: Record<string, unknown> = {};
  for (const [name, column] of Object.entries(COLUMNS[kind])) {
    if (name === "key" || name === "globalKey") continue;
    const value = memberOf(name, column);
    if (value === undefined) continue;
    if (TOKENS.has(name)) members["usage"] = { ...(members["usage"] as object | undefined), [name]: value };
    else members[name] = value;
  }
  const key = memberOf("key", "text") ?? derivedKey(kind, members) ?? "";
  const globalKey = numberOf("globalKey") === SAME ? key : memberOf("globalKey", "text");
  const { timeMs, ...rest } = members;
  return { kind, key, timeMs, ...(globalKey !== undefined && { globalKey }), ...rest } as unknown as TranscriptEntry;
}

const TOKENS: ReadonlySet<string> = new Set(TOKEN_KINDS);
