import type { Agent } from "#core/model/agent.ts";
import { cardOf } from "#core/rules/cards.ts";
import { costText, plural, tokensText } from "#kit/text/figures.ts";
import { flow, type Piece, printable, type Terminal, wrapped } from "#kit/text/terminal.ts";
import { startOfDay } from "#kit/text/times.ts";
import type { Database } from "#store/database.ts";
import { recentSessions } from "#store/queries.ts";
import { hasUsage } from "../call-totals.ts";
import { missingNotes } from "../missing.ts";
import { type Budget, monthOutlooks, NO_BUDGET, outlookParts } from "../month.ts";
import { unpricedModels } from "../prices.ts";
import { repositoryOrFolder } from "../repositories.ts";
import { endOfSession, type Idle } from "../session-end.ts";
import { type SessionSummary, summarise } from "../session-summary.ts";
import { unseenSearches } from "../unseen-searches.ts";
import { usage, usageByGroupings } from "../usage.ts";
import type { UsageRow } from "../usage-rows.ts";

type Agents = readonly Agent[];

/** Today, the last seven days and what is missing in them, the month if it has a budget, and the sessions that are open. @returns `undefined` if the store has no session */
export function overviewLines(
  db: Database,
  agents: Agents,
  idle: Idle,
  terminal: Terminal,
  budget: Budget = NO_BUDGET,
): readonly string[] | undefined {
  const recent = recentSessions(db, MAX_RECENT);
  if (recent.length === 0) return undefined;
  const running = recent
    .filter(({ lastMs }) => lastMs + idle.idleTimeoutMs > idle.nowMs)
    .map((stored) => summarise(db, stored, { agents }))
    .filter((summary) => endOfSession(summary, idle).state === "open");
  return [
    ...periodLines(db, agents, "Today", startOfDay(idle.nowMs), terminal),
    ...periodLines(db, agents, "Last 7 days", startOfDay(idle.nowMs, -6), terminal),
    ...budgetLines(db, agents, idle, terminal, budget),
    ...(running.length === 0 ? line("Running", ["nothing"], terminal) : []),
    ...running.flatMap((one, i) => line(i === 0 ? "Running" : "", runningParts(one, agents), terminal)),
    ...missingLines(db, agents, startOfDay(idle.nowMs, -6), terminal),
  ];
}

/** A line with a title in a column of its own, and the parts behind it. */
export function line(title: string, parts: readonly string[], terminal: Terminal): readonly string[] {
  const [first = "", ...others] = parts;
  const head: readonly Piece[] = [{ text: title.padEnd(TITLE_WIDTH), style: "bold" }, { text: first }];
  return [...flow([head, ...others.map((text) => [{ text }])], terminal)];
}

/** What was used since a time, in one line. */
export function periodLines(
  db: Database,
  agents: Agents,
  title: string,
  sinceMs: number,
  terminal: Terminal,
): readonly string[] {
  const [row] = usage(db, { agents }, { by: [], sinceMs });
  return line(title, row === undefined ? ["no session"] : usageParts(row), terminal);
}

// --- internal ---

/** The most open sessions that are listed. */
const MAX_RECENT = 20;
/** `Since 2026-11-21` and a gap. */
const TITLE_WIDTH = 18;

/** What is missing in the figures since a time: nothing, or sentences below an empty line. */
function missingLines(db: Database, agents: Agents, sinceMs: number, terminal: Terminal): readonly string[] {
  const [[total] = [], models = []] = usageByGroupings(db, { agents }, { sinceMs }, [[], ["model"]]);
  const unpriced = unpricedModels(db, models, { sinceMs });
  const notes = missingNotes({ ...total, unpriced, unseen: unseenSearches(db, { agents }, { sinceMs }) });
  return notes.length === 0 ? [] : ["", ...notes.flatMap((note) => [...wrapped({ text: "" }, note, terminal)])];
}

/** A line for each budget. */
function budgetLines(
  db: Database,
  agents: Agents,
  { nowMs }: Pick<Idle, "nowMs">,
  terminal: Terminal,
  budget: Budget,
): readonly string[] {
  if (budget.month === undefined && Object.keys(budget.repositories).length === 0) return [];
  return monthOutlooks(db, { agents }, budget, { nowMs }).flatMap((outlook) => {
    const { repository } = outlook;
    const parts = [...(repository === undefined ? [] : [printable(repository)]), ...outlookParts(outlook)];
    return line(repository === undefined ? "This month" : "", parts, terminal);
  });
}

function usageParts({ sessions, calls, turns, sessionsWithoutUsage }: UsageRow): readonly string[] {
  const counts = [...(turns === undefined ? [] : [plural(turns.turns, "turn")]), plural(sessions, "session")];
  if (calls === undefined || !hasUsage(calls))
    return [...(sessionsWithoutUsage > 0 ? ["cost unknown"] : ["$0"]), ...counts];
  const lacking = sessionsWithoutUsage === 0 ? [] : [`${plural(sessionsWithoutUsage, "session")} without known usage`];
  return [
    calls.costNanoUsd === undefined ? "cost unknown" : costText(calls),
    `${tokensText(calls)} tokens`,
    ...counts,
    ...lacking,
  ];
}

function runningParts({ stored, facts, sums, turns }: SessionSummary, agents: Agents): readonly string[] {
  const place = repositoryOrFolder(facts.repository, stored.cwd)?.name;
  const cost = hasUsage(sums) && sums.costNanoUsd !== undefined ? costText(sums) : undefined;
  return [
    printable(cardOf({ agents }, stored.source)?.title ?? stored.source),
    ...(place === undefined ? [] : [printable(place)]),
    ...(cost === undefined ? [] : [cost]),
    plural(turns, "turn"),
    printable(stored.sessionId.slice(0, 8)),
  ];
}
