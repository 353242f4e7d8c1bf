/** Days after a commit reached the default branch at which the lines that are still there are counted. */
export const KEPT_AFTER_DAYS = [1, 7, 30] as const;

export type KeptDay = (typeof KEPT_AFTER_DAYS)[number];

/**
 * What became of a commit. `merged`: it, or the commit that replaced it, is on the default branch; `reverted`: it was, and a later commit
 * reverted it; `open`: only on other branches or tags; `gone`: nothing refers to it any more; `unknown`: it cannot be decided here.
 */
export type Fate = "merged" | "reverted" | "open" | "gone" | "unknown";

export const FATES = ["merged", "reverted", "open", "gone", "unknown"] as const satisfies readonly Fate[];

/** The commit that has the change now, if the observed one was rewritten. */
export interface Rewritten {
  readonly by: string;
  /**
   * How it was found. `patch`: one commit with the same patch id (rebase, cherry-pick); `squash`: one commit with the patch id of several;
   * `amend`: the reflog; `message`: the other commit's message names this one.
   */
  readonly how: "patch" | "squash" | "amend" | "message";
}

/** Lines that a commit added in the files that the agent edited. */
export interface KeptLines {
  readonly written: number;
  /** Of these, on the newest commit of the default branch. */
  readonly now?: number;
  /** Of these, so many days after the commit reached the default branch. Absent: not yet, or unknown. */
  readonly after: Readonly<Partial<Record<KeptDay, number>>>;
}

/** What somebody else recorded in the repository about a commit's author. */
export interface Attestation {
  /** `git-ai`: a note in `refs/notes/ai`; `trailer`: a line at the end of the commit's message. */
  readonly by: "git-ai" | "trailer";
  /** The agent, or the trailer's name. */
  readonly name: string;
  /** Id of a session or checkpoint. */
  readonly id?: string;
  /** Lines that the note attributes to the agent. */
  readonly lines?: number;
}

export interface CommitOutcome {
  /** The commit's id as the caller wrote it, which can be abbreviated. */
  readonly commit: string;
  /** All digits. Absent: the repository does not have the commit. */
  readonly id?: string;
  readonly fate: Fate;
  /** Why the fate is unknown. */
  readonly reason?: string;
  readonly rewritten?: Rewritten;
  readonly revertedBy?: string;
  /** When the commit that reverted it reached the default branch, in milliseconds since the epoch. */
  readonly revertedMs?: number;
  /** When it reached the default branch, in milliseconds since the epoch. */
  readonly landedMs?: number;
  /** Absent: unknown, or the commit was never on the default branch. */
  readonly lines?: KeptLines;
  readonly attested: readonly Attestation[];
  /**
   * The pull request that the commit names which brought it to the default branch, if it is another one: `#12`, or `!12` of GitLab. Never
   * more than inferred: that commit's author can write any number there.
   */
  readonly landingPull?: string;
  /** Ids of tickets in its trailers, and in those of the commit that has its change now; stored as changes of the sessions that made it. */
  readonly tickets?: readonly string[];
}

/** A commit whose outcome is wanted. */
export interface CommitToFollow {
  /** Also its first digits. */
  readonly commit: string;
  /** About when it was made, in milliseconds since the epoch. */
  readonly timeMs: number;
  /** Paths of the files that the agent edited, as it named them. Absent: all files of the commit. */
  readonly files?: readonly string[];
  /** The commit that was made in its place, if that was observed. */
  readonly replacedBy?: string;
  /** It may be in another repository. */
  readonly isElsewhere?: true;
}
