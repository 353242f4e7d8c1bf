import {
  ASKS_FOR_TOOLS,
  CALL,
  COLUMNS,
  COMPLETE,
  callKey,
  type FactTables,
  HAS_USAGE,
  KEYS,
  NONE,
  ORIGINS,
  PROMPT,
  RESULT,
  STATUSES,
  USE,
} from "./fact-tables.ts";
import { decodeFacts, encodeFacts } from "./facts.ts";
import { TOKEN_KINDS } from "./token-kinds.ts";
import type { EntryOf, TokenUsage, TranscriptEntry } from "./transcript.ts";
import type { Writable } from "./writable.ts";

/**
 * Tables as one value: a head of JSON, the texts, then each column with as many bytes a number as it needs, counted from its
 * smallest; one that says the same in every row stands in the head alone.
 */
export function encodeTables({ texts, rows, columns, body, programs, others }: FactTables): Uint8Array {
  let next = 0;
  const head: Head = {
    version: VERSION,
    texts: texts.length,
    rows,
    columns: TABLES.map((_, i) =>
      rows[i] === 0
        ? []
        : (COLUMNS_OF[i] ?? []).map(() => {
            const [width, base] = [columns[next] ?? 0, columns[next + 1] ?? Number.NaN];
            next += 2;
            return [width as Width, Number.isNaN(base) ? null : base];
          }),
    ),
    programs,
    others: others.length === 0 ? null : encodeFacts(others),
  };
  const text = Buffer.from(JSON.stringify(head), "utf8");
  const textsAt = HEAD_BYTES + text.length;
  const all = Buffer.allocUnsafeSlow(textsAt + texts.length + body.length);
  all.write(MAGIC, "latin1");
  all.writeUInt32LE(text.length, 4);
  text.copy(all, HEAD_BYTES);
  all.set(texts, textsAt);
  all.set(body, textsAt + texts.length);
  return all;
}

/**
 * The facts of tables that were encoded, each as its agent's reader gives it; those of one kind in their order.
 *
 * @throws Error when they are no such value
 */
export function decodeTables(value: Uint8Array): readonly TranscriptEntry[] {
  const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  if (bytes.toString("latin1", 0, 4) !== MAGIC) throw new Error("these are no tables of facts");
  const textsAt = HEAD_BYTES + bytes.readUInt32LE(4);
  const head = JSON.parse(bytes.toString("utf8", HEAD_BYTES, textsAt)) as Head;
  if (head.version !== VERSION) {
    throw new Error(`tables of facts are coded in version ${head.version}, this program knows ${VERSION}`);
  }
  const texts = bytes.toString("latin1", textsAt, textsAt + head.texts).split("\n");
  let at = textsAt + head.texts;
  const [calls, uses, results, prompts] = TABLES.map((name, i): readonly Row[] => {
    const count = head.rows[i] ?? 0;
    const [ints, timePlaces]: readonly [readonly number[], readonly number[]] = COLUMNS[name];
    const read = (head.columns[i] ?? []).map(([width, base]) => {
      const begin = at;
      at += width * count;
      if (at > bytes.length) throw new Error("tables of facts end before their last column");
      return readColumn(bytes, begin, width, base, count);
    });
    const [wholes, times] = [byPlace(ints, read), byPlace(timePlaces, read.slice(ints.length))];
    return Array.from({ length: count }, (_, row) => ({
      int: (place) => wholes[place]?.[row] ?? NONE,
      time: (place) => times[place]?.[row] ?? Number.NaN,
    }));
  });
  if (at !== bytes.length) throw new Error(`tables of facts of ${at} bytes are ${bytes.length} bytes long`);
  return [
    ...(prompts ?? []).map((row) => promptOf(row, texts)),
    ...(calls ?? []).map((row) => callOf(row, texts)),
    ...(uses ?? []).map((row) => useOf(row, texts, head.programs)),
    ...(results ?? []).map((row) => resultOf(row, texts)),
    ...(head.others === null ? [] : decodeFacts(head.others)),
  ];
}

/** Facts of a packed session, in whichever form they are. @throws Error when they are in none */
export const factsOf = (facts: string | Uint8Array): readonly TranscriptEntry[] =>
  typeof facts === "string" ? decodeFacts(facts) : decodeTables(facts);

// --- internal ---

const MAGIC = "OHT2";
const VERSION = 2;
/** The magic, and how long the head is. */
const HEAD_BYTES = 8;
const TABLES = Object.keys(COLUMNS) as (keyof typeof COLUMNS)[];
const COLUMNS_OF = TABLES.map((name) => COLUMNS[name].flat());

interface Head {
  readonly version: number;
  /** Bytes of them. */
  readonly texts: number;
  readonly rows: readonly number[];
  /** Of each table: bytes a number, and what 0 stands for; NaN is null. */
  readonly columns: readonly (readonly (readonly [Width, number | null])[])[];
  readonly programs: Readonly<Record<number, string>>;
  readonly others: string | null;
}

/** 0: the same in every row. 8: as it is. */
type Width = 0 | 1 | 2 | 4 | 8;

function readColumn(bytes: Buffer, from: number, width: Width, base: number | null, count: number): Float64Array {
  const values = new Float64Array(count);
  for (let i = 0, at = from; i < count; i++, at += width) {
    const told =
      width === 0
        ? 0
        : width === 1
          ? bytes.readUInt8(at)
          : width === 2
            ? bytes.readUInt16LE(at)
            : width === 4
              ? bytes.readUInt32LE(at)
              : bytes.readDoubleLE(at);
    values[i] = base === null ? Number.NaN : told + base;
  }
  return values;
}

/** Columns, each at the place that it has in a row. */
function byPlace(places: readonly number[], columns: readonly Float64Array[]): readonly (Float64Array | undefined)[] {
  const all: (Float64Array | undefined)[] = [];
  for (const [i, place] of places.entries()) all[place] = columns[i];
  return all;
}

interface Row {
  readonly int: (place: number) => number;
  readonly time: (place: number) => number;
}

const told = (n: number): number | undefined => (n === NONE ? undefined : n);

/** Members in the order in which readers give them. */
function placed(texts: readonly string[], key: string, timeMs: number, prompt: number, agent: number) {
  return {
    key,
    timeMs,
    globalKey: key,
    ...(prompt !== NONE && { promptKey: texts[prompt] ?? "" }),
    ...(agent !== NONE && { agentId: texts[agent] ?? "" }),
  };
}

function promptOf({ int, time }: Row, texts: readonly string[]): EntryOf<"prompt"> {
  const key = `${KEYS.prompt}${texts[int(PROMPT.line)]}`;
  const length = told(int(PROMPT.length));
  return {
    kind: "prompt",
    ...placed(texts, key, time(PROMPT.timeMs), int(PROMPT.prompt), int(PROMPT.agent)),
    origin: ORIGINS[int(PROMPT.origin)] ?? "human",
    ...(length !== undefined && { length }),
  };
}

function callOf({ int, time }: Row, texts: readonly string[]): EntryOf<"model_call"> {
  const responseId = texts[int(CALL.id)] ?? "";
  const [requestId, model, requestedModel, finishReason] = [
    texts[int(CALL.request)],
    texts[int(CALL.model)],
    texts[int(CALL.requested)],
    texts[int(CALL.finish)],
  ];
  const [flags, startMs] = [int(CALL.flags), time(CALL.startMs)];
  return {
    kind: "model_call",
    ...placed(texts, callKey(responseId, requestId), time(CALL.timeMs), int(CALL.prompt), int(CALL.agent)),
    responseId,
    ...(requestId !== undefined && { requestId }),
    ...(model !== undefined && { model }),
    ...(requestedModel !== undefined && { requestedModel }),
    ...(!Number.isNaN(startMs) && { startMs }),
    endMs: time(CALL.endMs),
    ...((flags & HAS_USAGE) !== 0 && { usage: usageOf(int) }),
    complete: (flags & COMPLETE) !== 0,
    ...(finishReason !== undefined && { finishReason }),
    ...((flags & ASKS_FOR_TOOLS) !== 0 && { asksForTools: true as const }),
  };
}

function usageOf(int: Row["int"]): TokenUsage {
  const usage: Writable<TokenUsage> = { input: 0, output: 0 };
  for (const kind of TOKEN_KINDS) {
    const tokens = int(CALL[kind]);
    if (tokens !== NONE) usage[kind] = unsigned(tokens);
  }
  return usage;
}

/** Tokens of a call need all bits of their four bytes. */
const unsigned = (n: number): number => n >>> 0;

function useOf(
  { int, time }: Row,
  texts: readonly string[],
  programs: Readonly<Record<number, string>>,
): EntryOf<"tool_use"> {
  const callId = texts[int(USE.call)] ?? "";
  const executable = programs[int(USE.program)];
  return {
    kind: "tool_use",
    ...placed(texts, `${KEYS.use}${callId}`, time(USE.timeMs), int(USE.prompt), int(USE.agent)),
    callId,
    name: texts[int(USE.name)] ?? "",
    ...(executable !== undefined && { executable }),
  };
}

function resultOf({ int, time }: Row, texts: readonly string[]): EntryOf<"tool_result"> {
  const callId = texts[int(RESULT.call)] ?? "";
  const errorType = texts[int(RESULT.error)];
  const [exitCode, linesAdded, linesRemoved] = [
    told(int(RESULT.exitCode)),
    told(int(RESULT.added)),
    told(int(RESULT.removed)),
  ];
  const spawnedAgentId = texts[int(RESULT.spawned)];
  return {
    kind: "tool_result",
    ...placed(texts, `${KEYS.result}${callId}`, time(RESULT.timeMs), int(RESULT.prompt), int(RESULT.agent)),
    callId,
    status: STATUSES[int(RESULT.status)] ?? "success",
    ...(errorType !== undefined && { errorType }),
    ...(exitCode !== undefined && { exitCode }),
    ...(linesAdded !== undefined && { linesAdded }),
    ...(linesRemoved !== undefined && { linesRemoved }),
    ...(spawnedAgentId !== undefined && { spawnedAgentId }),
  };
}
