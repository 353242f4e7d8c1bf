import { describePrices } from "#core/telemetry/cost.ts";
import { localTime, plural } from "#kit/text/figures.ts";
import { flow, type Piece, printable, type Terminal, wrapped } from "#kit/text/terminal.ts";
import { chargesOf } from "../charges.ts";
import { coveredNotes } from "../covered.ts";
import type { Explanation, SessionChange, SessionResults } from "../explain.ts";
import { findingsOf, unknownsOf } from "../findings.ts";
import { listPriceNote } from "../prices.ts";
import { commitTexts, KINDS } from "./change.ts";
import { cacheTable, moneyTable, timeTable } from "./explain-tables.ts";
import { childSentence } from "./family.ts";

/**
 * An explanation for people: what the session led to, findings, where the time went, where the money went, notes.
 *
 * @param title the agent's
 * @param heading the session's title, `printable`; empty: none
 */
export function* explanationLines(
  explanation: Explanation,
  { title, heading = "" }: { readonly title: string; readonly heading?: string },
  terminal: Terminal,
): Generator<string> {
  if (heading !== "") yield* flow([[{ text: heading, style: "bold" }]], terminal);
  yield* flow(identity(explanation, title), terminal);
  const findings = findingsOf(explanation).slice(0, MAX_FINDINGS);
  const sentences = [
    ...resultSentences(explanation.results),
    ...childSentence(explanation.family, explanation.view),
    ...findings.map(({ text }) => text),
  ];
  if (sentences.length > 0) yield "";
  for (const text of sentences) yield* wrapped({ text: "- ", style: "dim" }, text, terminal);
  for (const tableOf of [timeTable, moneyTable, cacheTable]) yield* afterSpace(tableOf(explanation, terminal));
  const charges = chargesOf(explanation.money.total);
  const notes = [
    ...coveredNotes(explanation.view.covered),
    ...(charges.length === 0 ? [] : [`besides tokens: ${charges.join(", ")}`]),
    ...unknownsOf(explanation),
    ...(explanation.money.total.costNanoUsd === undefined
      ? []
      : [...(explanation.view.onSubscription === true ? [listPriceNote([printable(title)])] : []), describePrices()]),
  ];
  if (notes.length > 0) yield "";
  for (const note of notes) yield* wrapped({ text: "" }, note, terminal);
}

// --- internal ---

/** With the tables below, this fills a screen. */
const MAX_FINDINGS = 5;

function* afterSpace(lines: Iterable<string>): Generator<string> {
  let isFirst = true;
  for (const line of lines) {
    if (isFirst) yield "";
    isFirst = false;
    yield line;
  }
}

function identity({ view }: Explanation, title: string): readonly (readonly Piece[])[] {
  const { stored, facts, segments } = view;
  const version = stored.agentVersion === undefined ? "" : ` ${stored.agentVersion}`;
  const branch = facts.repository?.branch === undefined ? "" : `@${facts.repository.branch}`;
  return [
    [{ text: printable(title), style: "bold" }, { text: printable(version) }],
    ...(facts.repository === undefined ? [] : [[{ text: printable(`${facts.repository.name}${branch}`) }]]),
    [{ text: printable(stored.sessionId) }],
    [{ text: `started ${localTime(segments[0]?.startMs ?? stored.firstMs)}` }],
  ];
}

/** What a session led to, in at most four sentences; none if nothing is known. */
function resultSentences({ commits, changes }: SessionResults): readonly string[] {
  const made = commits.filter(({ certainty }) => certainty === "observed");
  const inferred = commits.filter(({ certainty }) => certainty === "inferred");
  const created = changes.filter(({ isCreated }) => isCreated);
  const others = changes.filter(({ isCreated }) => !isCreated);
  return [
    ...(made.length === 0 ? [] : [`It made ${plural(made.length, "commit")}: ${commitTexts(made, MAX_NAMES)}.`]),
    ...(inferred.length === 0
      ? []
      : [
          `${plural(inferred.length, "commit")} appeared while its tools ran and may be somebody else's: ${commitTexts(inferred, MAX_NAMES)}.`,
        ]),
    ...(created.length === 0 ? [] : [`It created ${namesOf(created)}.`]),
    ...(others.length === 0 ? [] : [`Its work counts for ${namesOf(others)}.`]),
  ];
}

/** Of each sentence. */
const MAX_NAMES = 3;

function namesOf(changes: readonly SessionChange[]): string {
  const names = changes
    .slice(0, MAX_NAMES)
    .map(
      ({ kind, name, certainty }) =>
        `${kind === "issue" ? "issue" : KINDS[kind]} ${printable(name)}${certainty === "inferred" ? " (inferred)" : ""}`,
    );
  const more = changes.length - names.length;
  return `${names.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
