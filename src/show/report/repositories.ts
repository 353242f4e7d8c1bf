import type { Repository } from "#core/model/session.ts";
import type { Database } from "#store/database.ts";
import { type FirstListed, firstListed, listedSessions, type SessionFilter } from "#store/session-list.ts";

/** Display names of repositories, unique among all of them. */
export interface RepositoryNames {
  /** The name, e.g. `api`; if others share it, with as much of the address as makes it unique: `acme/api`. */
  nameOf(repository: Repository): string;
  /** Whether `wanted` is its name or the end of its address. */
  isMeant(repository: Repository, wanted: string): boolean;
}

/** @param all every repository; duplicates are allowed */
export function repositoryNames(all: Iterable<Repository>): RepositoryNames {
  const byName = new Map<string, Map<string, readonly string[]>>();
  for (const { name, url } of all) {
    const parts = addressOf(url);
    if (parts === undefined) continue;
    const known = byName.get(name) ?? new Map<string, readonly string[]>();
    byName.set(name, known);
    // Case-insensitive, like servers
    const key = keyOf(parts);
    if (!known.has(key)) known.set(key, parts);
  }
  const lengths = new Map([...byName].map(([name, known]) => [name, lengthFor([...known.keys()])]));
  return {
    nameOf({ name, url }) {
      const length = lengths.get(name) ?? 1;
      const parts = length === 1 ? undefined : addressOf(url);
      if (parts === undefined) return name;
      return (byName.get(name)?.get(keyOf(parts)) ?? parts).slice(-length).join("/");
    },
    isMeant({ name, url }, wanted) {
      if (name === wanted) return true;
      const parts = addressOf(url);
      return parts !== undefined && `/${keyOf(parts)}`.endsWith(`/${wanted.toLowerCase()}`);
    },
  };
}

/**
 * A session's repository as stored. Where `.git` could not be read, because the folder is gone or in no repository, the folder
 * gives the name.
 *
 * @param text JSON of a `Repository`
 */
export function repositoryOrFolder(text: unknown, cwd: unknown): Repository | undefined {
  if (typeof text === "string") return JSON.parse(text) as Repository;
  const name = typeof cwd === "string" ? cwd.split(/[\\/]+/).findLast((part) => part !== "") : undefined;
  return name === undefined ? undefined : { name };
}

/**
 * Every repository of sessions, the folders of those without one, and both with their names.
 *
 * @param condition SQL for the sessions `s` that count
 */
export function storedRepositories(db: Database, condition: string) {
  const repositories = db
    .prepare(
      `SELECT DISTINCT json_extract(repository, '$.name') AS name, json_extract(repository, '$.url') AS url
       FROM sessions s WHERE ${condition} AND repository IS NOT NULL`,
    )
    .all()
    .map(({ name, url }): Repository => ({ name: String(name), ...(typeof url === "string" && { url }) }));
  const folders = db
    .prepare(`SELECT DISTINCT cwd FROM sessions s WHERE ${condition} AND repository IS NULL AND cwd IS NOT NULL`)
    .all()
    .map(({ cwd }) => String(cwd));
  const named = [...repositories, ...folders.flatMap((folder) => repositoryOrFolder(undefined, folder) ?? [])];
  return { repositories, folders, named, names: repositoryNames(named) };
}

/** The sessions to list, by latest activity. @param repository its name, the end of its address, or its folder */
export function sessionsAsked(
  db: Database,
  { repository, ...filter }: SessionFilter & { readonly repository?: string },
  limit: number,
): FirstListed {
  if (repository === undefined) return firstListed(db, filter, limit);
  const all = listedSessions(db, filter).map((session) => ({
    id: session.id,
    place: repositoryOrFolder(session.repository, session.cwd),
  }));
  const names = repositoryNames(all.flatMap(({ place }) => place ?? []));
  const ids = all.filter(({ place }) => place !== undefined && names.isMeant(place, repository)).map(({ id }) => id);
  return { ids: ids.slice(0, limit), total: ids.length };
}

// --- internal ---

/** Host and path, independent of the protocol; `undefined` without an address. */
function addressOf(url: string | undefined): readonly string[] | undefined {
  if (url === undefined || !URL.canParse(url)) return undefined;
  const { hostname, pathname } = new URL(url);
  const parts = pathname
    .replace(/\/+$/, "")
    .replace(/\.git$/, "")
    .split("/")
    .filter((part) => part !== "");
  return parts.length === 0 ? undefined : [hostname, ...parts];
}

const keyOf = (parts: readonly string[]): string => parts.join("/").toLowerCase();

/** How many parts, counted from the end, make addresses unique. */
function lengthFor(keys: readonly string[]): number {
  const addresses = keys.map((key) => key.split("/"));
  const longest = Math.max(...addresses.map(({ length }) => length));
  let length = 1;
  while (length < longest && new Set(addresses.map((parts) => parts.slice(-length).join("/"))).size < keys.length) {
    length++;
  }
  return length;
}
