import { randomBytes } from "node:crypto";
import { currentUser } from "#config/repository/person.ts";
import { userAttributes } from "#core/privacy/identity.ts";
import { readMeta, writeMeta } from "#store/meta.ts";
import type { Drain } from "./context.ts";

/** Resource attributes that identify the user. Empty unless the settings ask for them. */
export async function identityOf({
  db,
  loaded: { config },
  places,
}: Pick<Drain, "db" | "loaded" | "places">): Promise<Readonly<Record<string, string>>> {
  const { user, salt } = config.identity;
  if (user === "none") return {};
  return userAttributes(user, await currentUser(places.home), salt ?? ownKey(db));
}

// --- internal ---

const KEY = "identity.key";

/** The key for pseudonyms on this machine; created once, never sent. */
function ownKey(db: Drain["db"]): string {
  return db.transaction(() => {
    const known = readMeta(db, KEY);
    if (known !== undefined) return known;
    const made = randomBytes(32).toString("hex");
    writeMeta(db, KEY, made);
    return made;
  });
}
