import { createHash } from "node:crypto";
import type { ContentUpdate } from "../model/content.ts";
import type { Event } from "../model/event.ts";
import { limitEntry, limitEvent, limitId } from "../model/limits.ts";
import type { TranscriptEntry } from "../model/transcript.ts";

// The border between what agents say and what is kept: adapters and readers on one side, the store on the other.

/** Events as they may be stored. */
export const limitEvents = (events: readonly Event[], receivedMs: number): readonly Event[] =>
  events.map((event) => limitEvent(event, receivedMs, digest));

/** An id as it may be stored. */
export const limitedId = (id: string): string => limitId(id, digest);

/** Entries as they may be stored. */
export const limitEntries = (entries: readonly TranscriptEntry[]): readonly TranscriptEntry[] =>
  entries.map((entry) => limitEntry(entry, digest));

/** Content, under the keys that the facts it belongs to have within bounds; what it holds is fitted where it is kept. */
export const limitContent = (told: readonly ContentUpdate[]): readonly ContentUpdate[] =>
  told.map((one) => {
    const fact = limitId(one.fact, digest);
    if ("claims" in one) return { fact, claims: limitId(one.claims, digest) };
    return one.piece === undefined ? { ...one, fact } : { ...one, fact, piece: limitId(one.piece, digest) };
  });

/**
 * What a reader wants to remember, without the long texts: an id of a megabyte would be written with every batch. One that
 * is shortened no longer equals what it was remembered of; nothing real is that long.
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
