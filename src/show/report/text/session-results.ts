import { plural } from "#kit/text/figures.ts";
import { printable } from "#kit/text/terminal.ts";
import type { SessionChange, SessionResults } from "../session-results.ts";
import { commitTexts, KINDS } from "./change.ts";

/** What a session led to, in at most four sentences; none if nothing is known. */
export function resultSentences({ commits, changes }: SessionResults): readonly string[] {
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

// --- internal ---

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
