import type { ChangeDimension } from "../../wire/changes.ts";

/** What changes of each kind are called together, and when they are known; in the order in which the page offers them. */
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
} as const satisfies Record<ChangeDimension, { readonly many: string; readonly source: string }>;

export const GROUP_NAMES = Object.keys(GROUPS) as readonly ChangeDimension[];
