import { originOf, startOfProcess } from "#collect/intake/hook-processes.ts";
import type { Context } from "#config/context.ts";
import { summaryJson } from "#show/report/session-json.ts";
import { summarise } from "#show/report/session-summary.ts";
import { openSessionsOf } from "#store/ancestors.ts";
import type { Database } from "#store/database.ts";
import { findSessions } from "#store/queries.ts";
import { listedSessions } from "#store/session-list.ts";
import type { ProcessKey } from "#store/session-processes.ts";
import { namedSession } from "#store/sessions/find-session.ts";
import { withOpenStore } from "#store/sessions/open-store.ts";
import { type StoredSession, sessionById } from "#store/sessions.ts";
import { type Fields, pick } from "./mcp-answers.ts";
import type { Asking } from "./mcp-ask.ts";

/** The session that is meant, by `<source>/<id>`, and how it is known; or why that is unknown, with those that it may be. */
export type Meant =
  | { readonly name: string; readonly known_by: "name" | "process" }
  | { readonly name: undefined; readonly unknown: Fields };

/**
 * The agent's process that started this one, as its hooks name it: the nearest above it that is no shell.
 *
 * @returns `undefined` where the system does not say it
 */
export function startedBy(parent: number): ProcessKey | undefined {
  const { host, agent } = originOf(parent);
  const { pid, start } = agent ?? { pid: parent, start: startOfProcess(parent) };
  return host === undefined || start === undefined || pid <= 1 ? undefined : { process: `${pid}:${start}`, host };
}

/**
 * The session that a tool is asked about. Without a name it is the one that the agent's process works on, and nothing else: a session in
 * the same folder may be another one.
 *
 * @throws UserError if there is no session with the name, or more than one
 */
export function meantSession(
  name: string | undefined,
  client: ProcessKey | undefined,
  { context, read }: Asking,
): Meant {
  const found = withOpenStore(context, (db): Meant => {
    if (name !== undefined) return { name: nameOf(namedSession(db, name)), known_by: "name" };
    const all = client === undefined ? [] : openSessionsOf(db, client);
    // Of an excluded project nothing is shown
    const open = all.filter((one) => findSessions(db, nameOf(one), 1).some(({ id }) => id === one.id));
    const [only, another] = all;
    if (open.length < all.length) return { name: undefined, unknown: unknownOf("its project is excluded", []) };
    if (only !== undefined && another === undefined) return { name: nameOf(only), known_by: "process" };
    const reason =
      client === undefined
        ? "this system does not say which agent started this server"
        : only === undefined
          ? "no hook of the agent that started this server has reported a session yet"
          : "the agent that started this server works on several sessions";
    return { name: undefined, unknown: unknownOf(reason, candidates(db, open, context, read)) };
  });
  return found ?? { name: undefined, unknown: unknownOf("nothing is collected yet", []) };
}

// --- internal ---

const MAX_CANDIDATES = 5;
const CANDIDATE_MS = 86_400_000;

const nameOf = ({ source, sessionId }: StoredSession): string => `${source}/${sessionId}`;

const unknownOf = (reason: string, found: readonly Fields[]): Fields => ({
  session: null,
  reason: `${reason}; call again with session set to the id of one`,
  candidates: found,
});

/** Those of the process; otherwise those of the last day in the server's folder. */
function candidates(
  db: Database,
  open: readonly StoredSession[],
  { cwd, now }: Context,
  { agents }: Pick<Asking["read"], "agents">,
): readonly Fields[] {
  const here = listedSessions(db, { all: true, sinceMs: now() - CANDIDATE_MS }).filter((one) => one.cwd === cwd);
  return (open.length > 0 ? open : here).slice(0, MAX_CANDIDATES).map(({ id }) => {
    const summary = summaryJson(summarise(db, sessionById(db, id), { agents }));
    return pick(summary, "source session_id start last_activity open");
  });
}
