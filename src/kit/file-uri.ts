/**
 * Directories as `file:` URIs (RFC 8089) and back. Pure: which system a path belongs to is seen from its form, because sessions
 * can come from another machine.
 */

/**
 * The URI of an absolute path: POSIX, with a Windows drive letter, or UNC.
 *
 * @returns `undefined` for a relative path, and for one that UTF-8 cannot express
 * @example fileUriOf("C:\\a b") // file:///C:/a%20b
 */
export function fileUriOf(path: string): string | undefined {
  const windows = path.replace(EXTENDED, (_, unc: string | undefined) => (unc === undefined ? "" : "\\\\"));
  const drive = DRIVE.exec(windows);
  const share = drive === null ? SHARE.exec(windows) : null;
  try {
    if (drive !== null) return `file:///${drive[1]}:${encoded(windows.slice(2).replaceAll("\\", "/"))}`;
    if (share !== null) return `file://${share[1]}${encoded((share[2] ?? "").replaceAll("\\", "/"))}`;
    return path.startsWith("/") ? `file://${encoded(path)}` : undefined;
  } catch {
    // A half of a surrogate pair
    return undefined;
  }
}

/**
 * The path in a `file:` URI: POSIX, with a Windows drive letter, or UNC for another host than this one. Query and fragment are no
 * part of the path.
 *
 * @returns `undefined` for other URIs, and where the path cannot be known: no absolute path, a broken escape, an escaped separator
 * @example pathOfFileUri("file://localhost/home/dev/a%20b") // /home/dev/a b
 */
export function pathOfFileUri(uri: string): string | undefined {
  const match = URI.exec(uri);
  if (match === null) return undefined;
  const [, host = "", rest = ""] = match;
  const isDriveAsHost = /^[a-z][:|]$/i.test(host);
  const path = decoded(isDriveAsHost ? `/${host}${rest}` : rest);
  if (path === undefined) return undefined;
  const drive = /^\/([a-z])[:|](?=\/|$)/i.exec(path);
  if (drive !== null) return path.includes("\\") ? undefined : `${drive[1]}:\\${path.slice(4).replaceAll("/", "\\")}`;
  if (isDriveAsHost || host === "" || host.toLowerCase() === "localhost") {
    return path.startsWith("/") ? path : undefined;
  }
  const server = host.replaceAll(/%24/g, "$");
  return /^[\w.$-]+$/.test(server) && path.length > 1 && !path.includes("\\")
    ? `\\\\${server}${path.replaceAll("/", "\\")}`
    : undefined;
}

/** Whether a text begins like an absolute path of any system. */
export const isAbsolutePath = (text: string): boolean => text.startsWith("/") || DRIVE.test(text) || SHARE.test(text);

// --- internal ---

/** `\\?\C:\…` and `\\?\UNC\server\share`, which Windows writes for long paths. */
const EXTENDED = /^\\\\\?\\(?:(UNC)\\|(?=[A-Za-z]:))/;
const DRIVE = /^([A-Za-z]):(?:[\\/]|$)/;
/** `$`: `\\wsl$\Ubuntu\home\dev`. */
const SHARE = /^\\\\([\w.$-]+)(\\[\s\S]+)$/;
const URI = /^file:(?:\/\/([^/?#]*))?([^?#]*)/i;

/** Every segment percent-encoded; a drive's colon is not part of it. */
const encoded = (path: string): string =>
  path
    .split("/")
    .map((segment) => encodeURIComponent(segment).replace(/[!'()*]/g, escaped))
    .join("/");

const escaped = (character: string): string => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;

/** `undefined`: not decodable, or not one path: an escaped slash or NUL. */
function decoded(path: string): string | undefined {
  if (/%(?:2f|00)/i.test(path)) return undefined;
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}
