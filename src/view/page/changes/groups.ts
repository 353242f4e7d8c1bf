import type { ChangeGroup } from "../../wire-changes.ts";

/** What changes of each kind are called together, and when they are known. */
export const GROUPS = {
  change: {
    many: "Changes",
    source: "A change is known if an agent created a pull request, or worked on a branch other than the default one.",
  },
  commit: { many: "Commits", source: "A commit is known if an agent made it while its hooks were active." },
  branch: {
    many: "Branches",
    source: "Branches are known if hooks were active; work on the default branch belongs to none.",
  },
  ticket: { many: "Tickets", source: "A ticket is known if the name of a branch contains its id." },
} as const satisfies Record<ChangeGroup, { readonly many: string; readonly source: string }>;
