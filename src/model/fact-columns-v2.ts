import { CALL_KEY } from "./fact-tables.ts";
import { decodeFacts } from "./facts.ts";
import { TOKEN_KINDS } from "./token-kinds.ts";
import type { EntryOf, TranscriptEntry } from "./transcript.ts";

// Stores of versions before 0.1.0 can contain sessions in this format. Nothing writes it any more.

export const MAGIC_V2 = "OHT2";

/** The facts of a value in the second table format. @throws Error for any other format */
export function decodeTablesV2(bytes: Buffer): readonly TranscriptEntry[] {
  const textsAt = HEAD_BYTES + bytes.readUInt32LE(4);
  const head = JSON.parse(bytes.toString("utf8", HEAD_BYTES, textsAt)) as Head;
  if (head.version !== 2) throw new Error(`tables of facts have version ${head.version} in place of 2`);
  const texts = bytes.toString("latin1", textsAt, textsAt + head.texts).split("\n");
  let at = textsAt + head.texts;
  const entries = new Map<string, readonly TranscriptEntry[]>();
  for (const [i, [kind, names]] of Object.entries(COLUMNS).entries()) {
    const count = head.rows[i] ?? 0;
    const columns = (head.columns[i] ?? []).map(([width, base]) => {
      const from = at;
      at += width * count;
      if (at > bytes.length) throw new Error("tables of facts end before their last column");
      return (row: number) => numberAt(bytes, from + row * width, width, base);
    });
    const rowsOf = Array.from({ length: count }, (_, row) => {
      const fields: Row = Object.fromEntries(names.map((name, n) => [name, columns[n]?.(row) ?? Number.NaN]));
      return entryOf(kind as keyof typeof COLUMNS, fields, texts, head.programs);
    });
    entries.set(kind, rowsOf);
  }
  if (at !== bytes.length) throw new Error(`tables of facts of ${at} bytes are ${bytes.length} bytes long`);
  const ordered = ["prompt", "model_call", "tool_use", "tool_result"].flatMap((kind) => entries.get(kind) ?? []);
  return head.others === null ? ordered : [...ordered, ...decodeFacts(head.others)];
}

// --- internal ---

/** The magic and the length of the head. */
const HEAD_BYTES = 8;
/** No text, name or number is known. */
const NONE = -1;
const [COMPLETE, ASKS_FOR_TOOLS, HAS_USAGE] = [1, 2, 4];
const STATUSES = ["success", "error", "denied", "unfinished"] as const;
const ORIGINS = ["human", "machine", "command"] as const;

/** Tables and columns in the order in which they are stored. */
const COLUMNS = {
  model_call: [
    ...["responseId", "requestId", "model", "requestedModel", "finishReason", "prompt", "agent", "flags"],
    ...TOKEN_KINDS,
    ...["timeMs", "startMs", "endMs"],
  ],
  tool_use: ["callId", "name", "program", "prompt", "agent", "timeMs"],
  tool_result: [
    ...["callId", "status", "errorType", "prompt", "agent", "spawned", "exitCode", "linesAdded", "linesRemoved"],
    "timeMs",
  ],
  prompt: ["line", "origin", "length", "prompt", "agent", "timeMs"],
} as const satisfies Readonly<Record<string, readonly string[]>>;

type Row = Readonly<Record<string, number>>;

interface Head {
  readonly version: number;
  /** Their size in bytes. */
  readonly texts: number;
  readonly rows: readonly number[];
  /** Per table: bytes per number, and the number that is stored as 0; NaN is stored as null. */
  readonly columns: readonly (readonly (readonly [width: number, base: number | null])[])[];
  readonly programs: Readonly<Record<number, string>>;
  readonly others: string | null;
}

function numberAt(bytes: Buffer, at: number, width: number, base: number | null): number {
  if (base === null) return Number.NaN;
  if (width === 0) return base;
  return base + (width === 8 ? bytes.readDoubleLE(at) : bytes.readUIntLE(at, width));
}

function entryOf(
  kind: keyof typeof COLUMNS,
  row: Row,
  texts: readonly string[],
  programs: Readonly<Record<number, string>>,
): TranscriptEntry {
  const number = (name: string): number | undefined => {
    const value = row[name] ?? Number.NaN;
    return value === NONE || Number.isNaN(value) ? undefined : value;
  };
  const text = (name: string): string | undefined => texts[number(name) ?? NONE];
  const place = (key: string) => ({
    key,
    timeMs: row["timeMs"] ?? 0,
    globalKey: key,
    ...optional({ promptKey: text("prompt"), agentId: text("agent") }),
  });
  const callId = text("callId") ?? "";
  switch (kind) {
    case "prompt":
      return {
        kind,
        ...place(`prompt:${text("line")}`),
        origin: ORIGINS[row["origin"] ?? 0] ?? "human",
        ...optional({ length: number("length") }),
      };
    case "model_call":
      return { kind, ...callOf(row, number, text, place) };
    case "tool_use":
      return {
        kind,
        ...place(`use:${callId}`),
        callId,
        name: text("name") ?? "",
        ...optional({ executable: programs[row["program"] ?? NONE] }),
      };
    case "tool_result":
      return {
        kind,
        ...place(`result:${callId}`),
        callId,
        status: STATUSES[row["status"] ?? 0] ?? "success",
        ...optional({
          errorType: text("errorType"),
          exitCode: number("exitCode"),
          linesAdded: number("linesAdded"),
          linesRemoved: number("linesRemoved"),
          spawnedAgentId: text("spawned"),
        }),
      };
  }
}

function callOf(
  row: Row,
  number: (name: string) => number | undefined,
  text: (name: string) => string | undefined,
  place: (key: string) => Pick<EntryOf<"model_call">, "key" | "timeMs">,
): Omit<EntryOf<"model_call">, "kind"> {
  const [responseId, requestId, flags] = [text("responseId") ?? "", text("requestId"), row["flags"] ?? 0];
  // Tokens of a call need all bits of their four bytes
  const tokens = TOKEN_KINDS.map((kind) => [kind, number(kind)] as const);
  const usage = Object.fromEntries(tokens.flatMap(([kind, n]) => (n === undefined ? [] : [[kind, n >>> 0]])));
  return {
    ...place(`${CALL_KEY}${responseId}:${requestId ?? ""}`),
    responseId,
    ...optional({
      requestId,
      model: text("model"),
      requestedModel: text("requestedModel"),
      startMs: number("startMs"),
    }),
    endMs: row["endMs"] ?? 0,
    ...((flags & HAS_USAGE) !== 0 && { usage: { input: 0, output: 0, ...usage } }),
    complete: (flags & COMPLETE) !== 0,
    ...optional({ finishReason: text("finishReason") }),
    ...((flags & ASKS_FOR_TOOLS) !== 0 && { asksForTools: true as const }),
  };
}

/** Members with a known value. */
const optional = <T extends object>(members: T): { [K in keyof T]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
