import type { ChangeDimension } from "../../wire/params.ts";

/** What changes of each kind are called together, and when they are known; in the order in which the page offers them. */
export const GROUPS = {
  change: {
    many: "Changes",
    source: "A change is a pull request, a ticket, or a branch other than the default one, that a session worked on.",
  },
  commit: {
    many: "Commits",
    source: "A commit is known if a session's tool call made it, or if it contains files that a session edited.",
  },
  branch: {
    many: "Branches",
    source: "Branches are known from hooks and from most agents' files; work on the default branch belongs to none.",
  },
  ticket: {
    many: "Tickets",
    source: "A ticket is known if the name of a branch, or a trailer of a commit, contains its id.",
  },
} as const satisfies Record<ChangeDimension, { readonly many: string; readonly source: string }>;

export const GROUP_NAMES = Object.keys(GROUPS) as readonly ChangeDimension[];
