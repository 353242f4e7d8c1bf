/** A text without its escapes, with the position of each character in the original. */
interface View {
  readonly text: string;
  /** Where each character begins in the original, with one more entry for the end. `undefined`: the same positions. */
  readonly at?: Uint32Array;
}

/**
 * A text, and its forms without the escapes of JSON, shells and C, without percent encoding, HTML entities, and invisible
 * characters (terminal colours, zero-width characters, the zeros of UTF-16). Each form undoes all of these once more, up to three
 * times: a secret in a string in a string is still a secret.
 *
 * @returns the text itself first; nothing else if it has no escapes
 */
export function viewsOf(text: string): readonly View[] {
  const views: View[] = [{ text }];
  for (let view: View | undefined = { text }; views.length <= MAX_DEPTH; views.push(view)) {
    view = unescaped(view);
    if (view === undefined) break;
  }
  return views;
}

/** So many are joined at once: collecting garbage takes most of the time if all pieces of a long text are kept in one list. */
const MAX_PIECES = 4096;

/** A text that is made of many small pieces. */
export class Pieces {
  #joined = "";
  #pieces: string[] = [];

  add(piece: string): void {
    if (this.#pieces.push(piece) < MAX_PIECES) return;
    this.#joined = this.text();
    this.#pieces = [];
  }

  text(): string {
    return this.#joined + this.#pieces.join("");
  }
}

// --- internal ---

const MAX_DEPTH = 3;

const ENTITIES: Readonly<Record<string, string>> = { quot: '"', amp: "&", apos: "'", lt: "<", gt: ">" };

/** The last alternative of the escapes is a line continuation. */
const ESCAPES = new RegExp(
  [
    "\\\\(?:u[0-9A-Fa-f]{4}|u\\{[0-9A-Fa-f]{1,6}\\}|x[0-9A-Fa-f]{2}|[0-7]{3}|[\"'/\\\\bfnrt]|\r?\n)",
    "(?:%[0-9A-Fa-f]{2})+",
    `&(?:#[0-9]{2,6}|#x[0-9A-Fa-f]{2,5}|${Object.keys(ENTITIES).join("|")});`,
    "\u001b\\[[0-9;:?]{0,40}[A-Za-z]",
    "\u001b\\][^\u0007\u001b]{0,300}(?:\u0007|\u001b\\\\)",
    "[\u0000\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]",
  ].join("|"),
  "g",
);

const READERS: Readonly<Record<string, (escaped: string) => string>> = {
  "\\": unescapeBackslash,
  "%": unescapePercent,
  "&": unescapeEntity,
};

const CONTROL_CHARACTERS: Readonly<Record<string, string>> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };

function unescapeBackslash(escaped: string): string {
  const letter = escaped.charAt(1);
  if (letter === "u" || letter === "x") return character(escaped.replace(/^\\[ux]\{?|\}$/g, ""), 16);
  if (letter >= "0" && letter <= "7") return character(escaped.slice(1), 8);
  return letter === "\n" || letter === "\r" ? "" : (CONTROL_CHARACTERS[letter] ?? letter);
}

/** No secret contains characters above U+FFFF, so one UTF-16 unit is enough and keeps the positions simple. */
const character = (digits: string, radix: number): string => String.fromCharCode(Number.parseInt(digits, radix));

function unescapeEntity(entity: string): string {
  const name = entity.slice(1, -1);
  if (!name.startsWith("#")) return ENTITIES[name] ?? entity;
  return name.startsWith("#x") ? character(name.slice(2), 16) : character(name.slice(1), 10);
}

/** One character per byte (not decoded as UTF-8), because the rules look for ASCII. */
function unescapePercent(escaped: string): string {
  return Buffer.from(escaped.replaceAll("%", ""), "hex").toString("latin1");
}

function unescaped({ text, at: before }: View): View | undefined {
  const pieces = new Pieces();
  // The unescaped text is not longer
  let at: Uint32Array | undefined;
  let [out, copied] = [0, 0];
  const original = (index: number): number => before?.[index] ?? index;
  const copyUpTo = (end: number, positions: Uint32Array): void => {
    pieces.add(text.slice(copied, end));
    for (; copied < end; copied++) positions[out++] = original(copied);
  };
  for (const { 0: escaped, index } of text.matchAll(ESCAPES)) {
    at ??= new Uint32Array(text.length + 1);
    copyUpTo(index, at);
    const plain = READERS[escaped.charAt(0)]?.(escaped) ?? "";
    pieces.add(plain);
    // One character per three of a percent sequence, and one per escape
    const each = escaped.length / Math.max(1, plain.length);
    for (let i = 0; i < plain.length; i++) at[out++] = original(index + Math.floor(i * each));
    copied = index + escaped.length;
  }
  if (at === undefined) return undefined;
  copyUpTo(text.length, at);
  at[out] = original(text.length);
  return { text: pieces.text(), at };
}
