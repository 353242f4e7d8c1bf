import type { OtlpSignalSettings } from "#core/model/settings.ts";

/**
 * Removes every configured secret from a text that comes from outside (a backend may repeat the credentials that it refuses):
 * header values, each word of a header value, the URL's user, password and query values.
 */
export function withoutSecrets(text: string, settings: OtlpSignalSettings): string {
  return secretsOf(settings).reduce((clean, secret) => clean.replace(occurrences(secret), "***"), text);
}

// --- internal ---

/** A shorter secret ("1", a tenant's number) is removed only where it is a separate word, so that other texts stay readable. */
const SHORT_SECRET_LENGTH = 6;

const SCHEMES: ReadonlySet<string> = new Set(["basic", "bearer", "token", "apikey", "api-key", "digest"]);

/** Longest first, so that no part of a longer secret is left. */
function secretsOf(settings: OtlpSignalSettings): string[] {
  const values = Object.values(settings.headers);
  const found = new Set(values.flatMap((value) => [value, ...value.split(/\s+/)]));
  for (const value of values) {
    const basic = /^basic\s+(\S+)$/i.exec(value)?.[1];
    if (basic === undefined) continue;
    const userAndPassword = Buffer.from(basic, "base64").toString();
    for (const part of [userAndPassword, ...userAndPassword.split(":")]) found.add(part);
  }
  if (URL.canParse(settings.url)) {
    const url = new URL(settings.url);
    const user = percentDecoded(url.username);
    const password = percentDecoded(url.password);
    for (const part of [url.username, url.password, user, password, ...url.searchParams.values()]) found.add(part);
    if (user !== "" || password !== "") found.add(Buffer.from(`${user}:${password}`).toString("base64"));
  }
  return [...found]
    .filter((secret) => secret !== "" && !SCHEMES.has(secret.toLowerCase()))
    .sort((a, b) => b.length - a.length);
}

function occurrences(secret: string): RegExp {
  const literal = secret.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
  return secret.length < SHORT_SECRET_LENGTH
    ? new RegExp(`(?<![\\p{L}\\p{N}])${literal}(?![\\p{L}\\p{N}])`, "gu")
    : new RegExp(literal, "gu");
}

function percentDecoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
