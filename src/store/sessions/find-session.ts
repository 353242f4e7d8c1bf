import { UserError } from "#kit/errors.ts";
import { suggest } from "#kit/suggest.ts";
import { printable } from "#kit/text/terminal.ts";
import type { Database } from "../database.ts";
import { findSessions, recentSessions } from "../queries.ts";
import type { StoredSession } from "../sessions.ts";

/**
 * The session that the user named, or the latest one.
 *
 * @param name an id, the beginning of one, or `<source>/<id>`; absent or `latest`: the session with the latest activity
 * @returns `undefined` if the store contains no session
 * @throws UserError if there is no such session, or more than one
 */
export function chosenSession(db: Database, name: string | undefined): StoredSession | undefined {
  const [newest] = recentSessions(db, 1);
  return name === undefined || newest === undefined || isNewest(name) ? newest : namedSession(db, name);
}

/** Whether a name means the session with the latest activity. */
export const isNewest = (name: string): boolean => ["last", "latest", "newest"].includes(name);

/**
 * `chosenSession` with a name.
 *
 * @throws UserError if there is no such session, or more than one
 */
export function namedSession(db: Database, name: string, exitCode = 1): StoredSession {
  const found = findSessions(db, name, MAX_CANDIDATES + 1);
  const [only] = found;
  if (only === undefined) {
    const [newest] = recentSessions(db, 1);
    const hint = newest === undefined ? "" : `, the newest is ${quoted(newest.sessionId)}`;
    throw new UserError(
      "E_SESSION",
      `no session begins with ${quoted(name)}; ${suggest("sessions")} lists them${hint}`,
      exitCode,
    );
  }
  if (found.length === 1) return only;
  const isOneId = found.every((one) => one.sessionId === only.sessionId);
  const names = found
    .slice(0, MAX_CANDIDATES)
    .map((one) => printable(isOneId ? `${one.source}/${one.sessionId}` : (one.identity ?? one.sessionId)))
    .join(", ");
  const more = found.length > MAX_CANDIDATES ? " and more" : "";
  throw new UserError("E_SESSION", `${quoted(name)} matches several sessions: ${names}${more}`, exitCode);
}

// --- internal ---

const MAX_CANDIDATES = 5;
const quoted = (name: string): string => `"${printable(name)}"`;
