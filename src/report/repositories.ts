import type { Repository } from "../model/session.ts";

/** What repositories are called where several are told apart. */
export interface RepositoryNames {
  /** Its own name, e.g. `api`; with as much of the address before it as it takes where others are called so: `acme/api`. */
  nameOf(repository: Repository): string;
  /** Whether a user who says `asked` means it: by its own name, or by the end of its address. */
  isMeant(repository: Repository, asked: string): boolean;
}

/** @param all every repository that there is, as often as one likes */
export function repositoryNames(all: Iterable<Repository>): RepositoryNames {
  const byName = new Map<string, Map<string, readonly string[]>>();
  for (const { name, url } of all) {
    const parts = addressOf(url);
    if (parts === undefined) continue;
    const known = byName.get(name) ?? new Map<string, readonly string[]>();
    byName.set(name, known);
    // Servers take upper and lower case for the same, and so do those who type addresses
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
    isMeant({ name, url }, asked) {
      if (name === asked) return true;
      const parts = addressOf(url);
      return parts !== undefined && `/${keyOf(parts)}`.endsWith(`/${asked.toLowerCase()}`);
    },
  };
}

// --- internal ---

/** Host and path, the same by whichever protocol; `undefined`: it has none. */
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

/** How many parts, counted from the end, tell addresses apart. */
function lengthFor(keys: readonly string[]): number {
  const addresses = keys.map((key) => key.split("/"));
  const longest = Math.max(...addresses.map(({ length }) => length));
  let length = 1;
  while (length < longest && new Set(addresses.map((parts) => parts.slice(-length).join("/"))).size < keys.length) {
    length++;
  }
  return length;
}
