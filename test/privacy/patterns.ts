// Patterns of rules and of formats of secrets, and texts that they match.

/** A part of a pattern: alternatives of sequences, or a class or character; repeated `min` to `max` times. */
export interface Part {
  readonly text: string;
  readonly alternatives?: readonly (readonly Part[])[];
  readonly min: number;
  readonly max: number;
}

/** The parts of a pattern in the syntax that rules may have, see `rule.ts`. */
export function parsed(pattern: string): readonly (readonly Part[])[] {
  let at = 0;
  const take = (form: RegExp): RegExpExecArray | null => {
    form.lastIndex = at;
    const found = form.exec(pattern);
    at += found?.[0].length ?? 0;
    return found;
  };
  const read = (): readonly (readonly Part[])[] => {
    const alternatives: Part[][] = [[]];
    while (at < pattern.length && pattern[at] !== ")") {
      if (take(/\|/y) !== null) {
        alternatives.push([]);
        continue;
      }
      const start = at;
      let inner: Part["alternatives"];
      if (take(/\((?:\?:)?/y) !== null) {
        inner = read();
        take(/\)/y);
      } else take(/\[(?:\\[\s\S]|[^\]])*\]|\\[\s\S]|[\s\S]/y);
      const text = pattern.slice(start, at);
      const [sign, least, comma, most] = take(/[*+?]|\{(\d+)(,?)(\d*)\}/y) ?? [];
      const min = least === undefined ? Number(sign === undefined || sign === "+") : Number(least);
      const max =
        sign === undefined || sign === "?" || (least !== undefined && comma === "")
          ? Math.max(1, min)
          : Number(most === undefined || most === "" ? Number.POSITIVE_INFINITY : most);
      alternatives.at(-1)?.push({ text, ...(inner !== undefined && { alternatives: inner }), min, max });
    }
    return alternatives;
  };
  return read();
}

const CHARACTERS = [
  ..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 \t\n\"'`,;:|&<>\\=~/.-+_()[]{}@!#%^*?",
];

/** The characters that each class has. */
const known = new Map<string, readonly string[]>();

/**
 * Texts that a pattern matches, always the same.
 *
 * @param more how many times more than it must be a part is repeated at most, for each text
 */
export function samplesOf(pattern: string, more: readonly number[] = [0, 1, 20, 300], seed = 7): readonly string[] {
  const tree = parsed(pattern);
  let state = seed;
  const below = (limit: number): number => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * limit);
  };
  const one = (text: string): string => {
    if (text === "^" || text === "$") return "";
    if (text.length === 1) return text;
    let fitting = known.get(text);
    if (fitting === undefined) {
      const form = new RegExp(`^${text}$`, "u");
      fitting = CHARACTERS.filter((character) => form.test(character));
      known.set(text, fitting);
    }
    return fitting[below(fitting.length)] ?? /^\\?([\s\S])$/.exec(text)?.[1] ?? "é";
  };
  const sample = (alternatives: readonly (readonly Part[])[], most: number): string =>
    (alternatives[below(alternatives.length)] ?? [])
      .map((part) => {
        const times = Math.min(part.max, part.min + below(most + 1));
        const next = (): string => (part.alternatives === undefined ? one(part.text) : sample(part.alternatives, most));
        return Array.from({ length: times }, next).join("");
      })
      .join("");
  return more.map((most) => sample(tree, most));
}
