import { createHmac } from "node:crypto";

/** Who works on this machine, as far as it tells. */
export interface Person {
  /** Of the user's own git settings. */
  readonly email?: string;
  /** Of the operating system. */
  readonly name?: string;
}

/**
 * What is sent about the user: nothing, a pseudonym, or the address (else the name).
 *
 * A pseudonym is an HMAC with a secret key: addresses are few enough to try them all, so a plain hash of one can be undone
 * by anybody, and this only by who has the key. With one key for a team the same person has the same on every machine.
 *
 * @param key of the team (`identity.salt`), else random and of this machine alone
 * @see OpenTelemetry's registry, `user.*`
 */
export function userAttributes(
  mode: "none" | "hash" | "plain",
  person: Person,
  key: string,
): Readonly<Record<string, string>> {
  const email = person.email?.trim().toLowerCase();
  const who = email ?? person.name?.trim();
  if (mode === "none" || who === undefined || who === "") return {};
  if (mode === "hash") return { "user.hash": createHmac("sha256", key).update(who).digest("hex").slice(0, 32) };
  return email === undefined ? { "user.name": who } : { "user.email": email };
}
