import * as z from "zod";
import { parseOptions } from "#kit/parse-options.ts";
import { type Checked, checkedSettings } from "./checked.ts";
import { Config } from "./schema.ts";
import type { Setting } from "./setting.ts";

/** @throws if a value does not fit, which `invalidReason` reports first */
export function parseConfig(value: unknown): Config {
  return Config.parse(value, parseOptions());
}

/**
 * @param value for a map: one entry's value
 * @returns why the value is refused, as the end of a sentence that begins with the key; `undefined` if it is accepted. Never
 *   quotes the value, which may be a secret.
 */
export function invalidReason(setting: Setting, value: unknown): string | undefined {
  const result = z.safeParse(checkedOf(setting).schema, value);
  if (result.success) return undefined;
  const own = result.error.issues.find(({ message }) => OWN_MESSAGE.test(message));
  return own?.message ?? `must be ${setting.allowed}`;
}

/** `invalidReason` for the name of a map's entry. */
export function invalidNameReason(setting: Setting, name: string): string | undefined {
  const { entryName } = checkedOf(setting);
  if (entryName === undefined || z.safeParse(entryName, name).success) return undefined;
  if (setting.secret) return "has an entry whose name HTTP does not allow for a header";
  return name === ""
    ? "has an entry without a name"
    : "has an entry whose name is not lower-case letters, digits and dashes";
}

// --- internal ---

/** Messages from schema.ts, as opposed to zod's. */
const OWN_MESSAGE = /^(must|holds|is not) /;

const CHECKED = new Map(checkedSettings().map((one) => [one.key, one]));

function checkedOf({ key }: Setting): Checked {
  const found = CHECKED.get(key);
  if (found === undefined) throw new Error(`there is no setting ${key}`);
  return found;
}
