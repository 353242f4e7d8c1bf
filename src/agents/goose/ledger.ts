import type { Figures, LedgerRow, MessageRow } from "./rows.ts";

/** A model call of the ledger. */
export interface LedgerCall {
  /** Does not change when the call gets further rows. */
  readonly key: string;
  readonly row: LedgerRow;
  /** The answer, unless its message was removed. */
  readonly message?: MessageRow;
}

/**
 * The calls of a session's ledger. A provider that reports usage in every chunk leaves several rows for one call, and the answer's
 * message has the true figures. So a row that equals a message's usage is a call. One that equals none, and is followed by a row with
 * the same input and no smaller output, is an earlier report of that one. The rest are calls whose messages were removed.
 */
export function callsOf(ledger: readonly LedgerRow[], messages: readonly MessageRow[]): readonly LedgerCall[] {
  const answers = messages.filter(({ usage, isCopy, role }) => usage !== undefined && !isCopy && role === "assistant");
  const answerOf = new Map<LedgerRow, MessageRow>();
  const free = [...answers];
  // From the end, because of equal reports of one call the last one is its row
  for (const row of [...ledger].reverse()) {
    if (row.isCompaction) continue;
    const at = free.findLastIndex(({ usage }) => usage !== undefined && isEqual(usage, row));
    if (at === -1) continue;
    const [message] = free.splice(at, 1);
    if (message !== undefined) answerOf.set(row, message);
  }
  const summaries = messages.filter(isSummary);
  const calls: LedgerCall[] = [];
  let firstId: number | undefined;
  for (const [index, row] of ledger.entries()) {
    const next = ledger[index + 1];
    const message = row.isCompaction ? summaries.shift() : answerOf.get(row);
    if (message === undefined && !row.isCompaction && next !== undefined && isFurtherReport(row, next)) {
      firstId ??= row.id;
      continue;
    }
    calls.push({ key: `ledger:${firstId ?? row.id}`, row, ...(message !== undefined && { message }) });
    firstId = undefined;
  }
  return calls;
}

/** The provider's id of an answer. Goose generates the ids of other messages, and of an answer's further rows. */
export const responseIdOf = ({ id }: MessageRow): string | undefined =>
  OWN_ID.test(id) || id.startsWith("row:") ? undefined : id;

// --- internal ---

const OWN_ID = /^msg_(?:\d{8}_\d+_)?[0-9a-f]{8}-[0-9a-f]{4}-/;

const isEqual = (a: Figures, b: Figures): boolean =>
  a.input === b.input && a.output === b.output && a.cacheRead === b.cacheRead && a.cacheWrite === b.cacheWrite;

const isFurtherReport = (row: LedgerRow, next: LedgerRow): boolean =>
  !next.isCompaction &&
  row.input !== undefined &&
  next.input === row.input &&
  row.output !== undefined &&
  next.output !== undefined &&
  next.output >= row.output;

/** In the conversation, a compaction's answer is a message of the user. */
const isSummary = (message: MessageRow): boolean =>
  message.role === "user" && !message.isVisible && !message.isCopy && responseIdOf(message) !== undefined;
