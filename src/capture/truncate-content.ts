/** What is done to a piece of content before it is kept. */
export interface Limits {
  /** Of the text, in UTF-8. */
  readonly maxBytes: number;
  /** Takes secrets out of a text. Pure. */
  readonly redact?: (text: string) => string;
}

/**
 * A piece of content → the text that is kept of it: without secrets, cut where it is too long. What was cut says how long it
 * was. JSON stays JSON: its long texts are cut, and where that is not enough it becomes one text.
 *
 * @returns `undefined` for what is empty, and for what cannot be written down
 */
export function truncateContent(
  value: unknown,
  limits: Limits,
): { readonly text: string; readonly isJson: boolean } | undefined {
  if (value === undefined || value === null || value === "") return undefined;
  if (typeof value === "string") return { text: cut(redacted(value, limits), limits.maxBytes), isJson: false };
  try {
    const json = JSON.stringify(value);
    if (json === undefined || json === "{}" || json === "[]") return undefined;
    return { text: cutJson(redactedJson(json, limits), limits.maxBytes), isJson: true };
  } catch {
    // Nested deeper than a stack is
    return undefined;
  }
}

// --- internal ---

const redacted = (text: string, { redact }: Limits): string => redact?.(text) ?? text;

/** Every text in it by itself, then all of it as it reads: some secrets are known by their name alone. */
function redactedJson(json: string, limits: Limits): string {
  if (limits.redact === undefined) return json;
  const parts = JSON.stringify(mapTexts(JSON.parse(json), (text) => redacted(text, limits)));
  const whole = redacted(parts, limits);
  return whole === parts || isJson(whole) ? whole : JSON.stringify(whole);
}

/** Texts shorter than this are not what makes it long. */
const MIN_TEXT_BYTES = 32;

function cutJson(json: string, maxBytes: number): string {
  if (Buffer.byteLength(json) <= maxBytes) return json;
  const value: unknown = JSON.parse(json);
  for (let textBytes = maxBytes >> 1; textBytes >= MIN_TEXT_BYTES; textBytes >>= 1) {
    const shorter = JSON.stringify(mapTexts(value, (text) => cut(text, textBytes)));
    if (Buffer.byteLength(shorter) <= maxBytes) return shorter;
  }
  // JSON in JSON: no character of it takes more than twice its bytes
  return JSON.stringify(cut(json, (maxBytes >> 1) - 1));
}

/** The beginning of a text, on the border of a character, and how long all of it was. */
function cut(text: string, maxBytes: number): string {
  // No character takes less than a byte, nor more than three for each unit
  if (text.length * 3 <= maxBytes) return text;
  const bytes = Buffer.byteLength(text);
  if (bytes <= maxBytes) return text;
  const mark = `… [cut: ${bytes} bytes]`;
  const room = Math.max(0, maxBytes - Buffer.byteLength(mark));
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(room));
  return text.slice(0, read) + mark;
}

/** Names of members too: a secret can be one. */
function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === "string") return change(value);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [change(name), mapTexts(item, change)]));
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
