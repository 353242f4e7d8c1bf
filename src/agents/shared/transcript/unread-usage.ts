import { createHash } from "node:crypto";
import type { FactBase, FactSink } from "#core/model/fact-sink.ts";
import type { EntryOf, TranscriptEntry } from "#core/model/transcript.ts";
import type { TranscriptBatch } from "#core/model/transcript-reader.ts";
import { putEntry } from "#core/rules/put-facts.ts";
import { usagesIn } from "#core/rules/usage-shapes.ts";
import { defined } from "#kit/objects.ts";
import { asObject, asString, asTimeMs, type Fields, parsedObject } from "../payload/json.ts";
import type { Kinds } from "./kinds.ts";
import type { Row } from "./sqlite.ts";

// Usage in a record that the reader does not know can be that of one request, or a sum of others. So it counts as usage with unknown
// figures, and not as a call: sums that include it are lower bounds.

/** A record in a database whose kind the reader does not know. */
export interface UnknownRecord {
  readonly kind: string;
  readonly id: string;
  /** As JSON. */
  readonly text: string;
}

/** A record and what is known of its place. */
export interface CountedRecord {
  readonly fields: Fields | undefined;
  /** Is the same whenever the record is read again, and in copies of it. */
  readonly identity: string | Buffer;
  /** Of the reader. It may have the prompt and the time of the last record. */
  readonly state: object;
  readonly agentId?: string | undefined;
  /** For a record without any time. */
  readonly modifiedMs: number;
}

/** Counts a record's kind. If the kind is unknown and the record has token usage, the sums become lower bounds. */
export function countKind(kinds: Kinds, kind: unknown, record: () => CountedRecord, sink: FactSink): void {
  if (!kinds.add(kind)) return;
  const { fields, identity, state, agentId, modifiedMs } = record();
  if (fields === undefined || usagesIn(fields).length === 0) return;
  kinds.hasUsage(kind);
  const { promptKey, timeMs: lastMs } = state as { readonly promptKey?: unknown; readonly timeMs?: unknown };
  const payload = asObject(fields["payload"]) ?? asObject(fields["message"]);
  const named = [fields["timestamp"], fields["time"], fields["ts"], payload?.["timestamp"]].map(asTimeMs);
  const timeMs = named.find((ms) => ms !== undefined) ?? (typeof lastMs === "number" ? lastMs : modifiedMs);
  const key = `unread:${createHash("sha256").update(identity).digest("hex").slice(0, 16)}`;
  putEntry(sink, unreadCall({ key, globalKey: key, timeMs, promptKey: asString(promptKey), agentId }));
}

/** Of the parts of a message: rows with their `type`, the column `unknown` (see `ifUnknown`) and perhaps an id. */
export const unknownIn = (parts: readonly Row[], messageId: string): readonly UnknownRecord[] =>
  parts.flatMap(({ id, type, unknown }, at): readonly UnknownRecord[] =>
    typeof type === "string" && typeof unknown === "string"
      ? [{ kind: type, id: String(id ?? `${messageId} ${at}`), text: unknown }]
      : [],
  );

/** The same for the unknown records of a message in a database. @param place of the message, and its time */
export function countUnknown(
  kinds: Kinds,
  records: readonly UnknownRecord[],
  place: Pick<CountedRecord, "state" | "agentId" | "modifiedMs">,
  sink: FactSink,
): void {
  for (const { kind, id, text } of records) {
    countKind(kinds, kind, () => ({ ...place, fields: parsedObject(text), identity: id }), sink);
  }
}

/**
 * For a file that is one object: adds its usage outside of the places that the reader knows, one entry per place. Such a place has no
 * time, and its entry must stay the same when the file grows, so it is put beside the first call.
 *
 * @param known matches paths below which the reader knows all usage, see `usagesIn`
 */
export function withUnreadUsage(
  object: Fields,
  known: RegExp,
  entries: readonly TranscriptEntry[],
): Required<Pick<TranscriptBatch, "entries" | "unreadUsage">> {
  const first = entries.find(({ kind }) => kind === "model_call") ?? entries[0];
  const found = new Map<string, number>();
  for (const { path } of usagesIn(object, (at) => known.test(at))) found.set(path, (found.get(path) ?? 0) + 1);
  if (first === undefined || found.size === 0) return { entries, unreadUsage: new Map() };
  const { timeMs, promptKey, agentId } = first;
  const prefix = agentId === undefined ? "unread:" : `unread:${agentId}:`;
  const unread = [...found.keys()].map((path) => unreadCall({ key: `${prefix}${path}`, timeMs, promptKey, agentId }));
  return { entries: [...entries, ...unread], unreadUsage: found };
}

// --- internal ---

const unreadCall = (base: FactBase): EntryOf<"model_call"> =>
  defined<EntryOf<"model_call">>({
    kind: "model_call",
    ...base,
    endMs: base.timeMs,
    complete: true,
    covers: "unknown",
  });
