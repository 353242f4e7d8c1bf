import { digestOf } from "#kit/digest.ts";
import type { ChangeFact } from "../model/changes.ts";
import type { EntryOf, TranscriptEntry } from "../model/transcript.ts";

// Apart from their schemas, because most drains check nothing and need no zod

/** Whether an entry is a commit or change: complete as soon as it is read, and part of no turn. */
export const isChangeFact = (entry: TranscriptEntry): entry is EntryOf<"commit"> | EntryOf<"change"> =>
  entry.kind === "commit" || entry.kind === "change";

/** In place of a branch's name while none is checked out, or it is unknown. git allows no branch with this name. */
export const NO_BRANCH = "HEAD";

/** Work on these branches counts for no change. */
export const DEFAULT_BRANCHES: ReadonlySet<string> = new Set(["main", "master", "trunk", "develop", NO_BRANCH]);

/**
 * The branch that the agent's own record names for a time of a session; `NO_BRANCH` if it says that there was none.
 *
 * @param changes of one session, by time
 * @returns `undefined` if the record names no branch up to then
 */
export const notedBranch = <T extends Pick<ChangeFact, "changeKind" | "how"> & { readonly timeMs: number }>(
  changes: readonly T[],
  timeMs: number,
): T | undefined => changes.findLast((one) => isNotedBranch(one) && one.timeMs <= timeMs);

/** Whether a change is a branch that the agent's own record names. */
export const isNotedBranch = ({ changeKind, how }: Pick<ChangeFact, "changeKind" | "how">): boolean =>
  changeKind === "branch" && how === "transcript";

/** Facts about the tickets that a branch's name contains. @param pattern as for `ticketsIn` */
export const ticketsOfBranch = (
  { kind, timeMs, change: branch, certainty }: EntryOf<"change">,
  pattern: string,
): readonly EntryOf<"change">[] =>
  ticketsIn(branch, pattern).map((change) => {
    const fact = { changeKind: "ticket", change, branch } as const;
    // A session can come back to a branch
    return { kind, key: `${changeKey(fact)}:${timeMs}`, timeMs, ...fact, certainty, how: "branch-name" };
  });

/** Ids of tickets in a text, each once. @param pattern a regular expression, as in `changes.ticketPattern` */
export const ticketsIn = (text: string, pattern: string): readonly string[] =>
  [...new Set(text.slice(0, MAX_TEXT_CHARACTERS).match(new RegExp(pattern, "g")) ?? [])].filter(
    (id) => !STANDARD.test(id),
  );

/** Longer names and trailers have no further ids. */
const MAX_TEXT_CHARACTERS = 256;

/** Names of encodings, algorithms and standards look like ids of tickets. */
const STANDARD = /^(?:AES|BASE|CVE|CWE|ES|HTTP|ISO|MD|PEP|RFC|RSA|SHA|UTF)-\d/;

/** What is left of a branch's or ticket's name where names are not kept. */
export const NO_NAME = "-";

/** The key of a commit's entry: the digits that git always prints, so that a short and a full id are one commit. */
export const commitKey = (commit: string): string => `commit:${commit.slice(0, 7)}`;

/** Whether two ids are of one commit: one can have fewer digits than the other. */
export const isSameCommit = (a: string, b: string): boolean => a.startsWith(b) || b.startsWith(a);

/** The key of a change's entry. It reveals no name, so that it can stay where names are removed. */
export const changeKey = ({ changeKind, change, url }: Pick<ChangeFact, "changeKind" | "change" | "url">): string =>
  `change:${changeKind}:${digestOf(changeKind, url ?? change).toString(36)}`;
