import { readFileSync } from "node:fs";
import { join } from "node:path";
import { removeFile, writeFileAtomic } from "#config/files.ts";
import type { Places } from "#config/places.ts";
import { BRIDGE_CONSENT } from "../intake/inbox-file.ts";
import { consentsIn } from "./consents.lazy.ts";
import type { RegistrationFile } from "./registration-file.ts";

/** A file that the user allowed, as it was then. */
export interface Consent {
  readonly path: string;
  readonly digest: string;
  /** User id; absent on systems without. */
  readonly owner?: number | undefined;
  /** Milliseconds since the epoch. */
  readonly atMs: number;
  /** The user's variables for the commands. */
  readonly environment: Readonly<Record<string, string>>;
}

/** Where consent is stored. */
export const consentPath = ({ stateDir }: Pick<Places, "stateDir">): string => join(stateDir, BRIDGE_CONSENT);

/**
 * All files that the user allowed.
 *
 * @returns `undefined` if the record cannot be read or is damaged: nothing is allowed, and nothing is known to be revoked
 * @throws never
 */
export function readConsents(places: Pick<Places, "stateDir">): readonly Consent[] | undefined {
  try {
    const text = readFileSync(consentPath(places), "utf8");
    return consentsIn(text);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "ENOENT" ? [] : undefined;
  }
}

/** The user's consent to exactly this file: path, content and owner. `undefined` if there is none. */
export const consentTo = (consents: readonly Consent[] | undefined, file: RegistrationFile): Consent | undefined =>
  consents?.find(({ path, digest, owner }) => path === file.path && digest === file.digest && owner === file.owner);

/**
 * Stores that the user allowed a file, in place of an earlier consent to the same path.
 *
 * @param environment what `keptVariables` returns for variables that no repository names
 * @throws FileError
 */
export async function allow(
  places: Pick<Places, "stateDir">,
  { path, digest, owner }: RegistrationFile,
  nowMs: number,
  environment: Consent["environment"],
): Promise<void> {
  const others = (readConsents(places) ?? []).filter((one) => one.path !== path);
  await write(places, [...others, { path, digest, ...(owner !== undefined && { owner }), atMs: nowMs, environment }]);
}

/** Removes consent. @returns the paths that were allowed @throws FileError */
export async function revoke(
  places: Pick<Places, "stateDir">,
  isMeant: (path: string) => boolean,
): Promise<readonly string[]> {
  const before = readConsents(places) ?? [];
  const revoked = before.filter(({ path }) => isMeant(path));
  const left = before.filter((one) => !revoked.includes(one));
  if (left.length > 0) await write(places, left);
  else await removeFile(consentPath(places));
  return revoked.map(({ path }) => path);
}

// --- internal ---

const write = (places: Pick<Places, "stateDir">, allowed: readonly Consent[]): Promise<void> =>
  writeFileAtomic(consentPath(places), `${JSON.stringify({ allowed }, null, 2)}\n`, { mode: 0o600, forceMode: true });
