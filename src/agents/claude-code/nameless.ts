import { asCount, asObject, asString } from "../shared/payload/json.ts";

/** An answer without an id, or with one that other answers share: shows whether the next such line is another block of it. Plain JSON. */
export interface NamelessAnswer {
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
 * Names the answer that such a line is a block of: by its request, which lines have from 2.1.300 at the latest, else by its
 * first line.
 *
 * @param id of its message, if any
 * @param known the last such answers, the newest last
 * @param lineId id of the line; for a copy, of the original line
 * @returns the name, and `known` with the answer added
 */
export function nameAnswer(
  o: Readonly<Record<string, unknown>>,
  id: string | undefined,
  known: readonly NamelessAnswer[],
  lineId: string,
  agentId: string | undefined,
): { readonly name: string; readonly known: readonly NamelessAnswer[] } {
  const request = asString(o["requestId"]) ?? asString(o["requestRef"]);
  if (request !== undefined) return { name: request, known };
  const message = asObject(o["message"]);
  const finishReason = asString(message?.["stop_reason"]);
  const place = asCount(o["apiBlockIndex"]);
  const usage = counted(message?.["usage"]);
  const block: Block = { id, parent: asString(o["parentUuid"]), finishReason, place, usage };
  const mine = known.filter((answer) => answer.agentId === agentId);
  const parent = mine.find(({ uuid }) => uuid === block.parent);
  const before = [parent, mine.at(-1)].find((answer) => answer !== undefined && isOf(block, answer));
  const name = before?.name ?? lineId;
  const answer: NamelessAnswer = {
    name,
    uuid: asString(o["uuid"]) ?? lineId,
    ...(agentId !== undefined && { agentId }),
    ...(id !== undefined && { id }),
    ...(finishReason !== undefined && { finishReason }),
    ...(place !== undefined && { place }),
    ...(usage !== undefined && { usage }),
  };
  return { name, known: [...known.filter((other) => other !== before).slice(1 - REMEMBERED), answer] };
}

// --- internal ---

/** Older versions wrote at most this many parallel subagents into one file. */
const REMEMBERED = 8;

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
function isOf(block: Block, answer: NamelessAnswer): boolean {
  if (block.id !== answer.id) return false;
  if (block.place !== undefined && answer.place !== undefined) return block.place > answer.place;
  const isNext = block.parent === answer.uuid;
  if (isNext && answer.finishReason === undefined) return true;
  const isSame = block.finishReason === answer.finishReason && block.usage === answer.usage;
  return isSame && (isNext || block.usage !== undefined);
}

/** Distinguishes two answers in a row: the second one has more input. */
function counted(usage: unknown): string | undefined {
  const u = asObject(usage);
  const read = ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"].map((name) => u?.[name]);
  return read.some((count) => (asCount(count) ?? 0) > 0) ? JSON.stringify([...read, u?.["output_tokens"]]) : undefined;
}
