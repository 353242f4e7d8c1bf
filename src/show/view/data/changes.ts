import { sumKnown } from "#kit/numbers.ts";
import { grouped } from "#kit/objects.ts";
import type { Database } from "#store/database.ts";
import { type SessionSource, sessionFactsOf } from "#store/sessions/read-session.ts";
import { type StoredSession, sessionById } from "#store/sessions.ts";
import type { ChangeDimension, Dimension } from "../../report/query.ts";
import { inReadingOrder } from "../../report/text/usage-keys.ts";
import { titleOf, titleText } from "../../report/titles.ts";
import { usageByGroupings } from "../../report/usage.ts";
import type { UsageRow } from "../../report/usage-rows.ts";
import type { ChangeSort } from "../wire/api.ts";
import { ChangeFacts } from "./change-facts.ts";
import { type FiguresDeps, type FiguresQuery, firstMs, nameOfKey } from "./figures.ts";
import { figuresOf, type UsageFigures } from "./rows.ts";

interface ChangesQuery extends Omit<FiguresQuery, "model"> {
  readonly by: ChangeDimension;
  /** Only work of this session, by its number in the store. */
  readonly session?: number;
  /** Only this change. */
  readonly key?: string;
  /** Searched in names, repositories and agents; case-insensitive. */
  readonly text?: string;
  readonly sort: ChangeSort;
  readonly limit: number;
}

/**
 * What commits, pull requests, branches or tickets cost, with the sessions behind them and what became of their commits. The figures are
 * those of `report`: each call belongs to one row or to none.
 */
export function changesOver(
  db: Database,
  deps: FiguresDeps,
  { nowMs: _, key, text, sort, limit, ...query }: ChangesQuery,
) {
  const { by } = query;
  const sinceMs = query.sinceMs ?? firstMs(db) ?? 0;
  const facts = new ChangeFacts(db);
  const { total, without, changes } = figuresByChange(db, deps, facts, { ...query, sinceMs });
  const matching = changes.filter((change) => (key === undefined || change.name === key) && contains(change, text));
  if (sort === "recent") matching.sort((a, b) => (b.timeMs ?? 0) - (a.timeMs ?? 0));
  const shown = matching.slice(0, limit);
  const sessionNames = namesOfSessions(
    db,
    deps,
    shown.flatMap(({ sessions }) => valuesOf(sessions, "session")),
  );
  return {
    kind: "changes" as const,
    by,
    sinceMs,
    /** In the requested order, at most the requested number. */
    rows: shown.map(({ name, row, repositories, agents, timeMs, commits, sessions }) => ({
      /** Id of the commit, `acme/shop#12`, `SHOP-12`, name of the branch. */
      key: name,
      /** Address of the pull request; `null`: unknown, or it has none. */
      url: facts.urlOf(name),
      certainty: row.certainty ?? "inferred",
      /** Display names; empty: unknown. */
      repositories,
      /** Agents by name. */
      agents,
      /** Time of the commit, or when the change was seen last. */
      timeMs,
      figures: figuresOf(row),
      /** `null`: no commit of it is known. */
      outcome: facts.outcomeOf(commits),
      /** The most expensive first. Their figures add up to those of the row. */
      sessions: inReadingOrder(["session"], sessions).flatMap((part) => {
        const session = sessionNames.get(part.key.session ?? "");
        if (session === undefined) return [];
        const agent = nameOfKey(deps, "agent", session.source) ?? "";
        return [{ ...session, agent, prompt: null as string | null, figures: figuresOf(part) }];
      }),
    })),
    /** Number of changes, also beyond the limit. */
    rowCount: matching.length,
    /** Cost of all changes; with that of `without` it adds up to that of `total`. */
    withCost: costOf(changes.map(({ row }) => figuresOf(row))),
    /** Work that led to no change that is known; `null`: there is none. */
    without: without === undefined ? null : figuresOf(without),
    /** All work of the period; `null`: there is none. */
    total: total === undefined ? null : figuresOf(total),
    /** What became of all commits of the rows. */
    outcome: facts.outcomeOf(changes.flatMap(({ commits }) => commits)),
    choices: deps.filterValues(db).choices,
  };
}

/** The changes of one session and its commits, the most expensive first. */
export function changesOfSession(db: Database, deps: Pick<SessionSource, "agents">, { id }: Pick<StoredSession, "id">) {
  const groupings = ["change", "commit"] as const;
  const found = usageByGroupings(
    db,
    deps,
    { session: id },
    groupings.map((by) => [by]),
  );
  return groupings.flatMap((by, i) =>
    inReadingOrder([by], found[i] ?? []).flatMap((row) => {
      const key = row.key[by] ?? null;
      return key === null ? [] : [{ by, key, certainty: row.certainty ?? "inferred" }];
    }),
  );
}

// --- internal ---

/** One commit, pull request, branch or ticket. */
interface Change {
  readonly name: string;
  readonly row: UsageRow;
  readonly repositories: readonly string[];
  /** Titles. */
  readonly agents: readonly string[];
  readonly commits: readonly string[];
  /** Its figures by session. */
  readonly sessions: readonly UsageRow[];
  /** @see ChangeFacts.lastMs */
  readonly timeMs: number | null;
}

/** All changes in reading order, the figures that belong to none, and the total of both. */
function figuresByChange(
  db: Database,
  deps: FiguresDeps,
  facts: ChangeFacts,
  query: Omit<ChangesQuery, "nowMs" | "key" | "text" | "sort" | "limit">,
): { readonly total?: UsageRow; readonly without?: UsageRow; readonly changes: readonly Change[] } {
  const { by } = query;
  const groupings: readonly (readonly Dimension[])[] = [
    [],
    [by],
    [by, "agent"],
    [by, "repository"],
    [by, "session"],
    by === "commit" ? [by] : [by, "commit"],
  ];
  const [[total] = [], all = [], ...parts] = usageByGroupings(db, deps, query, groupings);
  const [agents, repositories, sessions, commits] = parts.map((rows) => grouped(rows, ({ key }) => key[by] ?? null));
  const without = all.find((row) => row.key[by] == null);
  const changes = inReadingOrder([by], all).flatMap((row): readonly Change[] => {
    const name = row.key[by] ?? null;
    if (name === null) return [];
    const commitsOfChange = valuesOf(commits?.get(name), "commit");
    return [
      {
        name,
        row,
        repositories: valuesOf(repositories?.get(name), "repository"),
        agents: valuesOf(agents?.get(name), "agent").map((agent) => nameOfKey(deps, "agent", agent) ?? agent),
        commits: commitsOfChange,
        sessions: sessions?.get(name) ?? [],
        timeMs: facts.lastMs(name, commitsOfChange),
      },
    ];
  });
  return { ...(total && { total }), ...(without && { without }), changes };
}

/** Whether a name of the change contains the text. */
function contains({ name, repositories, agents }: Change, text: string | undefined): boolean {
  const searched = text?.toLowerCase();
  return (
    searched === undefined || [name, ...repositories, ...agents].some((part) => part.toLowerCase().includes(searched))
  );
}

/** The known values of a dimension. */
const valuesOf = (rows: readonly UsageRow[] = [], dimension: Dimension): readonly string[] => [
  ...new Set(rows.flatMap(({ key }) => key[dimension] ?? [])),
];

function costOf(all: readonly UsageFigures[]): Pick<UsageFigures, "cost_usd" | "costIsLowerBound"> {
  const costs = all.map(({ cost_usd }) => cost_usd);
  return {
    cost_usd: all.length === 0 ? 0 : (sumKnown(costs.map((cost) => cost ?? undefined)) ?? null),
    costIsLowerBound: costs.includes(null) || all.some(({ costIsLowerBound }) => costIsLowerBound),
  };
}

/** What sessions are called, by their names in figures (`source/id`). */
function namesOfSessions(db: Database, { agents }: FiguresDeps, names: readonly string[]) {
  const rows = db
    .prepare(
      `SELECT id, source || '/' || session_id AS name FROM sessions
       WHERE source || '/' || session_id IN (SELECT value FROM json_each(?))`,
    )
    .all(JSON.stringify(names));
  return new Map(
    rows.map(({ id, name }) => {
      const stored = sessionById(db, Number(id));
      const { branch: _, ...title } = titleOf(db, { stored, facts: sessionFactsOf({ agents }, stored) });
      return [
        String(name),
        {
          source: stored.source,
          session_id: stored.sessionId,
          /** Changed files and the tools it used most; empty: unknown. */
          title: titleText(title),
          /** Of its last activity. */
          lastMs: stored.lastMs,
        },
      ];
    }),
  );
}
