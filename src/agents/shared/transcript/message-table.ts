import type { ContentUpdate } from "#core/model/content.ts";
import type { Offset, TranscriptEntry } from "#core/model/transcript.ts";
import type { TranscriptBatch } from "#core/model/transcript-reader.ts";
import { EntrySink } from "#core/rules/entry-sink.ts";
import { Kinds } from "./kinds.ts";
import { UNREADABLE_ROW } from "./sqlite.ts";
import { countUnknown, type UnknownRecord } from "./unread-usage.ts";

/** A row of a table of messages. Rows change until the message is complete. */
interface TableRow {
  /** Row id; ascends with insertion. */
  readonly place: number;
  readonly id: string;
  /** Absent: the message is not read. */
  readonly createdMs?: number | undefined;
  /** Parts of kinds that the reader does not know, and the message itself if it is one. */
  readonly unknown: readonly UnknownRecord[];
}

/** What one message gave. */
export interface Walked<State> {
  readonly entries: readonly TranscriptEntry[];
  readonly state: State;
  /** The message is not complete and must be read again. */
  readonly isOpen: boolean;
}

/** How the messages of one session are read. */
export interface MessageTable<T extends TableRow, State extends object> {
  readonly initial: State;
  /** Set for a subagent's session. */
  readonly agentId?: string | undefined;
  /** Messages after a row id, in the table's order. */
  after(place: number, limit: number): readonly T[];
  /** Messages with these ids, in their order, without deleted ones. */
  byId(ids: readonly string[]): readonly T[];
  /** Id of the message with a row id. */
  idAt(place: number): string | undefined;
  isReadable(row: T): boolean;
  /** One message → its entries. The same message gives the same keys again. @returns isOpen: it must be read again */
  walk(row: T, state: State): Walked<State>;
  /** Content of messages; only called on request. */
  content?(rows: readonly T[], entries: readonly TranscriptEntry[]): readonly ContentUpdate[];
}

/** The position after the last message, and the messages to read again. Stored between two drains. */
interface TableMemo<State> {
  /** Row id and id of the last message read. */
  readonly place: number;
  readonly lastId: string;
  /** Messages that were not complete. */
  readonly open: readonly string[];
  readonly state: State;
  /** The session's own entries were already returned. */
  readonly isTold: boolean;
}

/** The stored memo, if the table was not replaced or renumbered: VACUUM renumbers rows, and deleted row ids are reused. */
export function tableMemo<T extends TableRow, State extends object>(
  { initial, idAt }: Pick<MessageTable<T, State>, "initial" | "idAt">,
  { memo }: Offset,
): TableMemo<State> {
  const known = memo as Partial<TableMemo<State>>;
  const nothing = { place: 0, lastId: "", open: [], state: initial, isTold: false };
  if (known.place === undefined || known.state === undefined) return nothing;
  if (known.place === 0) return { ...nothing, isTold: known.isTold === true };
  return idAt(known.place) === known.lastId ? { ...nothing, ...known } : nothing;
}

/** Reads incomplete messages again, and all messages after the last one that was read. */
export async function* readMessages<T extends TableRow, State extends object>(
  table: MessageTable<T, State>,
  from: TableMemo<State>,
): AsyncGenerator<TranscriptBatch> {
  let memo = from;
  let openRows = table.byId(memo.open);
  for (;;) {
    const newRows = table.after(memo.place, MESSAGES_PER_BATCH);
    if (openRows.length + newRows.length === 0) return;
    const rows = [...openRows, ...newRows];
    const batch = walkAll(rows, memo, table);
    memo = batch.memo;
    const { entries, unreadable } = batch;
    const records = newRows.length - Math.min(newRows.length, unreadable);
    const content = table.content?.(rows, entries) ?? [];
    const aside = unreadable > 0 && { setAside: { records: unreadable, reason: UNREADABLE_ROW } };
    yield { entries, content, next: { bytes: 0, memo: { ...memo } }, unreadable, records, ...batch.kinds, ...aside };
    if (newRows.length < MESSAGES_PER_BATCH) return;
    openRows = [];
  }
}

// --- internal ---

const MESSAGES_PER_BATCH = 100;
/** Limit for incomplete messages: those of a killed process are never completed. */
const MAX_OPEN = 100;

/** @param memo its open messages are among the rows, or were processed before */
function walkAll<T extends TableRow, State extends object>(
  rows: readonly T[],
  memo: TableMemo<State>,
  table: MessageTable<T, State>,
) {
  const entries: TranscriptEntry[] = [];
  const kinds = new Kinds([]);
  const unknown = new EntrySink();
  const known = new Set(rows.map(({ id }) => id));
  const open = memo.open.filter((id) => !known.has(id));
  let { state, place, lastId } = memo;
  let unreadable = 0;
  for (const row of rows) {
    if (!table.isReadable(row)) unreadable++;
    const walked = table.walk(row, state);
    entries.push(...walked.entries);
    state = walked.state;
    if (row.createdMs !== undefined) {
      countUnknown(kinds, row.unknown, { state, agentId: table.agentId, modifiedMs: row.createdMs }, unknown);
      entries.push(...unknown.take());
    }
    if (walked.isOpen) open.push(row.id);
    if (row.place > place) [place, lastId] = [row.place, row.id];
  }
  return {
    entries,
    unreadable,
    kinds: kinds.take(),
    memo: { ...memo, place, lastId, open: open.slice(-MAX_OPEN), state },
  };
}
