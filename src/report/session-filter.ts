import type { Database } from "../store/database.ts";
import { listedSessions, type SessionFilter } from "../store/session-list.ts";
import { repositoryNames, repositoryOrFolder } from "./repositories.ts";

/** Numbers of the sessions to list, by latest activity. @param repository its name, the end of its address, or its folder */
export function sessionsAsked(
  db: Database,
  { repository, ...filter }: SessionFilter & { readonly repository?: string },
): readonly number[] {
  const all = listedSessions(db, filter).map(({ id, ...of }) => ({
    id,
    of: repository === undefined ? undefined : repositoryOrFolder(of.repository, of.cwd),
  }));
  if (repository === undefined) return all.map(({ id }) => id);
  const names = repositoryNames(all.flatMap(({ of }) => of ?? []));
  return all.filter(({ of }) => of !== undefined && names.isMeant(of, repository)).map(({ id }) => id);
}
