/** A text as it reads without its escapes, with the position of each character in the original. */
export interface View {
  readonly text: string;
  /** Where each character begins in the original, with one more entry for the end. `undefined`: the same positions. */
  readonly at?: Uint32Array;
}

/**
 * A text, and its forms without JSON escapes and percent encoding, up to three times nested: a secret in a string in a string is
 * still a secret.
 *
 * @returns the text itself first; nothing else if it has no escapes
 */
export function viewsOf(text: string): readonly View[] {
  const views: View[] = [{ text }];
  let frontier: readonly View[] = views;
  for (let depth = 0; depth < MAX_DEPTH && frontier.length > 0; depth++) {
    frontier = frontier
      .flatMap((view) => [undone(view, JSON_ESCAPE, unescapeJson), undone(view, PERCENT, unescapePercent)])
      .filter((view) => view !== undefined)
      .slice(0, MAX_WIDTH);
    views.push(...frontier);
  }
  return views;
}

/** Stretches of base64 that decode to text, with that text. Shorter ones cannot contain a secret that the rules know. */
export function* base64Of(
  text: string,
): Generator<{ readonly start: number; readonly end: number; readonly text: string }> {
  for (const match of text.matchAll(BASE64)) {
    const decoded = Buffer.from(match[0], "base64").toString("latin1");
    if (PRINTABLE.test(decoded)) yield { start: match.index, end: match.index + match[0].length, text: decoded };
  }
}

// --- internal ---

const MAX_DEPTH = 3;
const MAX_WIDTH = 3;

const JSON_ESCAPE = /\\(?:u[0-9A-Fa-f]{4}|["'/\\bfnrt])/g;
const PERCENT = /(?:%[0-9A-Fa-f]{2})+/g;
const BASE64 = /[A-Za-z0-9+/_-]{20,}={0,2}/g;
/** Bytes above ASCII belong to letters in UTF-8. */
const PRINTABLE = /^[\t\n\r\x20-\x7e\x80-\xff]*$/;

const SHORT: Readonly<Record<string, string>> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };

const unescapeJson = (escaped: string): string => {
  const letter = escaped.charAt(1);
  return letter === "u" ? String.fromCharCode(Number.parseInt(escaped.slice(2), 16)) : (SHORT[letter] ?? letter);
};

/** Byte by byte, because the rules look for ASCII. */
const unescapePercent = (escaped: string): string => Buffer.from(escaped.replaceAll("%", ""), "hex").toString("latin1");

function undone(view: View, escapes: RegExp, read: (escaped: string) => string): View | undefined {
  const pieces: string[] = [];
  const steps: { readonly from: number; readonly to: number; readonly length: number }[] = [];
  let copied = 0;
  for (const { 0: escaped, index } of view.text.matchAll(escapes)) {
    const plain = read(escaped);
    pieces.push(view.text.slice(copied, index), plain);
    steps.push({ from: index, to: index + escaped.length, length: plain.length });
    copied = index + escaped.length;
  }
  if (steps.length === 0) return undefined;
  pieces.push(view.text.slice(copied));
  // The unescaped text is shorter than the original
  const at = new Uint32Array(view.text.length + 1);
  let out = 0;
  let from = 0;
  const original = (index: number): number => view.at?.[index] ?? index;
  for (const step of steps) {
    for (; from < step.from; from++) at[out++] = original(from);
    for (let i = 0; i < step.length; i++) {
      // One character per three of a percent sequence, and one per escape
      at[out++] = original(step.length === 1 ? from : from + Math.floor((i * (step.to - step.from)) / step.length));
    }
    from = step.to;
  }
  for (; from <= view.text.length; from++) at[out++] = original(from);
  return { text: pieces.join(""), at };
}
