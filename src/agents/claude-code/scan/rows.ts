import {
  ASKS_FOR_TOOLS,
  CALL,
  COMPLETE,
  callKey,
  type FactTables,
  HAS_USAGE,
  KEYS,
  NONE,
  ORIGINS,
  PROMPT,
  RESULT,
  type Rows,
  STATUSES,
  USE,
} from "../../../model/fact-tables.ts";
import { TOKEN_KINDS } from "../../../model/token-kinds.ts";
import type { TranscriptEntry } from "../../../model/transcript.ts";
import { type Kernel, PROGRAMS } from "./kernel.ts";

/** What cannot be put into tables as it is. */
export class Unfit extends Error {}

/**
 * Puts an entry that somebody else has made into its table.
 *
 * @returns false for what no table is for
 * @throws Unfit for what says more than its table holds, or contradicts it
 */
export function putRow(kernel: Kernel, entry: TranscriptEntry): boolean {
  const number = (text: string | undefined): number => (text === undefined ? NONE : numberOf(kernel, text));
  const isKey = (key: string): boolean => entry.key === key && entry.globalKey === key;
  const place = [number(entry.promptKey), number(entry.agentId)] as const;
  switch (entry.kind) {
    case "model_call": {
      const { responseId = "", requestId, covers, provider, usage, startMs = Number.NaN, timeMs, endMs } = entry;
      if (covers !== undefined || provider !== undefined || !isKey(callKey(responseId, requestId))) throw new Unfit();
      const tokens = TOKEN_KINDS.map((kind) => usage?.[kind] ?? NONE);
      if (tokens.some((n) => n > MAX_TOKENS)) throw new Unfit();
      const flags =
        (entry.complete ? COMPLETE : 0) |
        (entry.asksForTools === true ? ASKS_FOR_TOOLS : 0) |
        (usage === undefined ? 0 : HAS_USAGE);
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

/** The tables as they are now: views of the kernel's memory, good until it reads on. */
export function tablesOf(kernel: Kernel, others: readonly TranscriptEntry[]): FactTables {
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
  // Few names are asked for, again and again
  const known: string[] = [];
  return {
    texts: new Uint8Array(buffer, kernel.textBytesAt(), kernel.textBytes()),
    text: (number) => {
      known[number] ??= textAt(kernel, number);
      return known[number];
    },
    calls: rows(kernel.callsAt(), kernel.callRows(), CALL),
    uses,
    results: rows(kernel.resultsAt(), kernel.resultRows(), RESULT),
    prompts: rows(kernel.promptsAt(), kernel.promptRows(), PROMPT),
    owned: new Float64Array(buffer, kernel.ownedAt(), kernel.ownedRows()),
    programs,
    others,
  };
}

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
const MAX_TOKENS = 0xffff_fffe;
const MAX_COUNT = 0x7fff_ffff;

function mustFit(isPut: number): void {
  if (isPut === 0) throw new Unfit();
}

let scratch: number | undefined;
const MAX_TEXT = 128;
/** Of a row of texts. */
const TEXT_BYTES = 32;
