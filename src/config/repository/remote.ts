import { MAX_NAME_CHARACTERS } from "#core/rules/limits.ts";

/**
 * A remote's address without user, password, query or fragment.
 *
 * @returns `undefined` for addresses that are local paths, are too long, or may contain a user or password where we cannot
 *   remove it
 * @throws never
 */
export function withoutCredentials(url: string): string | undefined {
  if (url.length > MAX_URL_CHARACTERS) return undefined;
  return url.includes("://") ? cleanUrl(url) : cleanScpAddress(url);
}

/**
 * The last part of an address or path, without `.git`.
 *
 * @returns `undefined` if there is none, or if it may contain a user or password
 * @throws never
 */
export function nameOf(url: string | undefined): string | undefined {
  const end = url?.slice(-MAX_URL_CHARACTERS).replace(/[?#].*$/s, "");
  const last = end
    ?.split(/[/:\\]/)
    .findLast((part) => part !== "")
    ?.replace(/\.git$/, "");
  return last === undefined || last === "" || last.includes("@") || last.length > MAX_NAME_CHARACTERS
    ? undefined
    : last;
}

// --- internal ---

const MAX_URL_CHARACTERS = 2_048;

function cleanUrl(url: string): string | undefined {
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch {
    return undefined;
  }
  if (!/^(https?|ssh|git):$/.test(parsed.protocol) || hasUser(parsed.pathname)) return undefined;
  return `${parsed.protocol}//${parsed.host}${parsed.pathname}`;
}

/** `[user@]host:path`, and `user:password@host/path` without a scheme. */
function cleanScpAddress(url: string): string | undefined {
  const [authority = ""] = url.split("/", 1);
  const rest = url.slice(authority.lastIndexOf("@") + 1);
  // `name::address` runs the git remote helper of that name; with two colons we cannot know where a password ends
  const [, host, path] = /^([A-Za-z0-9.-]+):(?!\/\/|:)([^:].*)$/s.exec(rest) ?? [];
  if (host !== undefined && path !== undefined) {
    const isUsual = host.length > 1 && !path.split("/", 1)[0]?.includes(":") && !hasUser(path);
    return isUsual ? `ssh://${host}/${path.replace(/^\/{1,9}/, "")}` : undefined;
  }
  const hasPassword = /^[^@]*:[^@]*@/.test(authority);
  return hasPassword && /^[A-Za-z0-9.-]+\/./.test(rest) && !hasUser(rest) ? `ssh://${rest}` : undefined;
}

/**
 * Whether a path may contain credentials: a password with a slash looks like a part of the path. A scope (`/@acme/shop`) is
 * allowed.
 */
const hasUser = (path: string): boolean => /[^/]@/.test(path) || /%40/.test(path);
