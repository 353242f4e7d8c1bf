import { cardOf } from "#core/rules/cards.ts";
import type { Database } from "#store/database.ts";
import { NAMES_UNREAD } from "#store/failures.ts";
import { STARTED_ONLY, WAS_USED } from "#store/queries.ts";
import { type Columns, fromTimeUnits, jsonRows, timeUnits } from "#store/rows.ts";
import type { SessionSource } from "#store/sessions/read-session.ts";
import type { UsageQuery } from "./query.ts";
import { repositoryNames, repositoryOrFolder } from "./repositories.ts";

/** A session whose rows count, and the session they count for. */
export interface CountedSession {
  /** Number of the session that it is shown as: itself, or the root of its subagents. */
  readonly root: number;
  readonly agent: string;
  /** `<source>/<session id>` of the root. */
  readonly name: string;
  /** Of the root, by a name that is unique in the store. */
  readonly repository?: string;
  /** Of the root, see `configFolders`; only if they were asked for. */
  readonly configFolder?: string;
  readonly firstMs: number;
  /** Its usage was never reported, so it is unknown, not zero. */
  readonly isUsageUnknown: boolean;
}

/** The sessions of a query, by their numbers in the store; subagents' sessions are separate entries. @param folders by session */
export function countedSessions(
  db: Database,
  deps: Pick<SessionSource, "agents">,
  { agent, repository, session }: Pick<UsageQuery, "agent" | "repository" | "session">,
  folders: ReadonlyMap<number, string> = new Map(),
): ReadonlyMap<number, CountedSession> {
  const stored = new Map(storedSessions(db).map((row) => [row.id, row]));
  const rootOf = (number: number): number => {
    const seen = new Set<number>();
    for (let ancestor = number; ; ) {
      const parent = stored.get(ancestor)?.parent ?? undefined;
      if (parent === undefined || !stored.has(parent) || seen.has(ancestor)) return ancestor;
      seen.add(ancestor);
      ancestor = parent;
    }
  };
  const repositories = new Map(
    [...stored].flatMap(([number, { repository: text, cwd, isHidden }]) => {
      const place = isHidden ? undefined : repositoryOrFolder(text, cwd);
      return place === undefined ? [] : [[number, place] as const];
    }),
  );
  const names = repositoryNames(repositories.values());
  const counted = new Map<number, CountedSession>();
  for (const [number, row] of stored) {
    const root = rootOf(number);
    const owner = stored.get(root) ?? row;
    if (row.isHidden || owner.isHidden || row.startedOnly) continue;
    const { source } = owner;
    const place = repositories.get(root);
    const configFolder = folders.get(root);
    if (agent !== undefined && source !== agent) continue;
    if (repository !== undefined && (place === undefined || !names.isMeant(place, repository))) continue;
    if (session !== undefined && root !== session) continue;
    const card = cardOf(deps, source);
    const isReported = card?.tokens === "transcript" && (owner.isRead || !(owner.wasUsed || owner.namesUnread));
    counted.set(number, {
      root,
      agent: source,
      name: `${source}/${owner.sessionId}`,
      ...(place !== undefined && { repository: names.nameOf(place) }),
      ...(configFolder !== undefined && { configFolder }),
      firstMs: row.firstMs,
      isUsageUnknown: card?.callsModels !== false && !owner.hasUsage && !isReported,
    });
  }
  return counted;
}

// --- internal ---

type StoredRow = [
  id: number,
  source: string,
  sessionId: string,
  parent: number | null,
  firstUnits: number,
  repository: string | null,
  cwd: string | null,
  hidden: number,
  read: number,
  hasUsage: number,
  used: number,
  unread: number,
  startedOnly: number,
];

const COLUMNS: Columns<StoredRow> = [
  "id",
  "source",
  "session_id",
  "parent",
  timeUnits("first_ms"),
  "repository",
  "cwd",
  "pruned_ms IS NOT NULL OR excluded = 1",
  "EXISTS (SELECT 1 FROM positions p WHERE p.session = s.id)",
  `EXISTS (SELECT 1 FROM model_calls c WHERE c.session = s.id AND coalesce(c.input, c.output) IS NOT NULL)
     OR EXISTS (SELECT 1 FROM packed_usage u WHERE u.session = s.id AND coalesce(u.input, u.output) IS NOT NULL)`,
  WAS_USED,
  NAMES_UNREAD,
  STARTED_ONLY,
];

const storedSessions = (db: Database) =>
  jsonRows<StoredRow>(db, COLUMNS, "sessions s").map(
    ([id, source, sessionId, parent, units, repository, cwd, hidden, read, hasUsage, used, unread, startedOnly]) => ({
      id,
      source,
      sessionId,
      parent,
      firstMs: fromTimeUnits(units),
      repository,
      cwd,
      isHidden: hidden === 1,
      isRead: read === 1,
      hasUsage: hasUsage === 1,
      wasUsed: used === 1,
      namesUnread: unread === 1,
      startedOnly: startedOnly === 1,
    }),
  );
