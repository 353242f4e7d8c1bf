import { NONE } from "../../../model/fact-tables.ts";
import { TOKEN_KINDS } from "../../../model/token-kinds.ts";
import type { TokenUsage } from "../../../model/transcript.ts";
import type { Writable } from "../../../model/writable.ts";
import type { ToldAnswer } from "../lines.ts";
import type { Kernel } from "./kernel.ts";
import { memoryOf, numberOf, textAt, Unfit } from "./texts.ts";

// The last answer that had figures of its own, as the kernel remembers it: its id and its request by number, then its tokens.

/** What the kernel remembers; `undefined` where that is nothing. */
export function answerOf(kernel: Kernel): ToldAnswer | undefined {
  const at = kernel.answerAt();
  const memory = memoryOf(kernel);
  const id = memory.readInt32LE(at);
  if (id === NONE) return undefined;
  const told = { id: textAt(kernel, id), requestId: textAt(kernel, memory.readInt32LE(at + REQUEST)) };
  const usage: Writable<TokenUsage> = { input: 0, output: 0 };
  for (const [n, kind] of TOKEN_KINDS.entries()) {
    const tokens = memory.readUInt32LE(at + TOKENS + n * 4);
    if (tokens !== NO_COUNT) usage[kind] = tokens;
  }
  return usage.input + usage.output === 0 ? told : { ...told, usage };
}

/**
 * Lets the kernel go on from what somebody else has read.
 *
 * @throws Unfit for what the kernel cannot remember
 */
export function putAnswer(kernel: Kernel, answer: ToldAnswer | undefined): void {
  const id = answer === undefined ? NONE : numberOf(kernel, answer.id);
  const request = answer === undefined ? NONE : numberOf(kernel, answer.requestId);
  const memory = memoryOf(kernel);
  const at = kernel.answerAt();
  memory.writeInt32LE(id, at);
  memory.writeInt32LE(request, at + REQUEST);
  for (const [n, kind] of TOKEN_KINDS.entries()) {
    const tokens = answer?.usage?.[kind];
    if (tokens !== undefined && tokens >= NO_COUNT) throw new Unfit();
    memory.writeUInt32LE(tokens ?? NO_COUNT, at + TOKENS + n * 4);
  }
}

// --- internal ---

const REQUEST = 4;
const TOKENS = 8;
const NO_COUNT = 0xffff_ffff;
