import { UserError } from "#kit/errors.ts";

/** The value of `--port`. @throws UserError if it is none */
export function portNumber(text: string): number {
  const value = digits(text);
  if (!(value <= 65_535))
    throw new UserError("E_USAGE", `--port takes a number from 0 to 65535, not ${JSON.stringify(text)}`);
  return value;
}

/** The value of `--limit`. @throws UserError if it is none */
export const wholeNumber = (text: string): number => numberFromOne("--limit takes", text);

/** The number of a turn. @throws UserError if it is none */
export const turnNumber = (text: string): number => numberFromOne("a turn is named by", text);

// --- internal ---

function numberFromOne(what: string, text: string): number {
  const value = digits(text);
  if (!(value >= 1)) throw new UserError("E_USAGE", `${what} a whole number from 1 on, not ${JSON.stringify(text)}`);
  // The store's integers end there
  return Math.min(value, Number.MAX_SAFE_INTEGER);
}

/** NaN for anything but digits: JavaScript also accepts ` 5`, `1e3` and `0x10` as numbers. */
function digits(text: string): number {
  return /^\d+$/.test(text) ? Number(text) : Number.NaN;
}
