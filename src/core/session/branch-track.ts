import type { EntryOf } from "../model/transcript.ts";
import { changeKey, isNotedBranch, NO_BRANCH, notedBranch } from "../rules/change-facts.ts";

/** What is known of a session whose transcript was read in part. */
interface ReadSoFar {
  /** The branch that it noted last; `NO_BRANCH` if it noted that there is none. */
  readonly branch: string | undefined;
  /** When the current turn's prompt was written. */
  readonly promptMs: number | undefined;
  /** When the main agent was last active before it. */
  readonly beforeMs: number | undefined;
  /** When it was last active. */
  readonly lastMs: number | undefined;
}

/**
 * Finds out on which branch each turn ended, from the facts of a transcript in their order. Each fact that it returns counts from the turn
 * in which the branch was checked out. Without branches it does almost nothing, because imports pass millions of facts.
 */
export class BranchTrack {
  /** The branch before the first fact that is read now. */
  readonly #before: string;
  #branch: string;
  #lastMs = Number.NEGATIVE_INFINITY;
  /** A branch that is checked out in the current turn counts from this time on. */
  #turnFromMs: number | undefined;
  /** The last noted branch, if the main agent has done nothing since then. */
  #next: EntryOf<"session"> | undefined;
  readonly #found: EntryOf<"change">[] = [];

  constructor(known?: ReadSoFar) {
    const { branch = NO_BRANCH, promptMs, beforeMs, lastMs } = known ?? {};
    this.#before = branch;
    this.#branch = branch;
    if (beforeMs !== undefined) this.#lastMs = beforeMs;
    if (promptMs !== undefined) this.#turnFromMs = this.#afterLast(promptMs);
    if (lastMs !== undefined) this.#lastMs = lastMs;
  }

  /** A fact about the session, without secrets. Others than branches change nothing. */
  enter(entry: EntryOf<"session">): void {
    if (entry.branches !== undefined) this.#next = entry;
  }

  /** A prompt of the main agent: what was noted since its last activity counts for the new turn. */
  prompt(timeMs: number): void {
    this.#turnFromMs = this.#afterLast(timeMs);
    if (this.#next !== undefined) this.#settle(this.#next, this.#turnFromMs);
  }

  /** A model call or a tool's result of the main agent: what was noted before counts for this turn. */
  activity(timeMs: number): void {
    if (timeMs > this.#lastMs) this.#lastMs = timeMs;
    if (this.#next !== undefined) this.#settle(this.#next, this.#turnFromMs);
  }

  /** The branches so far. */
  found(): readonly EntryOf<"change">[] {
    if (this.#next !== undefined) this.#settle(this.#next, undefined);
    return this.#found;
  }

  #settle(noted: EntryOf<"session">, turnFromMs: number | undefined): void {
    this.#next = undefined;
    const { timeMs, gitBranch, branches } = noted;
    const branch = gitBranch ?? NO_BRANCH;
    if (branch === this.#branch || (gitBranch === undefined && branches === "once")) return;
    this.#branch = branch;
    // Files of a session need not be in order of time
    const fromMs = Math.min(turnFromMs ?? this.#afterLast(timeMs), timeMs);
    // The turn did not end on the branch that was found before
    if (this.#found.at(-1)?.timeMs === fromMs) this.#found.pop();
    if (branch === (this.#found.at(-1)?.change ?? this.#before)) return;
    const fact = { changeKind: "branch", change: branch } as const;
    this.#found.push({
      kind: "change",
      // Of two branches in one turn the later one counts: rows of one time are in order of their keys
      key: `change:branch@${timeMs}:${changeKey(fact)}`,
      timeMs: fromMs,
      ...fact,
      certainty: branches === "followed" ? "observed" : "inferred",
      how: "transcript",
    });
  }

  /** A time after the last activity and before the next one: hooks can report a prompt earlier than the transcript. */
  #afterLast(timeMs: number): number {
    const lastMs = this.#lastMs === Number.NEGATIVE_INFINITY ? timeMs - FIRST_MS : this.#lastMs;
    return Math.min(lastMs + AFTER_MS, timeMs - AFTER_MS);
  }
}

type ChangeEntry = EntryOf<"commit"> | EntryOf<"change">;

/** Commits and changes of a session, with the branches of the pull requests that it created, as far as its transcript names them. */
export function withPullBranches(facts: readonly ChangeEntry[]): readonly ChangeEntry[] {
  const branches = facts.filter((one) => one.kind === "change").filter(isNotedBranch);
  if (branches.length === 0) return facts;
  return facts.map((one) => (one.kind === "change" && needsBranch(one) ? withBranch(one, branches) : one));
}

/** Whether a call created a pull request whose branch nothing printed. */
export const needsBranch = ({
  changeKind,
  isCreated,
  isElsewhere,
  branch,
}: Pick<EntryOf<"change">, "changeKind" | "isCreated" | "isElsewhere" | "branch">): boolean =>
  changeKind === "pull_request" && isCreated === true && isElsewhere !== true && branch === undefined;

// --- internal ---

const AFTER_MS = 0.5;
/** The hook of the first prompt comes less than this before the transcript's first fact. */
const FIRST_MS = 60_000;

function withBranch(pull: EntryOf<"change">, branches: readonly EntryOf<"change">[]): EntryOf<"change"> {
  const noted = notedBranch(branches, pull.timeMs);
  const isKnown = noted?.certainty === "observed" && noted.change !== NO_BRANCH;
  return isKnown ? { ...pull, branch: noted.change } : pull;
}
