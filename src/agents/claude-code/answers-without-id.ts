import { asCount, asObject, asString } from "../shared/payload/json.ts";
import { USAGE_FIELDS } from "./usage-fields.ts";

/**
 * An answer without an id, or with one that other answers share. Its last line is compared with the next one, which can be
 * another block of it. Plain JSON.
 */
export interface AnswerWithoutId {
  readonly name: string;
  /** Its last line. */
  readonly uuid: string;
  readonly agentId?: string;
  readonly id?: string;
  readonly finishReason?: string;
  /** Index of its last block, if lines have it. */
  readonly place?: number;
  /** Usage as written; absent if all counts are zero. */
  readonly usage?: string;
}

/**
 * Identifies the answer to which such a line belongs: by its request, which lines name since 2.1.300 or earlier, otherwise by
 * the answer's first line.
 *
 * @param id the message's id, if any
 * @param known the last such answers, the newest last
 * @param lineId the line's id; for a copy, the original line's
 * @returns a name for the answer, and `known` with the answer added
 */
export function identifyAnswer(
  o: Readonly<Record<string, unknown>>,
  id: string | undefined,
  known: readonly AnswerWithoutId[],
  lineId: string,
  agentId: string | undefined,
): { readonly name: string; readonly known: readonly AnswerWithoutId[] } {
  const request = asString(o["requestId"]) ?? asString(o["requestRef"]);
  if (request !== undefined) return { name: request, known };
  const message = asObject(o["message"]);
  const finishReason = asString(message?.["stop_reason"]);
  const place = asCount(o["apiBlockIndex"]);
  const usage = usageKey(message?.["usage"]);
  const block: Block = { id, parent: asString(o["parentUuid"]), finishReason, place, usage };
  const ownAnswers = known.filter((answer) => answer.agentId === agentId);
  const parent = ownAnswers.find(({ uuid }) => uuid === block.parent);
  const before = [parent, ownAnswers.at(-1)].find((answer) => answer !== undefined && isBlockOf(block, answer));
  const name = before?.name ?? lineId;
  const answer: AnswerWithoutId = {
    name,
    uuid: asString(o["uuid"]) ?? lineId,
    ...(agentId !== undefined && { agentId }),
    ...(id !== undefined && { id }),
    ...(finishReason !== undefined && { finishReason }),
    ...(place !== undefined && { place }),
    ...(usage !== undefined && { usage }),
  };
  return { name, known: [...known.filter((other) => other !== before).slice(1 - REMEMBERED_ANSWERS), answer] };
}

// --- internal ---

/** Older versions wrote at most this many parallel subagents into one file. */
const REMEMBERED_ANSWERS = 8;

interface Block {
  readonly id: string | undefined;
  readonly parent: string | undefined;
  readonly finishReason: string | undefined;
  readonly place: number | undefined;
  readonly usage: string | undefined;
}

/**
 * Blocks have an index from 2.1.275 at the latest. Before that, each block's parent is the block before it, or (from 2.1.175 on)
 * the result of its call. All blocks of an answer have the same end and tokens, or only the last one has them.
 */
function isBlockOf(block: Block, answer: AnswerWithoutId): boolean {
  if (block.id !== answer.id) return false;
  if (block.place !== undefined && answer.place !== undefined) return block.place > answer.place;
  const isNext = block.parent === answer.uuid;
  if (isNext && answer.finishReason === undefined) return true;
  const isSame = block.finishReason === answer.finishReason && block.usage === answer.usage;
  return isSame && (isNext || block.usage !== undefined);
}

/** Usage as text, which distinguishes consecutive answers: the second one has more input. */
function usageKey(usage: unknown): string | undefined {
  const u = asObject(usage);
  const { input, cacheRead, cacheWrite, output } = USAGE_FIELDS;
  const read = [input, cacheRead, cacheWrite].map((name) => u?.[name]);
  return read.some((count) => (asCount(count) ?? 0) > 0) ? JSON.stringify([...read, u?.[output]]) : undefined;
}
