import type { ChangeGroup } from "../../wire-changes.ts";

/** What the groups are called, and where they come from. */
export const GROUP_NAMES = {
  change: {
    title: "Change",
    one: "change",
    many: "Changes",
    source: "A change is known if an agent created a pull request, or worked on a branch other than the default one.",
  },
  commit: {
    title: "Commit",
    one: "commit",
    many: "Commits",
    source: "A commit is known if an agent made it while its hooks were active.",
  },
  branch: {
    title: "Branch",
    one: "branch",
    many: "Branches",
    source: "Branches are known if hooks were active; work on the default branch belongs to none.",
  },
  ticket: {
    title: "Ticket",
    one: "ticket",
    many: "Tickets",
    source: "A ticket is known if the name of a branch contains its id.",
  },
} as const satisfies Record<
  ChangeGroup,
  { readonly title: string; readonly one: string; readonly many: string; readonly source: string }
>;

export const pluralOf = (by: ChangeGroup): string => GROUP_NAMES[by].many.toLowerCase();
