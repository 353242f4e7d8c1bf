import type { FileWrite } from "#core/model/file-write.ts";
import type { TranscriptEntry } from "#core/model/transcript.ts";
import { redactNames } from "#core/privacy/records.ts";
import type { Redact } from "#core/privacy/redact.ts";
import { isPlain, limitName, limitPath } from "#core/rules/limits.ts";
import { PATH_MEMBERS } from "#kit/objects.ts";
import { limitEntries, limitedId } from "#store/capture/limit-fields.ts";
import { storedWrites, withStoredWrites } from "#store/capture/protect.ts";

/** Makes facts fit to be stored: within limits, and without secrets in names. */
export interface Clean {
  readonly id: (id: string) => string;
  readonly name: (name: string) => string;
  readonly entry: (entry: TranscriptEntry) => TranscriptEntry;
  /** @param folder of the session */
  readonly files: (files: readonly FileWrite[], folder: string | undefined) => readonly FileWrite[] | undefined;
}

/**
 * Results for names are cached per pair of functions: most names recur in every session.
 *
 * @param redact for names
 * @param redactSecrets for paths of written files, which stay on this machine
 */
export function cleanWith(redact: Redact, redactSecrets: Redact): Clean {
  const before = known.get(redact);
  let clean = before?.redactSecrets === redactSecrets ? before.clean : undefined;
  if (clean === undefined) {
    const name = cached((text) => redact(limitName(text)));
    const path = cached(redactSecrets);
    // These paths are not redacted: transcripts and repositories are found by them
    const isAllowedText = (text: string, member: string): boolean =>
      (PATH_MEMBERS.has(member) ? limitPath(text) : name(text)) === text;
    clean = {
      id: limitedId,
      name,
      entry: (entry) =>
        isPlain(entry, isAllowedText) ? entry : withStoredWrites(cleaned(entry, redact), undefined, redactSecrets),
      files: (files, folder) => storedWrites(files, folder, path),
    };
    known.set(redact, { redactSecrets, clean });
  }
  return clean;
}

// --- internal ---

const known = new WeakMap<Redact, { readonly redactSecrets: Redact; readonly clean: Clean }>();
const MAX_KNOWN = 4_096;
const MAX_KNOWN_CHARACTERS = 128;

const cleaned = (entry: TranscriptEntry, redact: Redact): TranscriptEntry =>
  limitEntries([entry]).map((one) => redactNames(one, redact))[0] ?? entry;

function cached(clean: (text: string) => string): (text: string) => string {
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
