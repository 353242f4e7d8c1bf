/**
 * Checks a redaction pattern for constructs that RE2 and JavaScript treat differently, and for patterns that match everything.
 * Works without the RE2 engine, so that settings can be checked at every start.
 *
 * @returns the rest of a sentence that begins with the rule's name; `undefined` if the pattern is valid
 */
export function ruleProblem(pattern: string): string | undefined {
  if (pattern.length > MAX_PATTERN) return `holds more than ${MAX_PATTERN} characters`;
  const foreign = FOREIGN.find(({ sign }) => sign.test(pattern));
  if (foreign !== undefined) return `holds ${foreign.what}, which RE2 does not know`;
  const counts = [...pattern.matchAll(/\{(\d+)(?:,(\d*))?\}/g)].flatMap(([, least, most]) => [least, most]);
  const most = Math.max(0, ...counts.map((count) => Number(count ?? 0)));
  if (most > MAX_REPEAT) return `holds a repetition of more than ${MAX_REPEAT} times, which RE2 does not know`;
  try {
    const compiled = new RegExp(pattern.replace(/^\(\?[imsU]+\)/, "").replaceAll("(?P<", "(?<"), "u");
    if (compiled.test("")) return "is not to be used: it matches the empty text";
  } catch {
    return "is not a regular expression that can be read";
  }
  return undefined;
}

// --- internal ---

const MAX_PATTERN = 1000;
const MAX_REPEAT = 1000;

const FOREIGN = [
  { sign: /\(\?(?:=|!|<=|<!)/, what: "look-ahead or look-behind" },
  { sign: /\\(?:[1-9]|k<)/, what: "back references" },
  { sign: /\\[uc]|\[\^?\]/, what: "JavaScript's own escapes" },
] as const;
