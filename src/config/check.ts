import { type FormatName, formatOf } from "./formats.ts";
import { FORWARD_PROTOCOLS, type Setting } from "./setting.ts";

/**
 * @param value for a map: one entry's value
 * @returns why the value is refused, as the end of a sentence that begins with the key; `undefined` if it is accepted. Never
 *   quotes the value, which may be a secret.
 */
export function invalidReason(setting: Setting, value: unknown): string | undefined {
  const refused = `must be ${setting.allowed}`;
  const { least = Number.NEGATIVE_INFINITY, most = Number.POSITIVE_INFINITY } = setting;
  switch (setting.kind) {
    case "boolean":
      return typeof value === "boolean" ? undefined : refused;
    case "choice":
      return typeof value === "string" && setting.choices.includes(value) ? undefined : refused;
    case "text":
    case "map":
    case "number":
      if (isNumeric(setting)) {
        return Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most ? undefined : refused;
      }
      if (setting.isForward === true) return isForward(value) ? undefined : refused;
      if (typeof value !== "string" || value.length < least) return refused;
      return setting.format === undefined ? undefined : formatOf(setting.format)(value);
  }
}

/** Whether its value, or the values of a map, are numbers. */
export const isNumeric = ({ most }: Setting): boolean => most !== undefined;

/** `invalidReason` for the name of a map's entry. */
export function invalidNameReason({ entryFormat }: Setting, name: string): string | undefined {
  if (name === "") return "has an entry without a name";
  return entryFormat === undefined ? undefined : formatOf(entryFormat)(name);
}

// --- internal ---

function isForward(value: unknown): boolean {
  if (!isPlainObject(value)) return false;
  const { endpoint, headers = {}, protocol = "http/json", ...others } = value;
  return (
    fits("endpoint", endpoint) &&
    isPlainObject(headers) &&
    Object.entries(headers).every(([name, text]) => fits("headerName", name) && fits("headerValue", text)) &&
    FORWARD_PROTOCOLS.some((one) => one === protocol) &&
    Object.keys(others).length === 0
  );
}

const fits = (format: FormatName, text: unknown): boolean =>
  typeof text === "string" && formatOf(format)(text) === undefined;

const isPlainObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
