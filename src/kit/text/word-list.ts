/** `a`, `a and b`, `a, b and c`. */
export const wordList = (words: readonly string[]): string => words.join(", ").replace(/, (?!.*, )/s, " and ");
