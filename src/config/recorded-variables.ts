import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Env } from "./environment.ts";

/**
 * Whether a drain that a hook starts uses a variable: settings, folders, certificates, proxies, options of Node. Agents' own folders
 * are not among them, because every event records those.
 */
export const isUsedByDrains = (name: string): boolean => USED.test(name) && !HANDED_OVER.test(name);

/** Variables that can only restrict what is exported. They apply regardless of who set them. */
export const onlyRestricts = (name: string, value: string): boolean => RESTRICTS.test(`${name}=${value}`);

/**
 * Records the variables of the user's terminal, so that a drain recognises their values later. Only digests are written, because
 * headers contain tokens. A variable that is not set now keeps its former digest.
 *
 * @throws what the file system throws
 */
export async function recordVariables(env: Env, stateDir: string): Promise<void> {
  const before = await recordedDigests(stateDir);
  const after = new Map(before);
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && value !== "" && isUsedByDrains(name)) after.set(name, digestOf(name, value));
  }
  if ([...after].every(([name, digest]) => before.get(name) === digest)) return;
  await writeFile(join(stateDir, FILE), `${JSON.stringify(Object.fromEntries(after), null, 2)}\n`, { mode: 0o600 });
}

/**
 * Tests whether `enable` recorded this value of a variable.
 *
 * @returns a test that accepts nothing if there is no record or it is damaged
 * @throws never
 */
export async function readRecordedVariables(stateDir: string): Promise<(name: string, value: string) => boolean> {
  const digests = await recordedDigests(stateDir);
  return (name, value) => digests.get(name) === digestOf(name, value);
}

// --- internal ---

const FILE = "variables.json";

const USED =
  /^(?:OPENHOOK_|OTEL_|NODE_|SSL_CERT_)[A-Z0-9_]+$|^XDG_[A-Z]+_HOME$|^(?:HOME|USERPROFILE|APPDATA|LOCALAPPDATA)$|^(?:https?|all|no)_proxy$/i;

/** From a hook or a wrapper to the drain; hooks always set them. `OPENHOOK_OTEL_HOME` is where the record itself is. */
const HANDED_OVER = /^OPENHOOK_OTEL_(?:HOME|HOOK_[A-Z_]+|DRAIN|WRAP|WRAPPED)$/;

const RESTRICTS =
  /^(?:OPENHOOK_OTEL_DISABLED=(?:true|1)|OPENHOOK_OTEL_CAPTURE=none|OTEL_SDK_DISABLED=.*|OTEL_(?:TRACES|METRICS)_EXPORTER=.*)$/i;

const digestOf = (name: string, value: string): string => createHash("sha256").update(`${name}=${value}`).digest("hex");

async function recordedDigests(stateDir: string): Promise<ReadonlyMap<string, string>> {
  try {
    const parsed: unknown = JSON.parse(await readFile(join(stateDir, FILE), "utf8"));
    return new Map(Object.entries(parsed ?? {}).filter(([, digest]) => typeof digest === "string"));
  } catch {
    return new Map();
  }
}
