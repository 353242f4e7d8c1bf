import type { Agent } from "../../model/agent.ts";
import type { Database } from "../../store/database.ts";
import { printable } from "../../text/terminal.ts";
import { startOfBucket } from "../buckets.ts";
import type { Question } from "../question.ts";
import { usage } from "../usage.ts";
import { titleOf } from "./usage-title.ts";

/** One line for a question without any usage: the names or the days that the store has instead. */
export function noUsageText(db: Database, agents: readonly Agent[], { query }: Question): string {
  for (const dimension of ["agent", "model", "repository"] as const) {
    const name = query[dimension];
    if (name === undefined) continue;
    if (usage(db, { agents }, { by: [], [dimension]: name }).length > 0) continue;
    const names = usage(db, { agents }, { by: [dimension] }).flatMap(({ key }) => key[dimension] ?? []);
    const known = names.slice(0, MAX_KNOWN).map(printable).join(", ");
    const list = names.length === 0 ? "none" : `${known}${names.length > MAX_KNOWN ? " and more" : ""}`;
    return `no session of ${dimension} "${printable(name)}"; in the store: ${list}`;
  }
  const { sinceMs, untilMs = Infinity, ...filters } = query;
  const days = usage(db, { agents }, { ...filters, by: ["day"] }).flatMap(({ key }) => key.day ?? []);
  const last = days.findLast((day) => startOfBucket(day) < sinceMs);
  const next = days.find((day) => startOfBucket(day) >= untilMs);
  const when =
    last !== undefined
      ? `; the last was on ${last}: --since ${last}`
      : next !== undefined
        ? `; the first was on ${next}`
        : "";
  return `no ${titleOf({ query, isOverview: false })}${when}`;
}

// --- internal ---

const MAX_KNOWN = 12;
