import type { Agent } from "#core/model/agent.ts";
import type { Database } from "#store/database.ts";
import { startOfBucket } from "../buckets.ts";
import type { Question } from "../question.ts";
import { usage } from "../usage.ts";
import { unknownNameText } from "./unknown-name.ts";
import { titleOf } from "./usage-title.ts";

/** One line for a question without any usage: the names or the days that the store has instead. */
export function noUsageText(db: Database, agents: readonly Agent[], { query }: Pick<Question, "query">): string {
  const unknown = unknownNameText(db, agents, query);
  if (unknown !== undefined) return unknown;
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
  return `no ${titleOf({ query })}${when}`;
}
