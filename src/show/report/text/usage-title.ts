import { localTime } from "#kit/text/figures.ts";
import { printable } from "#kit/text/terminal.ts";
import type { Question } from "../question.ts";

/** The title of a usage report: `usage since 2026-10-23 · claude-code`. */
export function titleOf({ query }: Pick<Question, "query">): string {
  const since = localTime(query.sinceMs);
  const shortened = (time: string): string => (time.endsWith("00:00:00") ? time.slice(0, 10) : time.slice(0, 16));
  const filters = [query.agent, query.model, query.repository].flatMap((name) =>
    name === undefined ? [] : [printable(name)],
  );
  const until = query.untilMs === undefined ? "" : ` until ${shortened(localTime(query.untilMs))}`;
  return [`usage since ${shortened(since)}${until}`, ...filters].join(" · ");
}
