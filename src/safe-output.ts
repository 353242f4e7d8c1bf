/** A stream that commands write to. */
export interface Output {
  write(text: string): unknown;
  /** Replaces the line that the cursor is in; on terminals only. */
  rewrite?(text: string): unknown;
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
}

/**
 * Escapes control characters in everything that a command writes (`\u001b`); JSON stays equivalent. Colours pass if the
 * stream is a terminal.
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

/** Escapes control characters except line breaks (`\n` and `\r\n`), and except colours if they are wanted. */
export function safeText(text: string, hasColours = false): string {
  if (!UNSAFE.test(text)) return text;
  return text.replace(ALL_UNSAFE, (found) =>
    found === "\r\n" || (hasColours && found.length > 1) ? found : `${escaped(found[0] ?? "")}${found.slice(1)}`,
  );
}

// --- internal ---

/** Everything that terminals interpret except a line feed: C0 and C1 controls, and characters that change text direction. */
const CONTROL = "[\\u0000-\\u0009\\u000b-\\u001f\\u007f-\\u009f\\u2028\\u2029\\u202a-\\u202e\\u2066-\\u2069]";
const UNSAFE = new RegExp(CONTROL);
/** Colours and whole line breaks first: they begin with a control character. */
const ALL_UNSAFE = new RegExp(`\\r\\n|\\u001b\\[[0-9;]{0,20}m|${CONTROL}`, "g");

const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
