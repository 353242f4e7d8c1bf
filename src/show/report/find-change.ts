import type { ChangeKind, StoredChange, StoredCommit } from "#core/model/changes.ts";
import { NO_BRANCH } from "#core/rules/change-facts.ts";
import { storedChanges, storedCommits, storedRepositories } from "#store/changes.ts";
import type { Database } from "#store/database.ts";
import { outcomeFinder } from "#store/outcomes.ts";
import { identityOf, nameOfChange } from "./attribution.ts";
import type { LedTo } from "./query.ts";

/** A commit, pull request, ticket or branch of sessions, as the user named it. */
export interface NamedChange {
  readonly kind: "commit" | Exclude<ChangeKind, "issue">;
  /** As reports show it; of a commit all known digits. */
  readonly name: string;
  readonly url?: string;
  /** Numbers of its repositories; none: unknown. */
  readonly repositories: readonly number[];
  /** The name of its repository. Absent: unknown, or several. */
  readonly repository?: string;
  /** The work that counts for it. */
  readonly ledTo: LedTo;
  /** No session made this commit: commits of sessions were merged or rewritten into it. */
  readonly isLater?: true;
  /** Only the messages of commits on the default branch name this pull request: that these are its commits is inferred. */
  readonly isFromMessage?: true;
}

/**
 * What a text may mean: the id of a commit or its beginning, the number, name or URL of a pull request, a ticket, the name of a branch.
 *
 * @param here the repository in which the user is, as stored: of several changes with one number or name, its own is meant
 */
export function findChanges(db: Database, text: string, here?: number): readonly NamedChange[] {
  const changes = changesNamed(db, text);
  const known = changes.length > 0 ? changes : pullsInMessages(db, text);
  const ofHere = known.filter(({ repositories }) => here !== undefined && repositories.includes(here));
  return [...commitsNamed(db, text), ...(ofHere.length > 0 ? ofHere : known)];
}

/** The newest pull request of a branch. @returns `undefined` if none is known */
export function pullRequestOf(db: Database, { name, repositories }: NamedChange): NamedChange | undefined {
  const pull = storedChanges(db).findLast(
    ({ changeKind, branch, repository }) =>
      changeKind === "pull_request" && branch === name && repository !== undefined && repositories.includes(repository),
  );
  return pull && findChanges(db, pull.url ?? `#${pull.change}`, pull.repository)[0];
}

/** The stored repository with an address or git directory. */
export const repositoryNumber = (
  db: Database,
  { url, gitDir }: { readonly url?: string; readonly gitDir: string },
): number | undefined => storedRepositories(db).find(({ key }) => key === (url ?? gitDir))?.id;

// --- internal ---

/** Digits that identify a commit. */
const SHORTEST_ID = 4;
/** The fewest digits that git prints. */
const SHORT_ID = 7;

function commitsNamed(db: Database, text: string): readonly NamedChange[] {
  const wanted = text.toLowerCase();
  if (wanted.length < SHORTEST_ID || !/^[0-9a-f]+$/.test(wanted)) return [];
  const outcomeOf = outcomeFinder(db);
  const isMeant = (id: string | undefined): boolean =>
    id !== undefined && (id.startsWith(wanted) || (id.length >= SHORT_ID && wanted.startsWith(id)));
  const made = new Map<string, StoredCommit[]>();
  const later = new Map<string, StoredCommit[]>();
  for (const stored of storedCommits(db)) {
    const { id = stored.commit, rewritten } = outcomeOf(stored) ?? {};
    if (isMeant(id) || isMeant(stored.commit)) add(made, id, stored);
    else if (isMeant(rewritten?.by)) add(later, rewritten?.by ?? "", stored);
  }
  const names = repositoryNames(db);
  const named = (all: typeof made) =>
    [...merged(all)].map(
      ([id, commits]): NamedChange => ({
        kind: "commit",
        name: id,
        ...placeOf(commits, names),
        ledTo: { dimension: "commit", identities: new Set(commits.map(identityOf)) },
      }),
    );
  return made.size > 0 ? named(made) : named(later).map((change) => ({ ...change, isLater: true }));
}

/** One session can know all digits of a commit, and another one the first digits. */
function merged(all: ReadonlyMap<string, readonly StoredCommit[]>): ReadonlyMap<string, readonly StoredCommit[]> {
  const ids = [...all.keys()].toSorted((a, b) => b.length - a.length);
  const groups = new Map<string, StoredCommit[]>();
  for (const id of ids) {
    const whole = [...groups.keys()].find((longer) => longer.startsWith(id)) ?? id;
    for (const commit of all.get(id) ?? []) add(groups, whole, commit);
  }
  return groups;
}

function changesNamed(db: Database, text: string): readonly NamedChange[] {
  const meant = storedChanges(db).filter((change) => change.changeKind !== "issue" && isNamed(change, text));
  // One session can know the address of a pull request, and another one the number
  const addresses = new Map(
    meant.flatMap((change) => (change.url === undefined ? [] : [[numberKey(change), change.url] as const])),
  );
  const found = new Map<string, StoredChange[]>();
  for (const change of meant) add(found, change.url ?? addresses.get(numberKey(change)) ?? identityOf(change), change);
  const names = repositoryNames(db);
  return [...found.values()].flatMap((all): readonly NamedChange[] => {
    const first = all.find(({ url }) => url !== undefined) ?? all[0];
    if (first === undefined || first.changeKind === "issue") return [];
    const { changeKind: kind, url } = first;
    return [
      {
        kind,
        name: nameOfChange(first),
        ...(url !== undefined && { url }),
        ...placeOf(all, names),
        ledTo: {
          dimension: kind === "pull_request" ? "change" : kind,
          identities: new Set(all.map(identityOf)),
        },
      },
    ];
  });
}

/** Pull requests that no session named, but the commits did that brought commits of sessions to the default branch. */
function pullsInMessages(db: Database, text: string): readonly NamedChange[] {
  const [, place = "", wanted] = /^(?:([\w./-]+(?=[#!]))?([#!]\d+))$/.exec(text) ?? [];
  if (wanted === undefined) return [];
  const outcomeOf = outcomeFinder(db);
  const names = repositoryNames(db);
  const found = new Map<string, StoredCommit[]>();
  for (const stored of storedCommits(db)) {
    const { landingPull, repository = -1 } = outcomeOf(stored) ?? {};
    const isMeant = place === "" || (names.get(repository) ?? "").toLowerCase().endsWith(place.toLowerCase());
    if (landingPull === wanted && isMeant) add(found, String(repository), stored);
  }
  return [...found.values()].map((commits) => ({
    kind: "pull_request",
    name: wanted,
    ...placeOf(commits, names),
    ledTo: { dimension: "commit", identities: new Set(commits.map(identityOf)) },
    isFromMessage: true,
  }));
}

const numberKey = ({ changeKind, change, repository }: StoredChange): string => `${changeKind} ${repository} ${change}`;

function isNamed(stored: StoredChange, text: string): boolean {
  const { changeKind, change, url } = stored;
  const is = (name: string): boolean => name.toLowerCase() === text.toLowerCase();
  if (changeKind === "branch") return change === text && text !== NO_BRANCH;
  if (changeKind === "ticket") return is(change);
  if (url !== undefined && /^https?:/i.test(text)) {
    // With what follows in a browser: /files, /commits, #issuecomment-1
    const rest = text.toLowerCase().startsWith(url.toLowerCase()) ? text.slice(url.length) : undefined;
    return rest !== undefined && /^($|[/?#])/.test(rest);
  }
  return is(nameOfChange(stored)) || is(change) || is(`#${change}`) || is(`!${change}`);
}

const repositoryNames = (db: Database): ReadonlyMap<number, string> =>
  new Map(storedRepositories(db).flatMap(({ id, name }) => (name === undefined ? [] : [[id, name]])));

function placeOf(
  facts: readonly (StoredCommit | StoredChange)[],
  names: ReadonlyMap<number, string>,
): Pick<NamedChange, "repositories" | "repository"> {
  const repositories = [...new Set(facts.flatMap(({ repository }) => repository ?? []))];
  const [only, another] = repositories;
  const repository = only === undefined || another !== undefined ? undefined : names.get(only);
  return { repositories, ...(repository !== undefined && { repository }) };
}

function add<T>(groups: Map<string, T[]>, key: string, fact: T): void {
  if (groups.get(key)?.push(fact) === undefined) groups.set(key, [fact]);
}
