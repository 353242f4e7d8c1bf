/** What is made of a text that is no UTF-8. It may throw. */
export type OnNoText = (bytes: Buffer) => string;

/** Reads what a statement selects, whatever bytes its texts are made of. */
export interface SafeSelect {
  /** To be prepared in the place of the statement: same rows, same names. */
  readonly sql: string;
  /** One row of it, its values as the statement itself would give them; bytes as `Uint8Array`. */
  readonly row: (row: Record<string, unknown>, onNoText: OnNoText) => void;
}

/**
 * libsql 0.5.29 ends the whole process, with no exception, over a text that is no UTF-8. SQLite keeps and gives such texts: one
 * bit of a file turned over makes one, and so does `json_extract` of half a pair of surrogates, which `JSON.stringify` writes
 * as `\ud83d`. So a text is asked for as bytes, behind a letter that tells it from what is bytes in the file.
 *
 * @param names of the columns that the statement gives
 * @returns `undefined` for a statement that is no SELECT
 */
export function safeSelect(sql: string, names: readonly string[]): SafeSelect | undefined {
  if (names.length === 0 || !/^\s*(?:SELECT|WITH|VALUES)\b/i.test(sql)) return undefined;
  // SQLite sorts numbers before texts, and texts before bytes: comparing is quicker than a call of typeof()
  const values = names.map(
    (name, i) =>
      `iif(c${i} >= '', CAST(iif(c${i} < x'', 't', 'b') || c${i} AS BLOB), c${i}) AS "${name.replaceAll('"', '""')}"`,
  );
  // With a LIMIT inside and one outside SQLite does not merge the two, and works a value out once for all that is said of it
  return {
    sql: `WITH asked (${names.map((_, i) => `c${i}`).join(", ")}) AS (SELECT * FROM (${sql}\n) LIMIT -1)
      SELECT ${values.join(", ")} FROM asked LIMIT -1`,
    row(row, onNoText) {
      for (const name of names) {
        const value = row[name];
        // The library gives bytes as the one or the other
        if (value instanceof ArrayBuffer) row[name] = unmarked(Buffer.from(value), onNoText);
        else if (value instanceof Uint8Array) row[name] = unmarked(value, onNoText);
      }
    },
  };
}

/** U+FFFD for what is none. */
export const replaced: OnNoText = (bytes) => bytes.toString("utf8");

/**
 * The text where all that is wrong with it are halves of pairs of surrogates, with U+FFFD for them: they come of a sound
 * `\ud83d`. `undefined` for any other that is no UTF-8.
 */
export function withoutHalves(bytes: Uint8Array): string | undefined {
  const mended = Buffer.from(Buffer.from(bytes).toString("latin1").replace(HALF, REPLACEMENT), "latin1");
  return textOf(mended);
}

// --- internal ---

const TEXT = "t".charCodeAt(0);
/** U+D800 to U+DFFF coded as any other character would be. */
const HALF = /\xed[\xa0-\xbf][\x80-\xbf]/g;
/** U+FFFD. */
const REPLACEMENT = "\xef\xbf\xbd";

function unmarked(marked: Uint8Array, onNoText: OnNoText): string | Uint8Array {
  const bytes = Buffer.from(marked.buffer, marked.byteOffset + 1, marked.byteLength - 1);
  if (marked[0] !== TEXT) return bytes;
  return textOf(bytes) ?? onNoText(bytes);
}

/** U+FFFD stands for what is no UTF-8, unless the text itself has it. */
function textOf(bytes: Buffer): string | undefined {
  const text = bytes.toString("utf8");
  return !text.includes("\ufffd") || Buffer.from(text, "utf8").equals(bytes) ? text : undefined;
}
