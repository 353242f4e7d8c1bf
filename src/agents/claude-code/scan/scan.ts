import { closeSync, readSync } from "node:fs";
import type { FileScan, SessionScan, TranscriptFile } from "../../../model/agent.ts";
import { MAX_TIME_MS, MIN_TIME_MS } from "../../../model/bounds.ts";
import {
  CALL,
  callKey,
  type FactTables,
  KEYS,
  NONE,
  ORIGINS,
  PROMPT,
  RESULT,
  type Rows,
  STATUSES,
  USE,
} from "../../../model/fact-tables.ts";
import { mergeEntries } from "../../../model/merge.ts";
import { type EntryOf, START, type TranscriptEntry } from "../../../model/transcript.ts";
import { fingerprintOf } from "../../shared/jsonl.ts";
import { Kinds, MAX_KINDS } from "../../shared/kinds.ts";
import { openRegularNow, readSmallNow } from "../../shared/open.ts";
import { MAX_STRING_BYTES } from "../../shared/shorten.ts";
import { KINDS } from "../line-kinds.ts";
import { type LineState, type Memo, readLine, sessionEntry } from "../lines.ts";
import { MAX_META_BYTES, metaPath, subagentEntry } from "../subagent.ts";
import { type Kernel, PROGRAMS, startKernel } from "./kernel.ts";

type Guard = (entries: readonly TranscriptEntry[]) => readonly TranscriptEntry[];

/**
 * A session's files, read at once: lines that are as nearly all are go straight into tables, by WebAssembly; those that are
 * not are read by the rules of `lines.ts`, and what they tell is put beside. What contradicts itself is left to who can weigh it.
 */
export function scanSession(guard: Guard): SessionScan | undefined {
  kernel ??= startKernel() ?? "none";
  return kernel === "none" ? undefined : new Scan(kernel, guard);
}

// --- internal ---

let kernel: Kernel | "none" | undefined;

/** What is read at once: as much as stays near the processor. */
const CHUNK_BYTES = 1 << 19;
/** What the reader of lines takes for the beginning of a file. */
const FIRST_BYTES = 1 << 20;
/** Longer lines hold pictures, and are read the long way. */
const MAX_LINE_BYTES = 4 << 20;
/** Behind the bytes: the kernel looks that far beyond them, and they end in a line feed. */
const OVERRUN_BYTES = 64;
/** What `run` says: all is read; a line is to be read here; a line told of the session. */
const [READ, HARD, NEWS] = [0, 1, 3];
/** What a text in a table may be. */
const PLAIN = /^[\x20-\x7e]{1,100}$/;
const MAX_TOKENS = 0xffff_fffe;

/** Where files are read to. It grows for whoever needs more, and stays. */
let room = { at: 0, bytes: 0 };

/** What cannot be put into tables as it is. */
class Unfit extends Error {}

class Scan implements SessionScan {
  readonly #kernel: Kernel;
  readonly #guard: Guard;
  readonly #others = new Map<string, TranscriptEntry>();

  constructor(kernel: Kernel, guard: Guard) {
    this.#kernel = kernel;
    this.#guard = guard;
    kernel.session();
  }

  file(file: TranscriptFile): FileScan | undefined {
    const { fd, stats } = openRegularNow(file.path, file.roots);
    try {
      return new Reading(this.#kernel, file, stats.mtimeMs, this.#guard, (entry) => this.#put(entry)).read(fd);
    } catch (error) {
      if (error instanceof Unfit) return undefined;
      throw error;
    } finally {
      closeSync(fd);
    }
  }

  tables(): FactTables | undefined {
    const tables = tablesOf(this.#kernel, [...this.#others.values()]);
    return this.#areFine(tables) ? tables : undefined;
  }

  #put(entry: TranscriptEntry): void {
    if (putRow(this.#kernel, entry)) return;
    const known = this.#others.get(entry.key);
    this.#others.set(entry.key, known === undefined ? entry : mergeEntries(known, entry));
  }

  /** Whether all names may stay as they are. Ids are plain already. */
  #areFine({ text, calls, uses }: FactTables): boolean {
    const named = new Set<number>();
    for (let row = 0; row < calls.ints.length; row += CALL.ints) {
      for (const place of [CALL.model, CALL.requested, CALL.finish]) named.add(calls.ints[row + place] ?? NONE);
    }
    for (let row = 0; row < uses.ints.length; row += USE.ints) named.add(uses.ints[row + USE.name] ?? NONE);
    named.delete(NONE);
    return [...named].every((number) => {
      const name = text(number);
      const probe: EntryOf<"tool_use"> = { kind: "tool_use", key: "use:0", timeMs: PROBE_MS, callId: "0", name };
      const [kept] = this.#guard([probe]);
      return kept === probe;
    });
  }
}

/** Any time will do. */
const PROBE_MS = 1_767_225_600_000;

/** One file, from its beginning to its last complete line. */
class Reading {
  readonly #kernel: Kernel;
  readonly #file: TranscriptFile;
  readonly #guard: Guard;
  readonly #put: (entry: TranscriptEntry) => void;
  readonly #kinds = new Kinds(KINDS);
  readonly #entries: TranscriptEntry[] = [];
  readonly #agent: number;
  #unreadable = 0;
  /** What the kernel does not know of the state. */
  #facts: string | undefined;

  constructor(
    kernel: Kernel,
    file: TranscriptFile,
    modifiedMs: number,
    guard: Guard,
    put: (entry: TranscriptEntry) => void,
  ) {
    this.#kernel = kernel;
    this.#file = file;
    this.#guard = guard;
    this.#put = put;
    this.#agent = file.agentId === undefined ? NONE : numberOf(kernel, file.agentId);
    mustBeATime(modifiedMs);
    kernel.file(this.#agent, modifiedMs);
  }

  read(fd: number): FileScan {
    const kernel = this.#kernel;
    if (room.bytes === 0) room = { at: kernel.take(2 * CHUNK_BYTES + OVERRUN_BYTES), bytes: 2 * CHUNK_BYTES };
    let [position, open, endBytes] = [0, 0, 0];
    let isTold = this.#file.agentId === undefined;
    let head: Buffer = Buffer.alloc(0);
    for (;;) {
      if (open + CHUNK_BYTES > room.bytes) moreRoom(kernel, open);
      let memory = Buffer.from(kernel.memory.buffer);
      const bytesRead = readSync(fd, memory, room.at + open, CHUNK_BYTES - (position % CHUNK_BYTES), position);
      if (!isTold && endBytes > 0 && (bytesRead === 0 || position % FIRST_BYTES === 0)) {
        this.#tellSubagent(this.#file.agentId ?? "");
        isTold = true;
      }
      if (bytesRead === 0) break;
      if (position === 0) head = Buffer.from(memory.subarray(room.at, room.at + Math.min(bytesRead, HEAD_BYTES)));
      position += bytesRead;
      const end = room.at + open + bytesRead;
      memory[end] = LINE_FEED;
      this.#lines(room.at, end);
      const next = kernel.nextAt();
      // Memory that has grown is another one
      memory = Buffer.from(kernel.memory.buffer);
      if (next > room.at) {
        endBytes = position - (end - next);
        memory.copyWithin(room.at, next, end);
      }
      open = end - next;
    }
    const unknownKinds = this.#kinds.take();
    // Read by stretches there could be as many in each
    if (unknownKinds.size >= MAX_KINDS) throw new Unfit();
    return {
      entries: this.#entries,
      next: endBytes === 0 ? START : { bytes: endBytes, memo: { ...this.#memo(head, endBytes) } },
      unreadable: this.#unreadable,
      records: kernel.linesRead(),
      unknownKinds,
    };
  }

  #lines(from: number, end: number): void {
    const kernel = this.#kernel;
    for (let at = from; ; at = kernel.nextAt()) {
      const result = kernel.run(at, end);
      if (result === READ) return;
      if (result === NEWS) {
        this.#news();
        continue;
      }
      if (result !== HARD) throw new Unfit();
      this.#hardLine(
        Buffer.from(kernel.memory.buffer, kernel.lineStartAt(), kernel.lineEndAt() - kernel.lineStartAt()),
      );
    }
  }

  /** A line that is in the tables has told something of the session. */
  #news(): void {
    const kernel = this.#kernel;
    const told = Buffer.from(kernel.memory.buffer, kernel.factsAt(), kernel.factsLength()).toString("utf8").split("\n");
    const [agentVersion, cwd, gitBranch] = told.map(textOf);
    const prompt = kernel.promptBefore();
    const promptKey = prompt === NONE ? undefined : textAt(kernel, prompt);
    const { entry, digest } = sessionEntry({ agentVersion, cwd, gitBranch }, kernel.timeMs(), promptKey, this.#facts);
    this.#facts = digest;
    if (entry !== undefined) this.#entries.push(...this.#guard([entry]));
  }

  #hardLine(bytes: Buffer): void {
    const kernel = this.#kernel;
    const before = this.#state();
    const line = { bytes, isCut: false, text: () => bytes.toString("utf8") };
    const result = readLine(line, before, this.#file.agentId);
    if (result === undefined) {
      // Without its long texts it may be a line after all: nobody looks at what is left out of them
      if (bytes.length > MAX_STRING_BYTES) throw new Unfit();
      this.#unreadable++;
      return;
    }
    const { entries, state } = result;
    if (entries.length === 0) this.#kinds.look(bytes);
    if (state.requests !== before.requests) throw new Unfit();
    this.#facts = state.facts;
    const [first] = entries;
    if (first !== undefined) kernel.saw(first.timeMs);
    for (const entry of this.#guard(entries)) {
      if (entry.kind === "session" || entry.kind === "reported_usage") this.#entries.push(entry);
      else this.#put(entry);
    }
    mustBeATime(state.timeMs);
    mustBeATime(state.inputMs ?? state.timeMs);
    const prompt = state.promptKey === undefined ? NONE : numberOf(kernel, state.promptKey);
    const isTold = this.#agent === NONE && entries.some(({ kind }) => TELLS_SESSION.has(kind));
    kernel.setState(state.timeMs, state.inputMs ?? Number.NaN, prompt, isTold);
  }

  #state(): LineState {
    const kernel = this.#kernel;
    const [inputMs, prompt] = [kernel.inputMs(), kernel.promptText()];
    const requests = Object.fromEntries(
      Array.from({ length: kernel.requests() }, (_, n) => [textAt(kernel, kernel.requestText(n)), kernel.requestMs(n)]),
    );
    return {
      timeMs: kernel.timeMs(),
      ...(prompt !== NONE && { promptKey: textAt(kernel, prompt) }),
      ...(!Number.isNaN(inputMs) && { inputMs }),
      ...(kernel.requests() > 0 && { requests }),
      ...(this.#facts !== undefined && { facts: this.#facts }),
    };
  }

  #memo(head: Buffer, endBytes: number): Memo {
    return { state: this.#state(), fingerprint: fingerprintOf(head.subarray(0, endBytes)) };
  }

  /** When its first stretch is read: that is where its first record is. */
  #tellSubagent(agentId: string): void {
    const { path, roots } = this.#file;
    const firstMs = this.#kernel.firstMs();
    const meta = readSmallNow(metaPath(path), MAX_META_BYTES, roots);
    const entry = subagentEntry(agentId, meta, Number.isNaN(firstMs) ? this.#kernel.timeMs() : firstMs);
    for (const guarded of this.#guard([entry])) this.#put(guarded);
  }
}

/** What a text stands for, as it is in JSON without its quotes; nothing of an empty one. */
const textOf = (json: string): string | undefined =>
  json === "" ? undefined : json.includes("\\") ? String(JSON.parse(`"${json}"`)) : json;

const HEAD_BYTES = 512;
const LINE_FEED = 0x0a;
/** Lines that tell these tell of the session too. */
const TELLS_SESSION: ReadonlySet<TranscriptEntry["kind"]> = new Set(["session", "prompt", "model_call", "tool_result"]);

/** @throws Unfit for one that the guard would change: the lines behind it, that no guard sees, may take it over */
function mustBeATime(ms: number): void {
  if (ms < MIN_TIME_MS || ms > MAX_TIME_MS) throw new Unfit();
}

/** @throws Unfit where a line is longer than any that is read here */
function moreRoom(kernel: Kernel, open: number): void {
  if (open >= MAX_LINE_BYTES) throw new Unfit();
  const larger = { at: kernel.take(room.bytes * 2 + OVERRUN_BYTES), bytes: room.bytes * 2 };
  Buffer.from(kernel.memory.buffer).copyWithin(larger.at, room.at, room.at + open);
  room = larger;
}

/** @throws Unfit for a text that cannot stand in a table */
function numberOf(kernel: Kernel, text: string): number {
  if (!PLAIN.test(text)) throw new Unfit();
  scratch ??= kernel.take(MAX_TEXT);
  Buffer.from(kernel.memory.buffer).write(text, scratch, "latin1");
  return kernel.textOf(scratch, text.length);
}
let scratch: number | undefined;
const MAX_TEXT = 128;

function textAt(kernel: Kernel, number: number): string {
  const row = new Int32Array(kernel.memory.buffer, kernel.textsAt() + number * TEXT_BYTES, 2);
  const [place = 0, length = 0] = row;
  const at = kernel.textBytesAt() + place;
  return Buffer.from(kernel.memory.buffer).toString("latin1", at, at + length);
}
const TEXT_BYTES = 32;

/** @returns false for what no table is for. @throws Unfit for what says more than its table holds, or contradicts it */
function putRow(kernel: Kernel, entry: TranscriptEntry): boolean {
  const number = (text: string | undefined): number => (text === undefined ? NONE : numberOf(kernel, text));
  const isKey = (key: string): boolean => entry.key === key && entry.globalKey === key;
  const place = [number(entry.promptKey), number(entry.agentId)] as const;
  switch (entry.kind) {
    case "model_call": {
      const { responseId = "", requestId, covers, provider, usage, startMs = Number.NaN, timeMs, endMs } = entry;
      if (covers !== undefined || provider !== undefined || !isKey(callKey(responseId, requestId))) throw new Unfit();
      const tokens = TOKEN_KINDS.map((kind) => usage?.[kind] ?? NONE);
      if (tokens.some((n) => n > MAX_TOKENS)) throw new Unfit();
      const flags = (entry.complete ? 1 : 0) | (entry.asksForTools === true ? 2 : 0) | (usage === undefined ? 0 : 4);
      const texts = [responseId, requestId, entry.model, entry.requestedModel, entry.finishReason].map(number);
      mustFit(kernel.putAnswer(...texts, ...place, flags, ...tokens, timeMs, startMs, endMs));
      return true;
    }
    case "tool_use": {
      const { callId, name, executable, mcpServer, inputDigest, timeMs } = entry;
      const program = executable === undefined ? NONE : PROGRAMS.indexOf(executable);
      if (mcpServer !== undefined || inputDigest !== undefined || !isKey(`${KEYS.use}${callId}`)) throw new Unfit();
      if (executable !== undefined && program === -1) throw new Unfit();
      mustFit(kernel.putUse(number(callId), number(name), program, ...place, timeMs));
      return true;
    }
    case "tool_result": {
      const { callId, errorType, spawnedAgentId, durationMs, timeMs } = entry;
      if (durationMs !== undefined || !isKey(`${KEYS.result}${callId}`)) throw new Unfit();
      const status = STATUSES.indexOf(entry.status);
      const counts = [entry.exitCode, entry.linesAdded, entry.linesRemoved].map((n) => n ?? NONE);
      if (counts.some((n) => n > MAX_COUNT)) throw new Unfit();
      mustFit(
        kernel.putResult(
          number(callId),
          status,
          number(errorType),
          ...place,
          number(spawnedAgentId),
          ...counts,
          timeMs,
        ),
      );
      return true;
    }
    case "prompt": {
      const line = entry.key.slice(KEYS.prompt.length);
      const { length = NONE, timeMs, agentId } = entry;
      if (agentId !== undefined || length > MAX_COUNT || !isKey(`${KEYS.prompt}${line}`)) throw new Unfit();
      mustFit(kernel.putPrompt(number(line), ORIGINS.indexOf(entry.origin), length, place[0], timeMs));
      return true;
    }
    default:
      return false;
  }
}

const MAX_COUNT = 0x7fff_ffff;
const TOKEN_KINDS = [
  "input",
  "output",
  "cacheRead",
  "cacheWrite",
  "cacheWrite5m",
  "cacheWrite1h",
  "reasoning",
] as const;

function mustFit(isPut: number): void {
  if (isPut === 0) throw new Unfit();
}

function tablesOf(kernel: Kernel, others: readonly TranscriptEntry[]): FactTables {
  const { buffer } = kernel.memory;
  const rows = (
    at: number,
    count: number,
    { ints, times }: { readonly ints: number; readonly times: number },
  ): Rows => ({
    count,
    ints: new Int32Array(buffer, at, count * ints),
    times: new Float64Array(buffer, at, count * times),
  });
  const uses = rows(kernel.usesAt(), kernel.useRows(), USE);
  const programs: Record<number, string> = {};
  for (let row = USE.program; row < uses.ints.length; row += USE.ints) {
    const program = uses.ints[row] ?? NONE;
    if (program !== NONE) programs[program] ??= PROGRAMS[program] ?? "";
  }
  return {
    texts: new Uint8Array(buffer, kernel.textBytesAt(), kernel.textBytes()),
    text: (number) => textAt(kernel, number),
    calls: rows(kernel.callsAt(), kernel.callRows(), CALL),
    uses,
    results: rows(kernel.resultsAt(), kernel.resultRows(), RESULT),
    prompts: rows(kernel.promptsAt(), kernel.promptRows(), PROMPT),
    owned: new Float64Array(buffer, kernel.ownedAt(), kernel.ownedRows()),
    programs,
    others,
  };
}
