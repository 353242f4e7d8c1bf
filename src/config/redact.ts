import type { Setting } from "./setting.ts";

/** What stands in the place of a secret, wherever one would be shown. */
export const HIDDEN = "***";

/** A setting's value as it may be shown: header values and secrets inside an address are hidden, the rest is as it is. */
export function shownValue<T>(setting: Setting, value: T): T | string {
  if (setting.secret) return HIDDEN;
  if (setting.path.at(-1) === "endpoint" && typeof value === "string") return redactUrl(value);
  return value;
}

/**
 * An address without user, password and the values of its query (where some backends want their key). Works on what is
 * no address at all too: it is shown in the message that says so.
 */
export function redactUrl(text: string): string {
  // up to the last @: a password with a slash in it looks like a path
  const open = text.replace(/^([a-z][a-z0-9+.-]*:\/\/|\/\/)?.*@/is, `$1${HIDDEN}@`);
  const [address = "", ...query] = open.replace(/#.*$/s, "").split("?");
  if (query.length === 0) return address;
  const names = query.join("?").split("&");
  return `${address}?${names.map((pair) => pair.replace(/=.*$/s, `=${HIDDEN}`)).join("&")}`;
}
