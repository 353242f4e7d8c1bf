import { limitEntries, limitedId } from "../capture/limit-fields.ts";
import { isPlain, limitName, limitPath } from "../model/limits.ts";
import { PATH_MEMBERS } from "../model/members.ts";
import type { TranscriptEntry } from "../model/transcript.ts";
import { redactNames } from "../privacy/records.ts";
import type { Redact } from "../privacy/redact.ts";

/** What facts become before they are stored: within bounds, and without a secret in a name. */
export interface Clean {
  readonly id: (id: string) => string;
  readonly name: (name: string) => string;
  readonly entry: (entry: TranscriptEntry) => TranscriptEntry;
}

/** @param redact names are remembered for each: the same ones come again in every session */
export function cleanWith(redact: Redact): Clean {
  let clean = known.get(redact);
  if (clean === undefined) {
    const name = remembered((text) => redact(limitName(text)));
    // Paths keep their secrets: they are how transcripts and repositories are found
    const isFine = (text: string, member: string): boolean =>
      (PATH_MEMBERS.has(member) ? limitPath(text) : name(text)) === text;
    clean = {
      id: limitedId,
      name,
      entry: (entry) => (isPlain(entry, isFine) ? entry : cleaned(entry, redact)),
    };
    known.set(redact, clean);
  }
  return clean;
}

// --- internal ---

const known = new WeakMap<Redact, Clean>();
const MAX_KNOWN = 4_096;
const MAX_KNOWN_CHARACTERS = 128;

const cleaned = (entry: TranscriptEntry, redact: Redact): TranscriptEntry =>
  limitEntries([entry]).map((one) => redactNames(one, redact))[0] ?? entry;

function remembered(clean: (text: string) => string): (text: string) => string {
  const results = new Map<string, string>();
  return (text) => {
    if (text.length > MAX_KNOWN_CHARACTERS) return clean(text);
    let result = results.get(text);
    if (result === undefined) {
      result = clean(text);
      if (results.size >= MAX_KNOWN) results.clear();
      results.set(text, result);
    }
    return result;
  };
}
