import { decodeFacts, encodeFacts } from "./facts.ts";
import type { EntryOf, TokenUsage, ToolStatus, TranscriptEntry } from "./transcript.ts";

/**
 * Facts of a session as tables: rows of numbers, that refer to texts by theirs. What a reader writes so is kept so, without an
 * object for each fact ever being made.
 *
 * The ids of their agent are unique: keys are made of them. Whatever does not fit a table is one of `others`.
 */
export interface FactTables {
  /** ASCII, a line feed behind each; their numbers count from 0. */
  readonly texts: Uint8Array;
  /** One of them. */
  readonly text: (number: number) => string;
  readonly calls: Rows;
  readonly uses: Rows;
  readonly results: Rows;
  readonly prompts: Rows;
  /** Digests of what the session owns of them; see `digestOf`. */
  readonly owned: Float64Array;
  /** Names that uses have numbers of: a list of their own. */
  readonly programs: Readonly<Record<number, string>>;
  readonly others: readonly TranscriptEntry[];
}

/** Rows that lie one behind the other: whole numbers of four bytes, and times in milliseconds as numbers of eight. */
export interface Rows {
  readonly count: number;
  readonly ints: Int32Array;
  readonly times: Float64Array;
}

/** Where no text, name or number is told. */
export const NONE = -1;

/** Places among the whole numbers of a row, and among its numbers of eight bytes. */
export const CALL = {
  ints: 22,
  times: 11,
  id: 0,
  request: 1,
  model: 2,
  requested: 3,
  finish: 4,
  prompt: 5,
  agent: 6,
  flags: 7,
  input: 8,
  output: 9,
  cacheRead: 10,
  cacheWrite: 11,
  cacheWrite5m: 12,
  cacheWrite1h: 13,
  reasoning: 14,
  timeMs: 8,
  /** NaN where nobody told. */
  startMs: 9,
  endMs: 10,
} as const;
/** `flags` of a call. */
export const [COMPLETE, ASKS_FOR_TOOLS, HAS_USAGE] = [1, 2, 4] as const;
export const USE = { ints: 8, times: 4, call: 0, name: 1, program: 2, prompt: 3, agent: 4, timeMs: 3 } as const;
export const RESULT = {
  ints: 12,
  times: 6,
  call: 0,
  status: 1,
  error: 2,
  prompt: 3,
  agent: 4,
  spawned: 5,
  exitCode: 6,
  added: 7,
  removed: 8,
  timeMs: 5,
} as const;
/** By their number in a result. */
export const STATUSES = ["success", "error", "denied", "unfinished"] as const satisfies readonly ToolStatus[];
export const PROMPT = { ints: 8, times: 4, line: 0, origin: 1, length: 2, prompt: 3, agent: 4, timeMs: 3 } as const;
/** By their number in a prompt. */
export const ORIGINS = ["human", "machine", "command"] as const satisfies readonly EntryOf<"prompt">["origin"][];

/** What keys begin with. */
export const KEYS = { call: "response:", use: "use:", result: "result:", prompt: "prompt:" } as const;

/** Of an answer: its id and that of the request, where it is told. */
export const callKey = (id: string, request: string | undefined): string => `${KEYS.call}${id}:${request ?? ""}`;

/** Tables as one value: a head of JSON, then what they consist of. */
export function encodeTables({ texts, programs, others, ...tables }: Omit<FactTables, "owned" | "text">): Uint8Array {
  const rows = TABLES.map((name) => tables[name]);
  const head: Head = {
    version: VERSION,
    texts: texts.length,
    rows: rows.map(({ count }) => count),
    programs,
    others: others.length === 0 ? null : encodeFacts(others),
  };
  const text = Buffer.from(JSON.stringify(head), "utf8");
  const textsAt = HEAD_BYTES + text.length;
  const rowsAt = aligned(textsAt + texts.length);
  const all = Buffer.alloc(rowsAt + rows.reduce((sum, { times }) => sum + times.byteLength, 0));
  all.write(MAGIC, "latin1");
  all.writeUInt32LE(text.length, 4);
  text.copy(all, HEAD_BYTES);
  all.set(texts, textsAt);
  let at = rowsAt;
  for (const { times } of rows) {
    all.set(new Uint8Array(times.buffer, times.byteOffset, times.byteLength), at);
    at += times.byteLength;
  }
  return all;
}

/**
 * The facts of tables that were encoded, each as its agent's reader gives it; those of one kind in their order.
 *
 * @throws Error when they are no such value
 */
export function decodeTables(value: Uint8Array): readonly TranscriptEntry[] {
  // A copy: numbers of eight bytes stand at places that eight divides
  const bytes = Buffer.from(Uint8Array.from(value).buffer);
  if (bytes.toString("latin1", 0, 4) !== MAGIC) throw new Error("these are no tables of facts");
  const textsAt = HEAD_BYTES + bytes.readUInt32LE(4);
  const head = JSON.parse(bytes.toString("utf8", HEAD_BYTES, textsAt)) as Head;
  if (head.version !== VERSION) {
    throw new Error(`tables of facts are coded in version ${head.version}, this program knows ${VERSION}`);
  }
  const texts = bytes.toString("latin1", textsAt, textsAt + head.texts).split("\n");
  let at = aligned(textsAt + head.texts);
  const [calls, uses, results, prompts] = TABLES.map((name, i): Rows => {
    const count = head.rows[i] ?? 0;
    const { ints, times } = SHAPES[name];
    const begin = at;
    at += count * times * 8;
    return {
      count,
      ints: new Int32Array(bytes.buffer, begin, count * ints),
      times: new Float64Array(bytes.buffer, begin, count * times),
    };
  });
  if (at !== bytes.length) throw new Error(`tables of facts of ${at} bytes are ${bytes.length} bytes long`);
  return [
    ...entriesOf(prompts, (row) => promptOf(row, texts)),
    ...entriesOf(calls, (row) => callOf(row, texts)),
    ...entriesOf(uses, (row) => useOf(row, texts, head.programs)),
    ...entriesOf(results, (row) => resultOf(row, texts)),
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
const TABLES = ["calls", "uses", "results", "prompts"] as const;
const SHAPES = { calls: CALL, uses: USE, results: RESULT, prompts: PROMPT } as const;

interface Head {
  readonly version: number;
  /** Bytes of them. */
  readonly texts: number;
  readonly rows: readonly number[];
  readonly programs: Readonly<Record<number, string>>;
  readonly others: string | null;
}

interface Row {
  readonly int: (place: number) => number;
  readonly time: (place: number) => number;
}

const aligned = (at: number): number => Math.ceil(at / 8) * 8;

function entriesOf<T>(rows: Rows | undefined, entryOf: (row: Row) => T): readonly T[] {
  if (rows === undefined || rows.count === 0) return [];
  const [ints, times] = [rows.ints.length / rows.count, rows.times.length / rows.count];
  return Array.from({ length: rows.count }, (_, i) =>
    entryOf({
      int: (place) => rows.ints[i * ints + place] ?? NONE,
      time: (place) => rows.times[i * times + place] ?? Number.NaN,
    }),
  );
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
  const usage: Record<string, number> = { input: unsigned(int(CALL.input)), output: unsigned(int(CALL.output)) };
  for (const kind of ["cacheRead", "cacheWrite", "cacheWrite5m", "cacheWrite1h", "reasoning"] as const) {
    const tokens = int(CALL[kind]);
    if (tokens !== NONE) usage[kind] = unsigned(tokens);
  }
  return usage as TokenUsage;
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
