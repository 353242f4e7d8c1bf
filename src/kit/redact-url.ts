/** Shown in place of a secret. */
export const HIDDEN = "***";

/**
 * An address without user, password and the values of its query (where some backends expect their key). Also for texts that are not
 * addresses, because error messages quote them.
 */
export function redactUrl(text: string): string {
  // Up to the last @: a password with a slash looks like a path
  const open = text.replace(/^([a-z][a-z0-9+.-]*:\/\/|\/\/)?.*@/is, `$1${HIDDEN}@`);
  const [address = "", ...query] = open.replace(/#.*$/s, "").split("?");
  if (query.length === 0) return address;
  const names = query.join("?").split("&");
  return `${address}?${names.map((pair) => pair.replace(/=.*$/s, `=${HIDDEN}`)).join("&")}`;
}
