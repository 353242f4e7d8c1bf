/**
 * An agent's text made safe to display. The browser does not treat it as markup; characters that hide, or change the direction of text
 * beside them, are escaped, e.g. `\u{202e}`.
 */
export const shown = (text: string): string => (PLAIN.test(text) ? text : text.replace(UNSAFE, writtenOut));

/** `shown` for texts with several lines: line breaks and tabs stay. */
export const shownLines = (text: string): string =>
  text.replace(UNSAFE, (character) => (character === "\n" || character === "\t" ? character : writtenOut(character)));

// --- internal ---

const PLAIN = /^[\x20-\x7e]*$/;
/** Joiners stay, because emoji and some scripts need them. */
const UNSAFE = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

const writtenOut = (character: string): string => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
