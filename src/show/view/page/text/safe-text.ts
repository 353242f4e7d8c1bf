/**
 * Escapes invisible characters and those that change the direction of text, e.g. as `\u{202e}`. Markup needs no escaping, because the page
 * shows agents' text as text only.
 */
export const safeText = (text: string): string => (PLAIN.test(text) ? text : text.replace(UNSAFE, escapeOf));

/** `safeText` for texts with several lines: line breaks and tabs stay. */
export const safeLines = (text: string): string =>
  text.replace(UNSAFE, (character) => (character === "\n" || character === "\t" ? character : escapeOf(character)));

// --- internal ---

const PLAIN = /^[\x20-\x7e]*$/;
/** Without joiners, because emoji and some scripts need them. */
const UNSAFE = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

const escapeOf = (character: string): string => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
