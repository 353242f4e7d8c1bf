/** What a stream must do for us to write to it. */
export interface Output {
  write(text: string): unknown;
  /** Puts a text in the place of the line that the cursor is in; on terminals alone. */
  rewrite?(text: string): unknown;
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
}

/**
 * The last guard before a terminal: whatever a command writes, a control character in it is written out (`\u001b`), which
 * is the same text in JSON. Colours pass where there is a terminal to show them; commands ask for them nowhere else.
 */
export const safeOutput = (stream: Output): Output => ({
  write: (text) => stream.write(safeText(text, stream.isTTY === true)),
  rewrite: (text) => stream.write(`\r\x1b[K${safeText(text, true).replaceAll(/\r?\n/g, " ")}`),
  get isTTY() {
    return stream.isTTY;
  },
  get columns() {
    return stream.columns;
  },
});

/** A text without control characters but line breaks (`\n` and `\r\n`), and colours where they are wanted. */
export function safeText(text: string, hasColours = false): string {
  if (!UNSAFE.test(text)) return text;
  return text.replace(ALL_UNSAFE, (found) =>
    found === "\r\n" || (hasColours && found.length > 1) ? found : `${writtenOut(found[0] ?? "")}${found.slice(1)}`,
  );
}

// --- internal ---

/** What terminals act upon, beside a line break: controls of both kinds, and what turns the direction of the text. */
const CONTROL = "[\\u0000-\\u0009\\u000b-\\u001f\\u007f-\\u009f\\u2028\\u2029\\u202a-\\u202e\\u2066-\\u2069]";
const UNSAFE = new RegExp(CONTROL);
/** Colours and whole line breaks first: they begin with a control character. */
const ALL_UNSAFE = new RegExp(`\\r\\n|\\u001b\\[[0-9;]{0,20}m|${CONTROL}`, "g");

const writtenOut = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
