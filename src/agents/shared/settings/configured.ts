import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { ConfiguredName } from "#core/model/configured.ts";
import { asObject, type Fields, parsedJson } from "../payload/json.ts";
import { parseDocument, plainOf } from "./jsonc.ts";
import { stripBom } from "./settings.ts";
import { fullPath, isTable, type Statement, valueAt } from "./toml.ts";
import { statementsOf } from "./toml-statements.ts";

/** Where an agent has what its users add. */
interface Places {
  /** Settings files, each with the members that lead to its MCP servers. `.toml` files are TOML, all others JSON with comments. */
  readonly servers: readonly (readonly [file: string, ...members: string[]])[];
  /** Folders of skills: of folders with a `SKILL.md`. */
  readonly skills: readonly string[];
  /** How tool calls write a server's name. @default unchanged */
  readonly serverName?: (name: string) => string;
}

/** What is configured in these places, without servers that are switched off. Never throws. */
export async function configuredIn({ servers, skills, serverName }: Places): Promise<readonly ConfiguredName[]> {
  const found = new Map<string, ConfiguredName>();
  const add = (one: ConfiguredName): void => {
    // The home folder can be the project too
    if (one.name.length <= MAX_NAME) found.set(JSON.stringify(one), one);
  };
  for (const [file, ...members] of servers) {
    const names = await serversIn(file, members).catch(() => []);
    for (const name of names) add({ kind: "mcp", name: serverName?.(name) ?? name, file });
  }
  for (const folder of skills) {
    for (const name of await foldersIn(folder)) {
      const file = join(folder, name, "SKILL.md");
      if (await isFile(file)) add({ kind: "skill", name, file });
    }
  }
  return [...found.values()];
}

// --- internal ---

const MAX_BYTES = 16 * 1024 * 1024;
const MAX_NAMES = 500;
const MAX_NAME = 256;

/** @throws Error if the file cannot be read or parsed */
async function serversIn(file: string, members: readonly string[]): Promise<readonly string[]> {
  if (!(await isFile(file))) return [];
  const text = await readFile(file, "utf8");
  const names = file.endsWith(".toml") ? tomlNames(statementsOf(text), members) : jsonNames(text, members);
  return [...new Set(names)].slice(0, MAX_NAMES);
}

function jsonNames(text: string, members: readonly string[]): readonly string[] {
  const { body } = stripBom(text);
  let value: unknown = parsedJson(body);
  if (asObject(value) === undefined) value = plainOf(parseDocument(body));
  for (const member of members) value = asObject(value)?.[member];
  return Object.entries(asObject(value) ?? {}).flatMap(([name, server]) => (isOff(asObject(server)) ? [] : [name]));
}

const isOff = (server: Fields | undefined): boolean => server?.["enabled"] === false || server?.["disabled"] === true;

function tomlNames(statements: readonly Statement[], members: readonly string[]): readonly string[] {
  const names = statements.flatMap((statement) => {
    const path = statement.kind === "pair" ? fullPath(statement) : statement.path.map(({ name }) => name);
    if (members.some((member, index) => path[index] !== member)) return [];
    const named = path[members.length];
    if (named !== undefined) return [named];
    return statement.kind === "pair" && isTable(statement.value) ? Object.keys(statement.value) : [];
  });
  return names.filter((name) => valueAt(statements, [...members, name, "enabled"]) !== false);
}

const foldersIn = async (folder: string): Promise<readonly string[]> =>
  (await readdir(folder).catch(() => [])).sort().slice(0, MAX_NAMES);

/** Whether it is a file, not too large; also behind a link. */
const isFile = async (path: string): Promise<boolean> => {
  const found = await stat(path).catch(() => undefined);
  return found?.isFile() === true && found.size <= MAX_BYTES;
};
