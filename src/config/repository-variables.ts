import { constants } from "node:fs";
import { open, realpath } from "node:fs/promises";
import { dirname, isAbsolute, join } from "node:path";
import type { Env } from "./environment.ts";
import { PREFIX } from "./setting.ts";

/**
 * Environment variables that files of a repository set, or may have set. Some agents load the `.env` of the folder they are started in, or
 * variables of a project's settings, and everything they start inherits them. Cloning a repository does not allow it to decide
 * where data goes.
 *
 * A variable whose value clearly differs from the files' is the user's. Variables that only restrict stay too.
 *
 * @param at `folders` in which an agent worked, and those above them up to the home, are searched; `files` in each of these, as agents
 *        name them, beside `.env` and similar ones
 * @param recordedValue the recorded part of a variable's value: only that can be compared
 * @returns variable name → file
 * @throws never
 */
export async function variablesOfRepositories(
  env: Env,
  at: RepositoryPlaces,
  recordedValue: (name: string, value: string | undefined) => string | undefined,
): Promise<ReadonlyMap<string, string>> {
  const theirs = new Map<string, string>();
  for await (const { path, given } of filesOf(at)) {
    for (const [name, values] of given) {
      const value = recordedValue(name, env[name]);
      if (value === undefined || ONLY_LESS.test(`${name}=${value}`)) continue;
      if (values.some((written) => written === undefined || recordedValue(name, written) === value))
        theirs.set(name, path);
    }
  }
  return theirs;
}

/**
 * Our own variables that the files name, whatever the environment is, to explain why they have no effect.
 *
 * @returns variable name → file
 * @throws never
 */
export async function ignoredVariables(at: RepositoryPlaces): Promise<ReadonlyMap<string, string>> {
  const ignored = new Map<string, string>();
  for await (const { path, given } of filesOf(at)) {
    for (const [name, values] of given) {
      const onlyRestricts = values.every((value) => ONLY_LESS.test(`${name}=${value ?? ""}`));
      if (OURS.test(name) && !onlyRestricts && ignored.size < MAX_IGNORED) ignored.set(name, path);
    }
  }
  return ignored;
}

/** Where files of repositories are looked for, see `variablesOfRepositories`. */
export interface RepositoryPlaces {
  readonly folders: readonly string[];
  readonly home: string;
  readonly files: readonly string[];
}

// --- internal ---

const OURS = new RegExp(`^${PREFIX}[A-Z_]{1,60}$`);
/** Report at most this many. */
const MAX_IGNORED = 8;
const MAX_PARENTS = 64;
/** Of a longer file only the beginning is read. */
const MAX_BYTES = 16 << 20;

/** Files that Gemini CLI and Qwen Code search upwards, and that Bun, the runtime of other agents, loads by default. */
const DOTENV: readonly string[] = ["", ".local", ".development", ".production", ".test"].flatMap((mode) =>
  mode === "" || mode === ".local" ? [`.env${mode}`] : [`.env${mode}`, `.env${mode}.local`],
);

/** A repository may always restrict. */
const ONLY_LESS =
  /^(?:OPENHOOK_OTEL_DISABLED=(?:true|1)|OPENHOOK_OTEL_CAPTURE=none|OTEL_SDK_DISABLED=.*|OTEL_(?:TRACES|METRICS)_EXPORTER=.*)$/i;

async function* filesOf(at: RepositoryPlaces): AsyncGenerator<{ readonly path: string; readonly given: Given }> {
  for (const folder of await upwards(at.folders, at.home)) {
    for (const file of [...DOTENV, ...at.files]) {
      const path = join(folder, file);
      const text = await textOf(path);
      if (text !== undefined) yield { path, given: path.endsWith(".json") ? fromJson(text) : fromDotenv(text) };
    }
  }
}

/** The folders and their parents, up to but without the home, whose files are the user's own. */
async function upwards(folders: readonly string[], home: string): Promise<ReadonlySet<string>> {
  const real = await Promise.all([home, ...folders].map((path) => realpath(path).catch(() => path)));
  const ends = new Set([home, real[0] ?? home]);
  const found = new Set<string>();
  for (const folder of new Set([...folders, ...real.slice(1)])) {
    if (!isAbsolute(folder)) continue;
    let at = folder;
    for (let i = 0; i < MAX_PARENTS && !ends.has(at) && dirname(at) !== at; i++, at = dirname(at)) found.add(at);
  }
  return found;
}

/** Follows links, as the agents do; reads only regular files. */
async function textOf(path: string): Promise<string | undefined> {
  try {
    const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    try {
      const { size } = await file.stat().then((kind) => (kind.isFile() ? kind : { size: 0 }));
      if (size === 0) return undefined;
      const { buffer, bytesRead } = await file.read(Buffer.alloc(Math.min(size, MAX_BYTES)), 0, null, 0);
      return buffer.toString("utf8", 0, bytesRead).replace(/^\uFEFF/, "");
    } finally {
      await file.close();
    }
  } catch {
    return undefined;
  }
}

/** By name; `undefined`: the value depends on the program that reads it. */
type Given = ReadonlyMap<string, readonly (string | undefined)[]>;

function fromDotenv(text: string): Given {
  const given = new Map<string, (string | undefined)[]>();
  const lines = /^[^\S\r\n]*(?:export\s+)?([\w.-]+)\s*[=:][ \t]*([^\r\n]*)/gm;
  for (const [, name = "", rest = ""] of text.matchAll(lines)) {
    const [, single, double, bare] = /^(?:'([^']*)'|"([^"\\$`]*)"|([^\s"'`\\$#]*))\s*(?:#.*)?$/.exec(rest) ?? [];
    add(given, name, single ?? double ?? bare);
  }
  return given;
}

/** Every member of every object at any depth, because only the agent knows which are variables. */
function fromJson(text: string): Given {
  const given = new Map<string, string[]>();
  try {
    JSON.parse(text, (name, value: unknown) => {
      if (typeof value !== "object") add(given, name, String(value));
      return value;
    });
  } catch {
    // The agent cannot read it either
  }
  return given;
}

function add<T>(given: Map<string, T[]>, name: string, value: T): void {
  const values = given.get(name);
  if (values === undefined) given.set(name, [value]);
  else values.push(value);
}
