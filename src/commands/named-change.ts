import { resolveRevision } from "#changes/resolve-revision.ts";
import type { Context } from "#config/context.ts";
import { findGit } from "#config/repository/git-files.ts";
import { readRepository } from "#config/repository/read.ts";
import { UserError } from "#kit/errors.ts";
import { suggest } from "#kit/suggest.ts";
import { printable } from "#kit/text/terminal.ts";
import { findChanges, type NamedChange, repositoryNumber } from "#show/report/find-change.ts";
import { KINDS, shortId } from "#show/report/text/change.ts";
import { withOpenStore } from "#store/sessions/open-store.ts";
import { noStoreMessage } from "./no-store-message.ts";

/** What a name may mean. */
interface Named {
  readonly found: readonly NamedChange[];
  /** The commit that it names in the repository of the user's folder, though no session is known to have made it. */
  readonly revision?: string;
}

/**
 * Looks for commits and changes with a name; those of the repository in the user's folder come before others.
 *
 * @param asksGit whether git looks up a name that is not stored
 */
export async function findNamed(name: string, context: Context, asksGit = true): Promise<Named> {
  const place = await repositoryHere(context);
  const find = (text: string) =>
    withOpenStore(context, (db) => findChanges(db, text, place && repositoryNumber(db, place)));
  const found = find(name) ?? [];
  if (found.length > 0 || !asksGit) return { found };
  // HEAD, or an id that is shorter than what is stored
  const revision = await resolveRevision(name, context);
  return revision === undefined ? { found } : { found: find(revision) ?? [], revision };
}

/** Several changes have the name. @param meanings how the user can name them */
export function ambiguous(name: string, meanings: readonly string[]): UserError {
  const shown = meanings.slice(0, MAX_MEANINGS).map(printable).join(", ");
  const more = meanings.length > MAX_MEANINGS ? " and more" : "";
  return new UserError("E_SESSION", `"${printable(name)}" can mean several things: ${shown}${more}`, 1);
}

export const describeChange = ({ kind, name, url, repository }: NamedChange): string =>
  `${KINDS[kind]} ${url ?? name}${kind === "branch" && repository !== undefined ? ` in ${repository}` : ""}`;

/** The one commit or change with a name. @throws UserError if there is none, or more than one */
export async function namedChange(name: string, context: Context): Promise<NamedChange> {
  const { found, revision } = await findNamed(name, context);
  const [only, another] = found;
  if (another !== undefined) throw ambiguous(name, found.map(describeChange));
  if (only !== undefined) return only;
  const isEmpty = withOpenStore(context, () => true) === undefined;
  throw new UserError(
    "E_EMPTY",
    isEmpty
      ? await noStoreMessage(context)
      : ((await knownToBeNone(name, revision, context)) ??
          `no session on this machine is known to have worked on "${printable(name)}"; ${suggest("report change")} lists what is known`),
    1,
  );
}

/**
 * Why nothing is found for a name of which it is clear what it means: a commit, a pull request.
 *
 * @returns `undefined` for other names
 */
export async function knownToBeNone(
  name: string,
  revision: string | undefined,
  context: Context,
): Promise<string | undefined> {
  if (revision !== undefined) {
    return `no session is known to have made commit ${shortId(revision)}; ${suggest("report commit")} lists the commits that are known`;
  }
  if (/^[#!]\d+$/.test(name)) {
    return (
      `no session is known to have worked on pull request ${name}, and no known commit that was merged names it; ` +
      `${suggest("report change")} lists what is known`
    );
  }
  if (!/^(HEAD|@)([~^]|$)/.test(name)) return undefined;
  return (await repositoryHere(context)) === undefined
    ? `there is no git repository here, so "${printable(name)}" is no commit`
    : `the repository here has no commit "${printable(name)}"`;
}

/** Does something with a session that the user named. @throws UserError which also says if the name is that of a commit or change */
export async function withSessionNamed<T>(name: string | undefined, context: Context, use: () => T): Promise<T> {
  try {
    return use();
  } catch (error) {
    const isUnknown = name !== undefined && error instanceof UserError && error.code === "E_SESSION";
    const [change] = isUnknown ? (await findNamed(name, context)).found : [];
    if (name === undefined || change === undefined) throw error;
    const text = `"${printable(name)}" is ${printable(describeChange(change))}, no session; ${suggest("show")} with it lists its sessions`;
    throw new UserError("E_SESSION", text, 1);
  }
}

/** The repository of the user's folder. @returns `undefined` if it is in none */
export async function repositoryHere({
  cwd,
  places,
}: Context): Promise<{ readonly url?: string; readonly gitDir: string } | undefined> {
  const [git, repository] = await Promise.all([findGit(cwd), readRepository(cwd, places.home)]);
  if (git === undefined) return undefined;
  return { gitDir: git.commonDir, ...(repository?.url !== undefined && { url: repository.url }) };
}

// --- internal ---

const MAX_MEANINGS = 5;
