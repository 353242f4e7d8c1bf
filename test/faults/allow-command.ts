import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { consentPath } from "#collect/bridge/consent.ts";
import { userFileOf } from "#collect/bridge/registration-file.ts";
import type { Places } from "#config/places.ts";

/** Registers a command for all events in the user's file, and allows it as `bridge allow` does. */
export function allowCommand({ places }: { readonly places: Places }, command: string): void {
  const path = userFileOf(places);
  const text = JSON.stringify({ openhook: "0.1", hooks: [{ command }] });
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  const digest = createHash("sha256").update(text).digest("hex");
  const owner = process.getuid?.();
  const allowed = [{ path, digest, ...(owner !== undefined && { owner }), environment: {}, atMs: 0 }];
  mkdirSync(places.stateDir, { recursive: true, mode: 0o700 });
  writeFileSync(consentPath(places), JSON.stringify({ allowed }), { mode: 0o600 });
}
