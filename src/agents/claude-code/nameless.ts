import { asCount, asObject, asString } from "../shared/payload/json.ts";

/** Of an answer that its server gave no id, or one that others have as well: what tells whether the next such line is one more block of it. Plain JSON. */
export interface NamelessAnswer {
  readonly name: string;
  /** Its last line. */
  readonly uuid: string;
  readonly agentId?: string;
  readonly id?: string;
  readonly finishReason?: string;
  /** Of its last block, where lines tell it. */
  readonly place?: number;
  /** As it was written; absent where nobody counted anything. */
  readonly usage?: string;
}

/**
 * What to call the answer that such a line is a block of: its request where lines tell that (2.1.300 at the latest), else its
 * first line.
 *
 * @param id of its message, if any
 * @param known the last few of such answers, the newest last
 * @param lineId of the line itself; of a copy, that of the line it is from
 * @returns the name, and `known` with it
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

/** As many subagents at once as older versions wrote into one file. */
const REMEMBERED = 8;

interface Block {
  readonly id: string | undefined;
  readonly parent: string | undefined;
  readonly finishReason: string | undefined;
  readonly place: number | undefined;
  readonly usage: string | undefined;
}

/**
 * Blocks are counted from 2.1.275 at the latest. Before that each one hangs from the one before it, or (2.1.175 on) from the
 * result of its call; all of an answer say the same of its end and its tokens, or nothing but the last one says it.
 */
function isOf(block: Block, answer: NamelessAnswer): boolean {
  if (block.id !== answer.id) return false;
  if (block.place !== undefined && answer.place !== undefined) return block.place > answer.place;
  const isNext = block.parent === answer.uuid;
  if (isNext && answer.finishReason === undefined) return true;
  const isSame = block.finishReason === answer.finishReason && block.usage === answer.usage;
  return isSame && (isNext || block.usage !== undefined);
}

/** Two answers in a row are told apart by it: the second one was given more to read. */
function counted(usage: unknown): string | undefined {
  const u = asObject(usage);
  const read = ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"].map((name) => u?.[name]);
  return read.some((count) => (asCount(count) ?? 0) > 0) ? JSON.stringify([...read, u?.["output_tokens"]]) : undefined;
}
