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
  STATUSES,
} from "../../../model/fact-tables.ts";
import { TOKEN_KINDS } from "../../../model/token-kinds.ts";
import type { TranscriptEntry } from "../../../model/transcript.ts";
import { type Kernel, PROGRAMS } from "./kernel.ts";
import { sumsOf } from "./sums.ts";
import { numberOf, textAt, Unfit } from "./texts.ts";

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
      if (covers !== undefined || provider !== undefined || entry.noListPrice) throw new Unfit();
      if (!isKey(callKey(responseId, requestId))) throw new Unfit();
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
      const { callId, name, executable, mcpServer, inputDigest, givenId, timeMs } = entry;
      const program = executable === undefined ? NONE : PROGRAMS.indexOf(executable);
      if (mcpServer !== undefined || inputDigest !== undefined || givenId !== undefined) throw new Unfit();
      if (!isKey(`${KEYS.use}${callId}`)) throw new Unfit();
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
  kernel.listNames();
  kernel.encode();
  const sums = sumsOf(kernel, others);
  // Views come last: memory that has grown is another one
  const { buffer } = kernel.memory;
  const programs: Record<number, string> = {};
  for (const program of new Int32Array(buffer, kernel.programsAt(), kernel.programRows())) {
    programs[program] = PROGRAMS[program] ?? "";
  }
  return {
    texts: new Uint8Array(buffer, kernel.textBytesAt(), kernel.textBytes()),
    text: (number) => textAt(kernel, number),
    rows: [kernel.callRows(), kernel.useRows(), kernel.resultRows(), kernel.promptRows()],
    calls: new Int32Array(buffer, kernel.callsAt(), kernel.callRows() * CALL.ints),
    columns: new Float64Array(buffer, kernel.columnsAt(), kernel.columnRows() * 2),
    body: new Uint8Array(buffer, kernel.bodyAt(), kernel.bodyBytes()),
    owned: new Float64Array(buffer, kernel.ownedAt(), kernel.ownedRows()),
    programs,
    others,
    firstMs: kernel.firstRecordMs(),
    lastMs: kernel.lastRecordMs(),
    sums,
  };
}

/** Names that the tables have, each once: of models, reasons to end and tools. */
export const namesOf = (kernel: Kernel): readonly string[] =>
  Array.from(new Int32Array(kernel.memory.buffer, kernel.namesAt(), kernel.nameRows()), (n) => textAt(kernel, n));

// --- internal ---

const MAX_TOKENS = 0xffff_fffe;
const MAX_COUNT = 0x7fff_ffff;

function mustFit(isPut: number): void {
  if (isPut === 0) throw new Unfit();
}
