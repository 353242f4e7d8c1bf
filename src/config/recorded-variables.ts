import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { userInfo } from "node:os";
import { join } from "node:path";
import type { Env } from "./environment.ts";
import { namedByRepositories, type RepositoryPlaces } from "./repository-variables.ts";

/**
 * Whether a drain that a hook starts uses a variable: settings, folders, certificates, proxies, options of Node. Agents' own folders
 * are not among them, because every event records those.
 */
const isUsedByDrains = (name: string): boolean => USED.test(name) && !HANDED_OVER.test(name);

/** Variables that can only restrict what is exported. They apply regardless of who set them. */
const onlyRestricts = (name: string, value: string): boolean => RESTRICTS.test(`${name}=${value}`);

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

/**
 * Variables whose value may come from a repository: they matter to a drain, do not only restrict, were not recorded by `enable` with
 * this value, and a file of the repository names them.
 *
 * @param stateDir folder with the record of `enable`; `undefined` if that folder itself may come from a repository
 * @returns variable name → file
 * @throws never
 */
export async function doubtfulVariables(
  env: Env,
  stateDir: string | undefined,
  searched: RepositoryPlaces,
): Promise<ReadonlyMap<string, string>> {
  const isRecorded = stateDir === undefined ? () => false : await readRecordedVariables(stateDir);
  const candidates = Object.entries(env).flatMap(([name, value = ""]) => {
    const isOpen =
      name === "OPENHOOK_OTEL_HOME"
        ? stateDir === undefined
        : isUsedByDrains(name) && !onlyRestricts(name, value) && !isRecorded(name, value);
    return isOpen && value !== "" && !(name === "HOME" && value === systemHome()) ? [name] : [];
  });
  if (candidates.length === 0) return new Map();
  // A repository that is set as the home folder would otherwise not be searched
  const asHome = { ...searched, folders: [...searched.folders, searched.home], home: systemHome() ?? "/" };
  const isHomeDoubtful = candidates.includes("HOME") && (await namedByRepositories(["HOME"], asHome)).size > 0;
  return namedByRepositories(candidates, isHomeDoubtful ? asHome : searched);
}

/** The home folder as the operating system knows it. `undefined`: the user has no entry. */
export function systemHome(): string | undefined {
  try {
    return userInfo().homedir;
  } catch {
    return undefined;
  }
}

/** The folders that agents report in variables. */
export const foldersOfAgents = (env: Env): readonly string[] =>
  Object.entries(env).flatMap(([name, value = ""]) => (FOLDER_OF_AGENT.test(name) ? value : []));

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

const FOLDER_OF_AGENT = /^[A-Z]+_(?:PROJECT_DIR|CWD)$/;
