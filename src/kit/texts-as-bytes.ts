/** Converts a text that is not valid UTF-8. May throw. */
export type OnInvalidText = (bytes: Buffer) => string;

/** Reads the result of a SELECT whose texts may contain any bytes. */
export interface SafeSelect {
  /** To be prepared instead of the original statement: same rows, same names. */
  readonly sql: string;
  /** Converts one row in place to the values of the original statement; bytes become `Uint8Array`. */
  readonly row: (row: Record<string, unknown>, onNoText: OnInvalidText) => void;
}

/**
 * libsql 0.5.29 aborts the process, without an exception, on a text that is not valid UTF-8. SQLite stores and returns such texts:
 * one flipped bit in a file creates one, and so does `json_extract` of half a surrogate pair, which `JSON.stringify` writes as
 * `\ud83d`. Texts are therefore selected as bytes, with a marker byte in front that distinguishes them from blobs.
 *
 * @param names of the statement's columns
 * @returns `undefined` for a statement that is no SELECT
 */
export function safeSelect(sql: string, names: readonly string[]): SafeSelect | undefined {
  if (names.length === 0 || !/^\s*(?:SELECT|WITH|VALUES)\b/i.test(sql)) return undefined;
  // SQLite orders numbers before texts and texts before blobs: comparing is faster than typeof()
  const values = names.map(
    (name, i) =>
      `iif(c${i} >= '', CAST(iif(c${i} < x'', 't', 'b') || c${i} AS BLOB), c${i}) AS "${name.replaceAll('"', '""')}"`,
  );
  // A LIMIT inside and outside keeps SQLite from merging the two queries, so that each value is computed once
  return {
    sql: `WITH asked (${names.map((_, i) => `c${i}`).join(", ")}) AS (SELECT * FROM (${sql}\n) LIMIT -1)
      SELECT ${values.join(", ")} FROM asked LIMIT -1`,
    row(row, onNoText) {
      for (const name of names) {
        const value = row[name];
        // The library returns blobs as either type
        if (value instanceof ArrayBuffer) row[name] = unmarked(Buffer.from(value), onNoText);
        else if (value instanceof Uint8Array) row[name] = unmarked(value, onNoText);
      }
    },
  };
}

/** Replaces invalid bytes by U+FFFD. */
export const replaced: OnInvalidText = (bytes) => bytes.toString("utf8");

/**
 * The text if its only invalid parts are halves of surrogate pairs, which become U+FFFD: they come from a valid `\ud83d`.
 * `undefined` for any other invalid UTF-8.
 */
export function withoutHalves(bytes: Uint8Array): string | undefined {
  const repaired = Buffer.from(Buffer.from(bytes).toString("latin1").replace(HALF, REPLACEMENT), "latin1");
  return textOf(repaired);
}

// --- internal ---

const TEXT = "t".charCodeAt(0);
/** U+D800 to U+DFFF, encoded like other characters. */
const HALF = /\xed[\xa0-\xbf][\x80-\xbf]/g;
/** U+FFFD. */
const REPLACEMENT = "\xef\xbf\xbd";

function unmarked(marked: Uint8Array, onNoText: OnInvalidText): string | Uint8Array {
  const bytes = Buffer.from(marked.buffer, marked.byteOffset + 1, marked.byteLength - 1);
  if (marked[0] !== TEXT) return bytes;
  return textOf(bytes) ?? onNoText(bytes);
}

/** U+FFFD appears only for invalid UTF-8, unless the text itself contains it. */
function textOf(bytes: Buffer): string | undefined {
  const text = bytes.toString("utf8");
  return !text.includes("\ufffd") || Buffer.from(text, "utf8").equals(bytes) ? text : undefined;
}
