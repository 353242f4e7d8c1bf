import type { Database } from "#store/database.ts";
import { type FirstListed, firstListed, listedSessions, type SessionFilter } from "#store/session-list.ts";
import { repositoryNames, repositoryOrFolder } from "./repositories.ts";

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
