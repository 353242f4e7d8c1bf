import { cardOf } from "#core/rules/cards.ts";
import { costText, plural } from "#kit/text/figures.ts";
import { type Piece, printable } from "#kit/text/terminal.ts";
import type { SessionSource } from "#store/sessions/read-session.ts";
import type { StoredSession } from "#store/sessions.ts";
import { hasUsage } from "../call-totals.ts";
import { childrenBySpan, descendants, type Family, type FamilySums } from "../family.ts";
import type { SessionSummary } from "../session-summary.ts";

/** The parts of a line, for `flow`. */
type Parts = readonly (readonly Piece[])[];

/** Who started the session; nothing if that is not known. */
export function parentParts({ parent }: Family, cards: Cards): Parts {
  if (parent === undefined) return [];
  const { launcher, call, knownBy } = parent;
  return [
    [{ text: "started by ", style: "dim" }, { text: named(launcher, cards) }],
    [{ text: call === undefined ? "call unknown" : `in ${calledOf(call)}` }],
    ...(knownBy === "processes" ? [[{ text: "known by its process" }]] : []),
  ];
}

/** The sessions below, one line each, and what all of them cost together. */
export function* childParts({ children, withChildren }: Family, cards: Cards): Generator<Parts> {
  if (withChildren === undefined) return;
  for (const { child, depth } of descendants(children)) {
    yield [
      [{ text: `${"  ".repeat(depth)}started `, style: "dim" }, { text: named(child.summary.stored, cards) }],
      [{ text: costOf(child.summary) }],
      ...(child.call === undefined ? [] : [[{ text: `in ${calledOf(child.call)}` }]]),
    ];
  }
  yield [[{ text: "with child sessions: ", style: "dim" }, { text: familyCost(withChildren) }]];
}

/** The sessions that calls started, for the rows of the calls. */
export const namesBySpan = (family: Family, view: Pick<SessionSummary, "facts">): ReadonlyMap<string, string> =>
  new Map(
    [...childrenBySpan(family, view)].map(([spanId, children]) => [
      spanId,
      `→ ${children.map(({ summary }) => shortName(summary.stored)).join(", ")}`,
    ]),
  );

/** What `explain` says about the sessions below; nothing without any. */
export function childSentence({ children, withChildren }: Family, own: SessionSummary): readonly string[] {
  if (withChildren === undefined) return [];
  const names = [...descendants(children)]
    .slice(0, MAX_NAMES)
    .map(({ child: { summary } }) => `${printable(shortName(summary.stored))} (${costOf(summary)})`);
  const more = withChildren.sessions > names.length ? ` and ${withChildren.sessions - names.length} more` : "";
  return [
    `Its commands started ${plural(withChildren.sessions, "child session")}: ${names.join(", ")}${more}. It cost ` +
      `${costOf(own)}, and ${familyCost(withChildren)} with them.`,
  ];
}

// --- internal ---

type Cards = Pick<SessionSource, "agents">;

const MAX_NAMES = 3;

const shortName = ({ source, sessionId }: StoredSession): string => `${source} ${sessionId.slice(0, 8)}`;

const named = ({ source, sessionId }: StoredSession, cards: Cards): string =>
  `${printable(cardOf(cards, source)?.title ?? source)} ${printable(sessionId)}`;

const calledOf = ({ name, callId }: { readonly name: string; readonly callId: string }): string =>
  `${printable(name)} ${printable(callId)}`;

const costOf = ({ sums, facts }: Pick<SessionSummary, "sums" | "facts">): string =>
  hasUsage(sums) || facts.usageUnknown === true ? costText(sums) : "no model call";

/** `$1.20`; `≥$1.20` if not all of it is known; `?` if nothing is. */
function familyCost({ sums, withoutUsage }: FamilySums): string {
  const text = costText(sums);
  return withoutUsage > 0 && text.startsWith("$") ? `≥${text}` : text;
}
