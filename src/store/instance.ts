import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { v4 as uuidv4 } from "uuid";
import type { Database } from "./database.ts";
import { readMeta, writeMeta } from "./meta.ts";

/**
 * `service.instance.id` of this machine and user: made at random once. A store that was copied to another machine gets
 * a new one, since two writers of one series would corrupt both.
 */
export function instanceId(db: Database, { home }: { readonly home: string }): string {
  return db.transaction(() => {
    const here = fingerprint(home);
    const known = readMeta(db, "instance.id");
    if (known !== undefined && readMeta(db, "instance.fingerprint") === here) return known;
    const made = uuidv4();
    writeMeta(db, "instance.id", made);
    writeMeta(db, "instance.fingerprint", here);
    if (known !== undefined) startStreamsAnew(db);
    return made;
  });
}

// --- internal ---

/** Only its equality matters; it never leaves. */
function fingerprint(home: string): string {
  return createHash("sha256")
    .update(JSON.stringify([machineId(), home]))
    .digest("hex")
    .slice(0, 32);
}

function machineId(): string {
  for (const path of ["/etc/machine-id", "/var/lib/dbus/machine-id"]) {
    try {
      return readFileSync(path, "utf8").trim();
    } catch {
      // The next place, else the home directory alone tells machines apart
    }
  }
  return "";
}

/** The copy's sums belong to the machine it came from: counting here starts at zero. */
function startStreamsAnew(db: Database): void {
  db.prepare("DELETE FROM counters").run();
}
