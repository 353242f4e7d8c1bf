import { createHmac } from "node:crypto";

/** What is known about the user of this machine. */
interface Person {
  /** From the user's own git settings. */
  readonly email?: string;
  /** From the operating system. */
  readonly name?: string;
}

/**
 * What is sent about the user: nothing, a pseudonym, or the address (otherwise the name).
 *
 * A pseudonym is an HMAC with a secret key, because there are few enough addresses to guess a plain hash. Only the key's holder can
 * reverse it. With one key for a team, a person has the same pseudonym on every machine.
 *
 * @param key the team's (`identity.salt`), otherwise a random one of this machine
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
