import type { Agent } from "#core/model/agent.ts";
import { suggest } from "#kit/suggest.ts";
import { costText, count, localTime, percentOf } from "#kit/text/figures.ts";
import { clip, printable, type Terminal } from "#kit/text/terminal.ts";
import { startOfDay } from "#kit/text/times.ts";
import type { Database } from "#store/database.ts";
import { findSessions } from "#store/queries.ts";
import { firstActivity } from "#store/session-list.ts";
import { dearestSession } from "#store/session-order.ts";
import { type StoredSession, sessionById } from "#store/sessions.ts";
import { repositoryOrFolder } from "../repositories.ts";
import { type SessionSummary, summarise } from "../session-summary.ts";
import { type SessionTitle, shortTitle, titleOf, toolTitle } from "../titles.ts";
import { usage } from "../usage.ts";
import type { UsageRow } from "../usage-rows.ts";
import { line, periodLines } from "./overview.ts";

/** What is most worth knowing of all sessions. */
export interface Answer {
  readonly lines: readonly string[];
  /** The session with the highest cost; absent if no cost is known. */
  readonly dearest?: SessionSummary & {
    readonly title: SessionTitle;
    /** By which commands find it. */
    readonly name: string;
  };
  /** The tool with the most failed calls; absent if none failed. */
  readonly failing?: UsageRow;
}

/** @returns `undefined` if the store has no session; `lines`: what was used in all, and today */
export function answerOf(
  db: Database,
  agents: readonly Agent[],
  nowMs: number,
  terminal: Terminal,
): Answer | undefined {
  const firstMs = firstActivity(db);
  if (firstMs === undefined) return undefined;
  const id = dearestSession(db);
  const summary = id === undefined ? undefined : summarise(db, sessionById(db, id), { agents });
  const [failing] = usage(db, { agents }, { by: ["tool"] })
    .filter(({ tools }) => (tools?.errors ?? 0) > 0)
    .sort((a, b) => (b.tools?.errors ?? 0) - (a.tools?.errors ?? 0));
  return {
    lines: [
      ...periodLines(db, agents, `Since ${localTime(firstMs).slice(0, DATE_LENGTH)}`, 0, terminal),
      ...periodLines(db, agents, "Today", startOfDay(nowMs), terminal),
    ],
    ...(summary !== undefined && {
      dearest: { ...summary, title: titleOf(db, summary), name: shortName(db, summary.stored) },
    }),
    ...(failing !== undefined && { failing }),
  };
}

/** The answer for people, with what to try next: five lines, if cost and a failure are known. */
export function answerLines(
  { lines, dearest, failing }: Answer,
  terminal: Terminal,
  hasNext: boolean,
): readonly string[] {
  return [
    ...lines,
    ...(dearest === undefined ? [] : line("Dearest", dearestParts(dearest), terminal)),
    ...(failing === undefined ? [] : line("Fails most", failingParts(failing), terminal)),
    ...(hasNext ? line("Next", nextParts(dearest), terminal) : []),
  ];
}

// --- internal ---

/** The beginning of a session's id if no other has it. */
function shortName(db: Database, { sessionId }: StoredSession): string {
  const short = sessionId.slice(0, ID_LENGTH);
  return printable(findSessions(db, short, 2).length === 1 ? short : sessionId);
}

const ID_LENGTH = 8;
const DATE_LENGTH = "2026-11-21".length;
const MAX_TITLE = 60;

function dearestParts({ stored, facts, sums, title }: NonNullable<Answer["dearest"]>): readonly string[] {
  const place = repositoryOrFolder(facts.repository, stored.cwd)?.name;
  const text = clip(shortTitle(title), MAX_TITLE);
  return [
    costText(sums),
    ...(text === "" ? [] : [text]),
    ...(place === undefined ? [] : [printable(place)]),
    localTime(stored.firstMs).slice(0, DATE_LENGTH),
  ];
}

function failingParts({ key, tools }: UsageRow): readonly string[] {
  const { errors = 0, calls = 0 } = tools ?? {};
  return [
    printable(toolTitle(key.tool ?? "unknown")),
    `${count(errors)} of ${count(calls)} calls (${percentOf(errors / calls)})`,
  ];
}

function nextParts(dearest: Answer["dearest"]): readonly string[] {
  const { name } = dearest ?? {};
  const why = name === undefined ? [] : [`${suggest(`explain ${name}`)} says where its money went`];
  return [...why, `${suggest("view")} shows all in the browser`];
}
