import { allAgents } from "#agents/registry.ts";
import type { Context } from "#config/context.ts";
import { SETTINGS } from "#config/settings.ts";
import { localTime } from "#kit/text/figures.ts";
import { DIMENSIONS } from "#show/report/query.ts";
import { storedRepositories } from "#show/report/repositories.ts";
import type { Database } from "#store/database.ts";
import { readStore } from "#store/read-only.ts";
import { latestSessions, SHOWN, storedModels, storedSources, storedVersions } from "#store/session-list.ts";

/** What can stand for an argument or option, each with a description. */
export type Value = readonly [value: string, description: string];

/** By the name of an argument, alone or after its command, or of an option. Called only for the one that is being typed. */
export type Values = Readonly<Record<string, () => readonly Value[]>>;

/**
 * The values that can be completed.
 *
 * @param words of the command line, after the program's name
 */
export async function valuesFor(words: readonly string[], { places }: Context): Promise<Values> {
  const cards = await allAgents();
  const named = (list: typeof cards) => list.map(({ source, title }) => [source, title] as const);
  const stored = (look: (db: Database) => readonly Value[]) => () => storedIn(places.storePath, look);
  const sessions = stored((db) =>
    latestSessions(db, SESSIONS).map(
      ({ sessionId, source, lastMs }) => [sessionId, `${source}, ${localTime(lastMs)}`] as const,
    ),
  );
  const models = stored((db) => plain(storedModels(db)));
  const repositories = stored((db) => plain(repositoriesIn(db)));
  return {
    agent: () => named(cards),
    source: () => named(cards),
    model: models,
    repository: repositories,
    "import agents": () => named(cards.filter(({ transcript }) => transcript !== undefined)),
    agents: () => named(cards.filter(({ installer }) => installer !== undefined)),
    by: () => plain([...DIMENSIONS, "hook"]),
    "compare names": () => {
      const [by, agent] = comparedIn(words);
      if (by === "model") return models();
      if (by === "repository") return repositories();
      if (by === "version" && agent !== undefined) return stored((db) => plain(storedVersions(db, agent)))();
      return stored((db) => named(cards.filter(({ source }) => storedSources(db).has(source))))();
    },
    key: () => SETTINGS.map(({ key, description }) => [key, description]),
    session: sessions,
    "show name": sessions,
  };
}

// --- internal ---

/** Enough to choose from by hand. */
const SESSIONS = 50;

const plain = (names: readonly string[]): readonly Value[] => names.map((name) => [name, ""]);

const repositoriesIn = (db: Database): readonly string[] => {
  const { named, names } = storedRepositories(db, SHOWN);
  return [...new Set(named.map(names.nameOf))].sort();
};

/** What `compare` compares, and of versions the agent: the word after it, or that of `--agent`. */
function comparedIn(words: readonly string[]): readonly [by: string | undefined, agent: string | undefined] {
  const before = words.slice(1, -1);
  const isName = (word: string, at: number): boolean => !word.startsWith("-") && !isTaken(before[at - 1]);
  const [by, first] = before.filter(isName);
  const at = before.indexOf("--agent");
  return [by, at < 0 ? first : before[at + 1]];
}

/** Whether the word after this one is an option's value. */
const isTaken = (word: string | undefined): boolean => /^--(?:since|until|agent|repository)$/.test(word ?? "");

/** Nothing without a store, or if it cannot be read: an error would disturb the command line. */
function storedIn(storePath: string, look: (db: Database) => readonly Value[]): readonly Value[] {
  try {
    // Agents and repositories choose the names, and shells may expand what is completed
    return (readStore(storePath, look) ?? []).filter(([value]) => /^\w[\w.:/@+-]*$/.test(value));
  } catch {
    return [];
  }
}
