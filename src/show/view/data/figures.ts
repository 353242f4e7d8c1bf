import { cardOf } from "#core/rules/cards.ts";
import type { Database } from "#store/database.ts";
import type { SessionSource } from "#store/sessions/read-session.ts";
import type { UsageQuery } from "../../report/query.ts";
import type { UsageRow } from "../../report/usage-row.ts";
import type { UsageFigures } from "../wire/figures.ts";
import type { Split } from "../wire/usage.ts";
import type { FilterValues } from "./filter-values.ts";
import { toSums } from "./rows.ts";
import { STARTED } from "./session-sql.ts";

/** What the views with figures are asked for. */
export interface FiguresQuery extends Pick<UsageQuery, "agent" | "model" | "repository" | "timeZone"> {
  /** @default start of the first session */
  readonly sinceMs?: number;
  /** @default now */
  readonly untilMs?: number;
  readonly nowMs: number;
}

export type FiguresDeps = Pick<SessionSource, "agents"> & { readonly filterValues: (db: Database) => FilterValues };

export const figuresOf = ({ sessions, calls, turns, tools, sessionsWithoutUsage }: UsageRow): UsageFigures => ({
  sessions,
  turns: turns?.turns ?? null,
  toolCalls: tools?.calls ?? null,
  failedTools: tools?.errors ?? null,
  sums: toSums(calls ?? NO_CALLS, sessionsWithoutUsage > 0),
  cacheReportedInput: calls?.cacheReportedInput ?? null,
  cacheReportedRead: calls?.cacheReportedRead ?? null,
  modelMs: modelMsOf(calls),
  toolMs: tools?.toolMs ?? null,
  sessionsWithoutUsage,
});

/** A group's display name; `null`: unknown. */
export const nameOfKey = (deps: Pick<FiguresDeps, "agents">, split: Split, key: string | null): string | null =>
  key === null || split !== "agent" ? key : (cardOf(deps, key)?.title ?? key);

/** Start of the first session. */
export function firstMs(db: Database): number | undefined {
  const first = db
    .prepare(`SELECT min(${STARTED}) AS ms FROM sessions s WHERE s.pruned_ms IS NULL AND s.excluded = 0`)
    .get()?.["ms"];
  return typeof first === "number" ? first : undefined;
}

// --- internal ---

/** `null` if no call took any time: then the agents do not report when their calls began. */
function modelMsOf(calls: UsageRow["calls"]): number | null {
  if (calls === undefined) return null;
  return calls.modelMs === 0 && calls.modelCalls + calls.aggregateRecords > 0 ? null : calls.modelMs;
}

const NO_CALLS = { modelCalls: 0, aggregateRecords: 0, callsWithoutUsage: 0, incompleteCalls: 0, unpricedCalls: 0 };
