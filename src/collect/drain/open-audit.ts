import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { readSettingsText } from "#kit/open.ts";
import { readOwn } from "#kit/own-file.ts";
import { type CaptureContext, reportProblem } from "#store/capture/context.ts";
import { auditOf } from "./audit.ts";
import type { Audit } from "./context.ts";
import { identityOf } from "./delivery-rows.ts";

/** The audit trail of a drain. Without a usable key it has no digests, which is reported. */
export async function openAudit(drain: CaptureContext): Promise<Audit> {
  const key = await auditKey(drain, (line) => reportProblem(drain, line));
  return auditOf(drain, key, await identityOf(drain));
}

/**
 * The key of digests: the organisation's, or that of this machine, which is made when it is first needed. It is in a file of its own and
 * never in the store: somebody who gets the store cannot guess the texts behind the digests.
 *
 * @returns `undefined` if the key cannot be used; the machine's does not replace the organisation's
 */
export async function auditKey(
  { places, loaded }: Pick<CaptureContext, "places" | "loaded">,
  onProblem: (line: string) => void,
): Promise<Buffer | undefined> {
  const { keyFile } = loaded.config.audit;
  const path = keyFile ?? join(places.stateDir, "audit.key");
  const key = keyFile === undefined ? machineKey(path) : ((await readSettingsText(path))?.trim() ?? "");
  if (key.length >= MIN_CHARACTERS) return Buffer.from(key);
  onProblem(
    `the audit trail has no digests: ${JSON.stringify(path)} has no key of at least ${MIN_CHARACTERS} characters`,
  );
  return undefined;
}

// --- internal ---

const MIN_CHARACTERS = 32;

/** @returns an empty text if the file cannot be used: then nothing but the digests is missing */
function machineKey(path: string): string {
  try {
    writeFileSync(path, `${randomBytes(32).toString("hex")}\n`, { flag: "wx", mode: 0o600 });
  } catch {
    // It is there already, or reading it fails too
  }
  try {
    return readOwn(path).toString("latin1").trim();
  } catch {
    return "";
  }
}
