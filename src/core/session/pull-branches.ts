import type { EntryOf } from "../model/transcript.ts";
import { isNotedBranch, NO_BRANCH, notedBranch } from "../rules/change-facts.ts";

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

function withBranch(pull: EntryOf<"change">, branches: readonly EntryOf<"change">[]): EntryOf<"change"> {
  const noted = notedBranch(branches, pull.timeMs);
  const isKnown = noted?.certainty === "observed" && noted.change !== NO_BRANCH;
  return isKnown ? { ...pull, branch: noted.change } : pull;
}
