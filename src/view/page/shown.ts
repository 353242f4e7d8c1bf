/**
 * Text from an agent as it may be shown. The browser takes none of it for markup; what would hide, or turn the direction of
 * what stands beside it, is written out, e.g. `\u{202e}`.
 */
export const shown = (text: string): string => (PLAIN.test(text) ? text : text.replace(UNSAFE, writtenOut));

/** The same for a text that has several lines: line breaks and tabs stay. */
export const shownLines = (text: string): string =>
  text.replace(UNSAFE, (character) => (character === "\n" || character === "\t" ? character : writtenOut(character)));

// --- internal ---

const PLAIN = /^[\x20-\x7e]*$/;
/** Joiners stay, since emoji and some scripts are made with them. */
const UNSAFE = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

const writtenOut = (character: string): string => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
