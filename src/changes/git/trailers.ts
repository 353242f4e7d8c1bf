import { ticketsIn } from "#core/rules/change-facts.ts";

/** A line at the end of a commit's message: `Refs: SHOP-12`. */
export interface Trailer {
  readonly name: string;
  readonly value: string;
}

/**
 * The trailers of a commit's message, as git finds them: its last paragraph, but not its title, if all lines of it are trailers, or a
 * quarter of them are and one is of git itself.
 */
export function trailersOf(message: string): readonly Trailer[] {
  const [title, ...paragraphs] = message.trim().split(/\n[ \t\r]*\n/);
  const last = paragraphs.at(-1);
  if (title === undefined || last === undefined) return [];
  // A line that begins with a space continues the one before
  const lines = last.replaceAll(/\r?\n[ \t]+/g, " ").split(/\r?\n/);
  const trailers = lines.flatMap((line): readonly Trailer[] => {
    const [, name, value] = /^([A-Za-z][A-Za-z0-9-]{0,63})[ \t]*:(.*)$/.exec(line) ?? [];
    return name === undefined || value === undefined ? [] : [{ name, value: value.trim() }];
  });
  const picked = lines.filter((line) => line.startsWith(PICKED)).length;
  const others = lines.length - trailers.length - picked;
  const hasOwn = picked > 0 || lines.some((line) => line.startsWith("Signed-off-by: "));
  return others === 0 || (hasOwn && (trailers.length + picked) * 3 >= others) ? trailers : [];
}

/** Ids of tickets in trailers, each once. Names of persons contain none. */
export const ticketsInTrailers = (trailers: readonly Trailer[], pattern: string): readonly string[] => [
  ...new Set(trailers.flatMap(({ name, value }) => (/-by$/i.test(name) ? [] : ticketsIn(value, pattern)))),
];

// --- internal ---

const PICKED = "(cherry picked from commit ";
