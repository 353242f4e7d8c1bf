import * as z from "zod";

/**
 * `observed`: a tool call of the session printed the id, or certainly made a commit and there is only one that it can have
 * made. `inferred`: it happened in the session's worktree, but another program or a user may have done it. Everything else
 * is unknown and has no fact.
 */
export const Certainty = z.enum(["observed", "inferred"]);
export type Certainty = z.infer<typeof Certainty>;

/**
 * How a commit became known. `printed`: by the call that made it; `reflog`: the log of HEAD has it while a tool call of the session ran;
 * `edits`: it is the first one that changes a file after the session edited it.
 */
const CommitOrigin = z.enum(["printed", "reflog", "edits"]);

/** How HEAD came to the commit. A checkout, a reset, a pull and a fast-forward make no commit. */
export const CommitKind = z.enum(["commit", "amend", "merge", "cherry_pick", "revert", "rebase"]);
export type CommitKind = z.infer<typeof CommitKind>;

/** The id of a commit: all 40 or 64 digits if they are known, otherwise the first digits as git printed them. */
const CommitId = z.string().regex(/^[0-9a-f]{4,64}$/);

/** A commit of a session, without what every entry has. Only ids: its message, author and files are content. */
export const CommitFact = z.object({
  commit: CommitId,
  certainty: Certainty,
  how: CommitOrigin,
  /** Absent: unknown. */
  commitKind: CommitKind.optional(),
  /** The commit that it replaced, if it was amended. Absent: none, or unknown. */
  replaces: CommitId.optional(),
  /** The tool call that made it. */
  callId: z.string().min(1).optional(),
  /** As git printed it, or from HEAD. A name: absent where names are not kept. */
  branch: z.string().optional(),
  /** The call may have worked in another repository than the session's. */
  isElsewhere: z.literal(true).optional(),
});
export type CommitFact = z.infer<typeof CommitFact>;

export const ChangeKind = z.enum(["pull_request", "issue", "ticket", "branch"]);
export type ChangeKind = z.infer<typeof ChangeKind>;

/**
 * How a change became known: a tool call printed it, or the name of the branch or a trailer of a commit's message contains it.
 * For a branch itself, `branch-name` means that HEAD named it at the end of a turn: it counts up to then. `transcript` means that the
 * agent's own record names it: it counts from the turn in which it was checked out.
 */
const ChangeOrigin = z.enum(["printed", "branch-name", "trailer", "transcript"]);

/** What a session worked on, or created: a pull request, an issue, a ticket, a branch. Its title is content. */
export const ChangeFact = z.object({
  changeKind: ChangeKind,
  /** The number of a pull request or issue, the ticket's id (`ABC-123`), the branch's name. */
  change: z.string().min(1),
  certainty: Certainty,
  how: ChangeOrigin,
  /** A call created it, and did not only show it. */
  isCreated: z.literal(true).optional(),
  /** `https://host/owner/repository/pull/12`. Absent: unknown. */
  url: z.string().optional(),
  /** The branch of a pull request. A name. */
  branch: z.string().optional(),
  /** The call may have worked in another repository than the session's. */
  isElsewhere: z.literal(true).optional(),
  /** The commit whose message names it, if a trailer does. */
  commit: CommitId.optional(),
  /** The tool call that printed it. */
  callId: z.string().min(1).optional(),
});
export type ChangeFact = z.infer<typeof ChangeFact>;

/** A repository in which sessions worked. */
export interface StoredRepository {
  readonly id: number;
  /** The remote's address, otherwise the git directory; unique in this store. */
  readonly key: string;
  readonly name?: string;
  readonly url?: string;
  /** The git directory that all worktrees share. Local: never sent. */
  readonly gitDir?: string;
}

/** What stored commits and changes have in common. */
interface StoredFact {
  /** Number of the session. */
  readonly session: number;
  readonly timeMs: number;
  /** The subagent that made it; absent for the main agent. */
  readonly agentId?: string;
  /** Number of the session's repository; absent if it is unknown, or the fact may be from another one. */
  readonly repository?: number;
}

/** A commit as stored: table `commits`. */
export type StoredCommit = CommitFact & StoredFact;

/** A change as stored: table `changes`. */
export type StoredChange = ChangeFact & StoredFact;
