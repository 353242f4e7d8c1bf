import { limitEntries } from "../capture/limit-fields.ts";
import { isPlain, limitName, limitPath } from "../model/limits.ts";
import { PATH_MEMBERS } from "../model/members.ts";
import type { TranscriptEntry } from "../model/transcript.ts";
import { redactNames } from "../privacy/records.ts";
import type { Redact } from "../privacy/redact.ts";

/**
 * What every entry passes on its way into the store: bounds, and no secret in a name. Names come again and again; what was
 * looked at once is not looked at again.
 */
export function entryCleaner(redact: Redact): (entries: readonly TranscriptEntry[]) => readonly TranscriptEntry[] {
  const fine = new Set<string>();
  const isFine = (text: string, member: string): boolean => {
    // No secret is looked for in a path
    if (PATH_MEMBERS.has(member)) return limitPath(text) === text;
    if (text.length > MAX_KNOWN_CHARACTERS) return false;
    if (fine.has(text)) return true;
    if (limitName(text) !== text || redact(text) !== text) return false;
    if (fine.size >= MAX_KNOWN) fine.clear();
    fine.add(text);
    return true;
  };
  const guarded = (entry: TranscriptEntry): readonly TranscriptEntry[] =>
    isPlain(entry, isFine) ? [entry] : limitEntries([entry]).map((one) => redactNames(one, redact));
  return (entries) => (entries.every((entry) => isPlain(entry, isFine)) ? entries : entries.flatMap(guarded));
}

// --- internal ---

const MAX_KNOWN = 4_096;
const MAX_KNOWN_CHARACTERS = 128;
