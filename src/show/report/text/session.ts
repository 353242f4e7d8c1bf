import type { Agent } from "#core/model/agent.ts";
import { cardOf } from "#core/rules/cards.ts";
import { flow, type Terminal, wrapped } from "#kit/text/terminal.ts";
import type { Database } from "#store/database.ts";
import { settledSpans } from "#store/spans.ts";
import { coveredNotes } from "../covered.ts";
import { familyOf } from "../family.ts";
import { missingNotesOf } from "../missing.ts";
import { nativeBySpan } from "../native/notes.ts";
import type { Idle } from "../session-end.ts";
import type { SessionView } from "../session-view.ts";
import { NO_LINES, type SpanLines } from "../story.ts";
import type { ShownRows } from "../waterfall/fold.ts";
import { rowCalls } from "../waterfall/row-sums.ts";
import { waterfall } from "../waterfall/waterfall.ts";
import { childParts, namesBySpan, parentParts } from "./family.ts";
import { agentReported, charges, hidden, identity, life, native, segmentTitle, totals } from "./session-head.ts";

/** What a session is shown with. */
interface SessionTexts {
  readonly agents: readonly Agent[];
  readonly idle: Idle;
  /** Its title, `printable`; empty: none. */
  readonly heading: string;
  /** What was read of its transcript, if there is something to say; otherwise empty. */
  readonly transcript: string;
  /** What was asked and done, where the agent's files say it. @default none */
  readonly lines?: SpanLines;
  /** @default all */
  readonly rowsShown?: ShownRows;
}

/** A session for people: head, then one waterfall per segment, each with its own time axis. */
export function* sessionLines(
  db: Database,
  view: SessionView,
  { agents, idle, heading, transcript, lines = NO_LINES, rowsShown = "all" }: SessionTexts,
  terminal: Terminal,
): Generator<string> {
  const { stored } = view;
  const family = familyOf({ db, agents }, view);
  const title = cardOf({ agents }, stored.source)?.title ?? stored.source;
  if (heading !== "") yield* flow([[{ text: heading, style: "bold" }]], terminal);
  yield* flow(identity(view, title), terminal);
  yield* flow(life(view, idle), terminal);
  yield* flow(parentParts(family, { agents }), terminal);
  yield* flow(totals(view), terminal);
  yield* flow(charges(view), terminal);
  for (const parts of childParts(family, { agents })) yield* flow(parts, terminal);
  for (const note of coveredNotes(view.covered)) yield* wrapped({ text: "" }, note, terminal);
  if (view.segments.length > 0) for (const note of missingNotesOf(view)) yield* wrapped({ text: "" }, note, terminal);
  yield* flow(hidden(view), terminal);
  yield* flow(agentReported(view), terminal);
  yield* flow(native(view), terminal);
  if (transcript !== "") yield* wrapped({ text: "" }, transcript, terminal);
  const calls = rowCalls(view.calls, view.facts);
  const ofSpans = nativeBySpan(view.native, view.facts);
  let turnsBefore = 0;
  for (const segment of view.segments) {
    const turnsOfSegment = view.turnList.filter(
      (turn) => turn.segment === segment.ordinal && isPrompted(turn.origin),
    ).length;
    const isElsewhere = typeof rowsShown === "object" && !isWithin(rowsShown.turn, turnsBefore, turnsOfSegment);
    turnsBefore += turnsOfSegment;
    if (isElsewhere) continue;
    yield "";
    if (view.segments.length > 1) yield* flow(segmentTitle(segment, view.segments.length, idle), terminal);
    const settled = Array.from(settledSpans(db, stored.id, segment.ordinal), (record) => ({
      record,
      segment: segment.ordinal,
    }));
    const open = view.openSpans.filter((span) => span.segment === segment.ordinal);
    const own = calls.filter((call) => call.segment === segment.ordinal);
    yield* waterfall([...settled, ...open], own, terminal, {
      turnsBefore: turnsBefore - turnsOfSegment,
      lines,
      started: namesBySpan(family, view),
      native: ofSpans,
      rowsShown,
    });
  }
  if (view.segments.length === 0) {
    yield "";
    yield* flow([[{ text: "no turn yet", style: "dim" }]], terminal);
  }
}

// --- internal ---

const isWithin = (turn: number, before: number, count: number): boolean => turn > before && turn <= before + count;

const isPrompted = (origin: string): boolean => origin === "human" || origin === "machine";
