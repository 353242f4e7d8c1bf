import { createHash } from "node:crypto";
import type { ContentUpdate } from "#core/model/content.ts";
import type { Event } from "#core/model/event-schema.ts";
import type { TranscriptEntry } from "#core/model/transcript.ts";
import { limitEntry, limitEvent, limitId } from "#core/rules/limits.ts";

// Limits values from agents after adapters and readers, and before they are stored

/** Events with shortened values. @param receivedMs replaces impossible times, in milliseconds since the epoch */
export const limitEvents = (events: readonly Event[], receivedMs: number): readonly Event[] =>
  events.map((event) => limitEvent(event, receivedMs, digest));

/** A shortened id. */
export const limitedId = (id: string): string => limitId(id, digest);

/** Entries with shortened values. */
export const limitEntries = (entries: readonly TranscriptEntry[]): readonly TranscriptEntry[] =>
  entries.map((entry) => limitEntry(entry, digest));

/** Content with the shortened keys of its facts. The content itself is truncated when it is stored. */
export const limitContent = (updates: readonly ContentUpdate[]): readonly ContentUpdate[] =>
  updates.map((one) => {
    const fact = limitId(one.fact, digest);
    if ("claims" in one) return { fact, claims: limitId(one.claims, digest) };
    return one.piece === undefined ? { ...one, fact } : { ...one, fact, piece: limitId(one.piece, digest) };
  });

/**
 * A reader's memo without long texts: the memo is written with every batch, and an id in it could have a megabyte. A shortened
 * text no longer equals the original, but real texts are never that long.
 */
export function limitMemo(memo: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const text = JSON.stringify(memo);
  if (text.length <= MAX_MEMO_CHARACTERS) return memo;
  return JSON.parse(text, (_, value: unknown) =>
    typeof value === "string" && value.length > MAX_MEMO_TEXT ? `${value.slice(0, 64)}...${digest(value)}` : value,
  ) as Readonly<Record<string, unknown>>;
}

// --- internal ---

const MAX_MEMO_CHARACTERS = 1 << 16;
const MAX_MEMO_TEXT = 4096;

const digest = (text: string): string => createHash("sha256").update(text, "utf16le").digest("hex").slice(0, 32);
