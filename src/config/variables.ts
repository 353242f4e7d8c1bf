import { createHash } from "node:crypto";
import { statSync } from "node:fs";
import { type FileHandle, readdir, readFile, realpath, writeFile } from "node:fs/promises";
import { userInfo } from "node:os";
import { basename, dirname, isAbsolute, join } from "node:path";
import { type Opened, openRegular, RefusedError } from "#kit/open.ts";
import type { Env } from "./environment.ts";

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

/** Where files of repositories are searched. */
export interface RepositoryPlaces {
  /** Absolute folders in which an agent worked; those above them are searched too, up to the home. */
  readonly folders: readonly string[];
  /** Not searched: its files are the user's own. */
  readonly home: string;
  /** Files from which agents take variables, relative to each folder. */
  readonly files: readonly string[];
}

/**
 * Finds environment variables that files of a repository name. Some agents load the `.env` of the folder they are started in, or
 * variables of a project's settings, and everything they start inherits them. Cloning a repository does not allow it to decide
 * where data goes.
 *
 * The files are not parsed: each agent reads them with other rules. A name anywhere in a file that an agent could load is enough. A
 * file that cannot be searched (a pipe, or too large) counts as one that names every variable.
 *
 * @param names which variables to search for
 * @returns variable name → file, in the order of `names`
 * @throws never
 */
export async function namedByRepositories(
  names: readonly string[],
  places: RepositoryPlaces,
): Promise<ReadonlyMap<string, string>> {
  if (names.length === 0) return new Map();
  const found = await search(new RegExp(`\\b(?:${names.map(escaped).join("|")})\\b`, "g"), names, places);
  return new Map(names.flatMap((name) => (found.has(name) ? [[name, found.get(name) ?? ""]] : [])));
}

/**
 * Our own variables that the files name, set or not, to explain why they have no effect.
 *
 * @returns variable name → file, at most 8
 * @throws never
 */
export async function ownVariablesIn(places: RepositoryPlaces): Promise<ReadonlyMap<string, string>> {
  const found = await search(/\bOPENHOOK_OTEL_[A-Z_]{1,60}\b/g, [], places);
  return new Map([...found].slice(0, MAX_REPORTED));
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

const FOLDER_OF_AGENT = /^[A-Z]+_(?:PROJECT_DIR|CWD)$/;

const MAX_REPORTED = 8;
/** Node cannot make a string of a file much larger than this, so most agents cannot load one. */
const MAX_BYTES = 512 << 20;
const MAX_FILES = 4_000;
const CHUNK_BYTES = 1 << 20;
/** A name can lie across two chunks; with every character escaped it is some 400 bytes long. */
const OVERLAP = 2_048;

const escaped = (name: string): string => name.replaceAll(/[^A-Za-z0-9_]/g, "\\$&");

async function search(
  pattern: RegExp,
  everyName: readonly string[],
  places: RepositoryPlaces,
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  let files = 0;
  for (const folder of await upwards(places.folders, places.home)) {
    for (const path of await candidatesIn(folder, places.files)) {
      const named = ++files > MAX_FILES ? "unknown" : await namesIn(path, pattern);
      for (const name of named === "unknown" ? everyName : named) if (!found.has(name)) found.set(name, path);
      if (files > MAX_FILES) return found;
    }
  }
  return found;
}

/** The folders and their parents, up to but without the home. */
async function upwards(folders: readonly string[], home: string): Promise<ReadonlySet<string>> {
  const real = await Promise.all([home, ...folders].map((path) => realpath(path).catch(() => path)));
  const ends = new Set([home, real[0] ?? home]);
  const found = new Set<string>();
  for (const folder of new Set([...folders, ...real.slice(1)])) {
    if (!isAbsolute(folder)) continue;
    for (let path = folder; !ends.has(path) && dirname(path) !== path; path = dirname(path)) found.add(path);
  }
  return found;
}

/** `.env` in every form, settings of editors and tools, and the settings in the agents' own folders. */
const SETTINGS_FILE = /env|^\.[\w-]+$|\.(?:json[c5]?|toml|ya?ml|ini|cfg|conf|local|code-workspace|vars)$/i;
/** The only such file in a folder without a dot. */
const MISE = join("mise", "config.toml");
/** Commands in a registration file use variables, such as HOME; nothing loads variables from it. */
const SETS_NONE: ReadonlySet<string> = new Set([".openhook.json"]);
/** With a folder per development container, and one per tool. */
const HAS_FOLDERS: ReadonlySet<string> = new Set([".devcontainer", ".config"]);
const OUTSIDE_DOT_FOLDERS = /(?:^|[._-])env(?:$|[._-])|\.(?:code-workspace|vars)$|^mise\b.*\.toml$/i;

/** Absolute paths. Only those that an agent, or the editor whose terminal it runs in, could load by itself. */
async function candidatesIn(folder: string, named: readonly string[]): Promise<ReadonlySet<string>> {
  const paths = new Set([...named, MISE].map((file) => join(folder, file)));
  for (const entry of await entriesOf(folder)) {
    const path = join(folder, entry.name);
    if (!entry.name.startsWith(".")) {
      if (OUTSIDE_DOT_FOLDERS.test(entry.name) && !entry.isDirectory()) paths.add(path);
    } else if (!entry.isDirectory() && SETTINGS_FILE.test(entry.name) && !SETS_NONE.has(entry.name)) paths.add(path);
    // A link can lead to a folder too: then there is nothing to read at `path`
    if (entry.name.startsWith(".") && entry.name !== ".git" && (entry.isDirectory() || entry.isSymbolicLink())) {
      for (const inside of await settingsIn(path, HAS_FOLDERS.has(entry.name))) paths.add(inside);
    }
  }
  return paths;
}

/** The settings in a folder, and in the folders in it if tools have theirs there. */
async function settingsIn(folder: string, hasFolders: boolean): Promise<readonly string[]> {
  const found: string[] = [];
  for (const entry of await entriesOf(folder)) {
    const path = join(folder, entry.name);
    if (!entry.isDirectory() && SETTINGS_FILE.test(entry.name)) found.push(path);
    if (hasFolders && (entry.isDirectory() || entry.isSymbolicLink())) found.push(...(await settingsIn(path, false)));
  }
  return found;
}

const entriesOf = (folder: string) => readdir(folder, { withFileTypes: true }).catch(() => []);

/** Follows links, as the agents do, but never to a pipe, a device or a file of the system. */
async function namesIn(path: string, pattern: RegExp): Promise<ReadonlySet<string> | "unknown"> {
  let opened: Opened;
  try {
    opened = await openRegular(path);
  } catch (error) {
    // Otherwise there is nothing, or the agent cannot read it either
    return error instanceof RefusedError ? unreadable(path) : new Set();
  }
  const { file, stats } = opened;
  try {
    return stats.size > MAX_BYTES ? unreadable(path) : await searched(file, pattern);
  } catch {
    return "unknown";
  } finally {
    await file.close();
  }
}

function unreadable(path: string): ReadonlySet<string> | "unknown" {
  try {
    if (!ENV_FILE.test(basename(path)) || statSync(path).isDirectory()) return new Set();
  } catch {
    // Links in a circle: no agent can read it
    return new Set();
  }
  return "unknown";
}

/** Files that are loaded for the variables in them. Password managers provide them as pipes. */
const ENV_FILE = /env|^settings.*\.json$/i;

async function searched(file: FileHandle, pattern: RegExp): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  let rest = "";
  for (let position = 0; position < MAX_BYTES; ) {
    const { bytesRead } = await file.read(chunk, 0, chunk.length, position);
    if (bytesRead === 0) break;
    position += bytesRead;
    const text = rest + chunk.toString("latin1", 0, bytesRead);
    for (const [name] of decoded(text).matchAll(pattern)) found.add(name);
    rest = text.slice(-OVERLAP);
  }
  return found;
}

/** Undoes the escapes with which JSON, TOML and YAML can write a letter, and the zeros of UTF-16. */
const decoded = (text: string): string =>
  text
    .replaceAll("\0", "")
    .replaceAll(/\\(?:u00|U000000|x|u\{0{0,4})([0-9A-Fa-f]{2})\}?/g, (_, code: string) =>
      String.fromCharCode(Number.parseInt(code, 16)),
    );
