import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Git } from "./git.ts";
import type { Refs } from "./refs.ts";

/** Commits that are not on the default branch, including those of deleted branches. */
export interface Branches {
  readonly parents: ReadonlyMap<string, readonly string[]>;
  /** Those that a branch or tag contains. */
  readonly reachable: ReadonlySet<string>;
  /** Commits by the time when their author wrote them, in seconds since the epoch. */
  readonly byAuthorTime: ReadonlyMap<string, readonly string[]>;
  /** There are too many: some were not read. */
  readonly isPartial: boolean;
}

/**
 * Reads the commits that branches, tags, reflogs and given commits contain, without those of the default branch.
 *
 * @param commits to read too, because perhaps no branch contains them any more
 * @param sinceMs older commits are not read; milliseconds since the epoch
 * @throws GitError
 */
export async function readBranches(
  git: Git,
  refs: Refs,
  commits: readonly string[],
  sinceMs: number,
): Promise<Branches> {
  const parents = new Map<string, readonly string[]>();
  const tip = refs.tips.get(refs.defaultRef ?? "");
  const others = [...new Set(refs.tips.values())];
  const starts = [...new Set([...others, ...commits])].join("\n");
  const byAuthorTime = new Map<string, readonly string[]>();
  const args = [
    "log",
    "--no-show-signature",
    "--format=%H %at %P",
    "--ignore-missing",
    `--since=@${Math.floor(sinceMs / 1000)}`,
    // Branches that were rebased and deleted
    "--reflog",
    "--stdin",
  ];
  let isPartial = false;
  for await (const record of git.records(args, "\n", `${starts}\n${tip === undefined ? "" : `^${tip}\n`}`)) {
    const [id = "", authored = "", ...above] = record.toString("latin1").trimEnd().split(" ");
    parents.set(id, above);
    byAuthorTime.set(authored, [...(byAuthorTime.get(authored) ?? []), id]);
    isPartial = parents.size >= MAX_COMMITS;
    if (isPartial) break;
  }
  return { parents, reachable: ancestorsIn(parents, others), byAuthorTime, isPartial };
}

/** Commits and all their ancestors, as far as `parents` contains them. */
export function ancestorsIn(parents: ReadonlyMap<string, readonly string[]>, commits: readonly string[]): Set<string> {
  const found = new Set<string>();
  const todo = [...commits];
  for (let at = todo.pop(); at !== undefined; at = todo.pop()) {
    const above = parents.get(at);
    if (above === undefined || found.has(at)) continue;
    found.add(at);
    todo.push(...above);
  }
  return found;
}

/** Amended commit → the commit that replaced it (`git commit --amend`), from the reflogs of HEAD and of all branches. */
export async function readAmends(git: Git, refs: Refs): Promise<ReadonlyMap<string, string>> {
  const amends = new Map<string, string>();
  // Newest first, one log after the other; %gD is the log's name and the entry's number
  const format = "--format=%gD%x00%H%x00%gs";
  for (const log of await logsOf(refs.commonDir)) {
    let newer: { readonly name: string; readonly commit: string; readonly isAmend: boolean } | undefined;
    try {
      const args = ["log", "-g", `--max-count=${MAX_LOG_ENTRIES}`, "--no-show-signature", format, ...log];
      for await (const record of git.records(args, "\n")) entry(record.toString("utf8"));
    } catch {
      // There is no such log, or the log's ref is broken
    }
    function entry(text: string): void {
      const [selector = "", commit = "", action = ""] = text.split("\0");
      const name = selector.replace(/@\{\d+\}$/, "");
      if (newer?.name === name && newer.isAmend && newer.commit !== commit) amends.set(commit, newer.commit);
      newer = { name, commit, isAmend: action.startsWith("commit (amend)") };
    }
  }
  return amends;
}

// --- internal ---

const MAX_COMMITS = 20_000;
const MAX_LOG_ENTRIES = 2_000;
const MAX_WORKTREES = 50;

/** Arguments that name a log: of HEAD, of each worktree's HEAD. */
async function logsOf(commonDir: string): Promise<readonly (readonly string[])[]> {
  const worktrees = await readdir(join(commonDir, "worktrees")).catch(() => []);
  return [["HEAD"], ...worktrees.slice(0, MAX_WORKTREES).map((name) => [`worktrees/${name}/HEAD`]), ["--branches"]];
}
