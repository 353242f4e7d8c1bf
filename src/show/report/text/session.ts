import type { Agent } from "#core/model/agent.ts";
import { cardOf } from "#core/rules/cards.ts";
import { flow, type Terminal, wrapped } from "#kit/text/terminal.ts";
import type { Database } from "#store/database.ts";
import { settledSpans } from "#store/spans.ts";
import { noPriceNotesOf } from "../prices.ts";
import type { Idle } from "../session-end.ts";
import type { SessionView } from "../session-view.ts";
import { rowCalls } from "../waterfall/row-sums.ts";
import { waterfall } from "../waterfall/waterfall.ts";
import { agentReported, hidden, identity, life, segmentTitle, totals } from "./session-head.ts";

/** What a session is shown with. */
interface SessionTexts {
  readonly agents: readonly Agent[];
  readonly idle: Idle;
  /** Its title, `printable`; empty: none. */
  readonly heading: string;
  /** What was read of its transcript, if there is something to say; otherwise empty. */
  readonly transcript: string;
}

/** A session for people: head, then one waterfall per segment, each with its own time axis. */
export function* sessionLines(
  db: Database,
  view: SessionView,
  { agents, idle, heading, transcript }: SessionTexts,
  terminal: Terminal,
): Generator<string> {
  const { stored } = view;
  const title = cardOf({ agents }, stored.source)?.title ?? stored.source;
  if (heading !== "") yield* flow([[{ text: heading, style: "bold" }]], terminal);
  yield* flow(identity(view, title), terminal);
  yield* flow(life(view, idle), terminal);
  yield* flow(totals(view), terminal);
  for (const note of noPriceNotesOf(view.calls)) yield* wrapped({ text: "" }, note, terminal);
  yield* flow(hidden(view), terminal);
  yield* flow(agentReported(view), terminal);
  if (transcript !== "") yield* wrapped({ text: "" }, transcript, terminal);
  const calls = rowCalls(view.calls, view.facts);
  let turnsBefore = 0;
  for (const segment of view.segments) {
    yield "";
    if (view.segments.length > 1) yield* flow(segmentTitle(segment, view.segments.length, idle), terminal);
    const settled = Array.from(settledSpans(db, stored.id, segment.ordinal), (record) => ({
      record,
      segment: segment.ordinal,
    }));
    const open = view.openSpans.filter((span) => span.segment === segment.ordinal);
    const own = calls.filter((call) => call.segment === segment.ordinal);
    yield* waterfall([...settled, ...open], own, terminal, turnsBefore);
    turnsBefore += view.turnList.filter((turn) => turn.segment === segment.ordinal && isPrompted(turn.origin)).length;
  }
  if (view.segments.length === 0) {
    yield "";
    yield* flow([[{ text: "no turn yet", style: "dim" }]], terminal);
  }
}

// --- internal ---

const isPrompted = (origin: string): boolean => origin === "human" || origin === "machine";
