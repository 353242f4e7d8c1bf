import { cardOf } from "#core/rules/cards.ts";
import type { Database } from "#store/database.ts";
import type { SessionSource } from "#store/sessions/read-session.ts";
import type { UsageQuery } from "../../report/query.ts";
import type { Split } from "../wire/params.ts";
import type { FilterValues } from "./filter-values.ts";
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
