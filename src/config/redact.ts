import { HIDDEN, redactUrl } from "#kit/redact-url.ts";
import type { Setting } from "./setting.ts";

export { HIDDEN, redactUrl };

/** A setting's value for display: header values and secrets inside an address are hidden. */
export function shownValue<T>(setting: Setting, value: T): T | string {
  if (setting.secret) return HIDDEN;
  if (isAddress(setting) && typeof value === "string") return redactUrl(value);
  return value;
}

/** Whether a setting's value is a URL, which can hold credentials. */
export const isAddress = ({ path }: Setting): boolean => ["endpoint", "proxy"].includes(path.at(-1) ?? "");
