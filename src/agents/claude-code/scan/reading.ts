import { readSync } from "node:fs";
import type { FileScan, PartSize, TranscriptFile } from "../../../model/agent.ts";
import { NONE } from "../../../model/fact-tables.ts";
import { INITIAL_OFFSET } from "../../../model/initial-offset.ts";
import { MAX_TIME_MS, MIN_TIME_MS } from "../../../model/limits.ts";
import type { TranscriptEntry } from "../../../model/transcript.ts";
import { EDGE_BYTES, fingerprintOf } from "../../shared/transcript/jsonl.ts";
import { Kinds, MAX_KINDS } from "../../shared/transcript/kinds.ts";
import { readSmallNow } from "../../shared/transcript/open.ts";
import { MAX_STRING_BYTES } from "../../shared/transcript/shorten.ts";
import { KINDS } from "../line-kinds.ts";
import { type LineState, type Memo, readLine, sessionEntry } from "../lines.ts";
import { MAX_META_BYTES, metaPath, subagentEntry } from "../subagent.ts";
import { answerOf, putAnswer } from "./answer.ts";
import type { Kernel } from "./kernel.ts";
import { memoryOf, numberOf, textAt, Unfit } from "./texts.ts";

/** What every entry passes on its way into the store. */
export type Guard = (entries: readonly TranscriptEntry[]) => readonly TranscriptEntry[];

/** One file, from its beginning to its last complete line. */
export class Reading {
  readonly #kernel: Kernel;
  readonly #file: TranscriptFile;
  readonly #before: PartSize;
  readonly #guard: Guard;
  readonly #put: (entry: TranscriptEntry) => void;
  readonly #kinds = new Kinds(KINDS);
  readonly #entries: TranscriptEntry[] = [];
  readonly #agent: number;
  #unreadable = 0;
  /** What the kernel does not know of the state. */
  #facts: string | undefined;
  #launched: string | undefined;

  constructor(
    kernel: Kernel,
    file: TranscriptFile,
    before: PartSize,
    guard: Guard,
    put: (entry: TranscriptEntry) => void,
  ) {
    this.#kernel = kernel;
    this.#file = file;
    this.#before = before;
    this.#guard = guard;
    this.#put = put;
    this.#agent = file.agentId === undefined ? NONE : numberOf(kernel, file.agentId);
    mustBeATime(before.modifiedMs);
    kernel.file(this.#agent, before.modifiedMs);
  }

  read(fd: number): FileScan {
    const kernel = this.#kernel;
    if (room.bytes === 0) room = { at: kernel.take(2 * CHUNK_BYTES + OVERRUN_BYTES), bytes: 2 * CHUNK_BYTES };
    let [position, open, endBytes] = [0, 0, 0];
    let isTold = this.#file.agentId === undefined;
    let head: Buffer = Buffer.alloc(0);
    for (;;) {
      if (open + CHUNK_BYTES > room.bytes) moreRoom(kernel, open);
      let memory = memoryOf(kernel);
      const bytesRead = readSync(fd, memory, room.at + open, CHUNK_BYTES - (position % CHUNK_BYTES), position);
      if (!isTold && endBytes > 0 && (bytesRead === 0 || position % FIRST_BYTES === 0)) {
        this.#tellSubagent(this.#file.agentId ?? "");
        isTold = true;
      }
      if (bytesRead === 0) break;
      if (position === 0) head = Buffer.from(memory.subarray(room.at, room.at + Math.min(bytesRead, EDGE_BYTES)));
      position += bytesRead;
      const end = room.at + open + bytesRead;
      memory[end] = LINE_FEED;
      this.#lines(room.at, end);
      const next = kernel.nextAt();
      // Memory that has grown is another one
      memory = memoryOf(kernel);
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
      before: this.#before,
      next: endBytes === 0 ? INITIAL_OFFSET : { bytes: endBytes, memo: { ...this.#memo(fd, head, endBytes) } },
      unreadable: this.#unreadable,
      records: kernel.linesRead(),
      unknownKinds,
    };
  }

  #lines(from: number, end: number): void {
    const kernel = this.#kernel;
    for (let at = from; ; at = kernel.nextAt()) {
      const result = kernel.run(at, end);
      if (result === kernel.DONE.value) return;
      if (result === kernel.NEWS.value) {
        this.#news();
        continue;
      }
      if (result !== kernel.HARD.value) throw new Unfit();
      this.#hardLine(memoryOf(kernel).subarray(kernel.lineStartAt(), kernel.lineEndAt()));
    }
  }

  /** A line that is in the tables has told something of the session. */
  #news(): void {
    const kernel = this.#kernel;
    const at = kernel.factsAt();
    const told = memoryOf(kernel)
      .toString("utf8", at, at + kernel.factsLength())
      .split("\n");
    const [agentVersion, cwd, gitBranch] = told.map(unescaped);
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
    this.#launched = state.launched;
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
    putAnswer(kernel, state.answer);
    kernel.setState(state.timeMs, state.inputMs ?? Number.NaN, prompt, isTold);
  }

  #state(): LineState {
    const kernel = this.#kernel;
    const [inputMs, prompt] = [kernel.inputMs(), kernel.promptText()];
    const answer = answerOf(kernel);
    const requests = Object.fromEntries(
      Array.from({ length: kernel.requests() }, (_, n) => [textAt(kernel, kernel.requestText(n)), kernel.requestMs(n)]),
    );
    return {
      timeMs: kernel.timeMs(),
      ...(prompt !== NONE && { promptKey: textAt(kernel, prompt) }),
      ...(!Number.isNaN(inputMs) && { inputMs }),
      ...(kernel.requests() > 0 && { requests }),
      ...(this.#facts !== undefined && { facts: this.#facts }),
      ...(this.#launched !== undefined && { launched: this.#launched }),
      ...(answer !== undefined && { answer }),
    };
  }

  #memo(fd: number, head: Buffer, endBytes: number): Memo {
    const last = Buffer.alloc(Math.min(EDGE_BYTES, endBytes));
    const length = readSync(fd, last, 0, last.length, endBytes - last.length);
    return { state: this.#state(), fingerprint: fingerprintOf(head.subarray(0, endBytes), last.subarray(0, length)) };
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

// --- internal ---

/** What is read at once: as much as stays near the processor. */
const CHUNK_BYTES = 1 << 19;
/** What the reader of lines takes for the beginning of a file. */
const FIRST_BYTES = 1 << 20;
/** Longer lines hold pictures, and are read the long way. */
const MAX_LINE_BYTES = 4 << 20;
/** Behind the bytes: the kernel looks that far beyond them, and they end in a line feed. */
const OVERRUN_BYTES = 64;

/** Where files are read to. It grows for whoever needs more, and stays. */
let room = { at: 0, bytes: 0 };

/** What a text stands for, as it is in JSON without its quotes; nothing of an empty one. */
const unescaped = (json: string): string | undefined =>
  json === "" ? undefined : json.includes("\\") ? String(JSON.parse(`"${json}"`)) : json;

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
  memoryOf(kernel).copyWithin(larger.at, room.at, room.at + open);
  room = larger;
}
