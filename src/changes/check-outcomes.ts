import { existsSync } from "node:fs";
import type { Context } from "#config/context.ts";
import { readProjectSettings } from "#config/project.ts";
import type { CommitToFollow } from "#core/model/outcomes.ts";
import { messageOf } from "#kit/errors.ts";
import type { StoredOutcome } from "#store/outcomes.ts";
import type { RepositoryToFollow } from "./due-commits.ts";
import { commitsOfEdits, type EditedCommit, type SessionEdits } from "./edited-commits.ts";
import { followCommits } from "./git/follow.ts";
import { findGit, Git } from "./git/git.ts";

/** What was found out, and which repositories could not be read. */
export interface Checked {
  readonly outcomes: readonly StoredOutcome[];
  readonly edited: readonly EditedCommit[];
  readonly problems: readonly string[];
}

/**
 * Asks git what became of commits, one repository after the other. Does not use the store, so that drains need not wait.
 *
 * @param limitMs for all repositories together; the next run continues with what was not checked
 * @param ticketPattern a regular expression for ticket ids in commit trailers
 * @throws never
 */
export async function checkOutcomes(
  repositories: readonly RepositoryToFollow[],
  { env, places, platform, now }: Pick<Context, "env" | "places" | "platform" | "now">,
  limitMs: number,
  ticketPattern: string,
): Promise<Checked> {
  const outcomes: StoredOutcome[] = [];
  const edited: EditedCommit[] = [];
  const problems: string[] = [];
  const untilMs = performance.now() + limitMs;
  for (const { repository, name, gitDir, folders, commits, edits } of repositories) {
    if (!existsSync(gitDir)) {
      problems.push(`${name}: ${JSON.stringify(gitDir)} is gone`);
      continue;
    }
    if (await isForbidden(folders)) continue;
    const { home } = places;
    const program = findGit(env, { projects: [gitDir, ...folders], home }, platform);
    if (program === undefined) return { outcomes, edited, problems: ["git is not installed, or not in PATH"] };
    const git = new Git({ program, folder: gitDir, home, env, untilMs });
    try {
      const checkedMs = now();
      const made = await commitsOfEdits(git, gitDir, edits);
      edited.push(...made);
      const all = [...commits, ...toFollow(made, edits, commits)];
      const found = await followCommits(git, all, checkedMs, ticketPattern);
      // Commits of an unknown repository are looked up in every repository: keep only what this one has
      const own = found.filter(({ id }, at) => id !== undefined || all[at]?.isElsewhere !== true);
      outcomes.push(...own.map((one) => ({ ...one, repository, checkedMs })));
    } catch (error) {
      problems.push(`${name}: ${messageOf(error)}`);
    }
  }
  return { outcomes, edited, problems };
}

// --- internal ---

/** Commits that were found just now, each once. */
function toFollow(
  made: readonly EditedCommit[],
  edits: readonly SessionEdits[],
  known: readonly CommitToFollow[],
): readonly CommitToFollow[] {
  const ids = new Set(known.map(({ commit }) => commit));
  const found = new Map<string, CommitToFollow>();
  for (const { session, entry } of made) {
    const { commit, timeMs } = entry;
    if (ids.has(commit)) continue;
    const own = edits.filter((one) => one.session === session).flatMap((one) => one.edits.map(({ path }) => path));
    const files = new Set([...(found.get(commit)?.files ?? []), ...own]);
    found.set(commit, { commit, timeMs, files: [...files] });
  }
  return [...found.values()];
}

async function isForbidden(folders: readonly string[]): Promise<boolean> {
  const settings = await Promise.all(folders.filter((folder) => existsSync(folder)).map(readProjectSettings));
  return settings.some(({ disabled, withoutChanges }) => disabled || withoutChanges);
}
