import { existsSync } from "node:fs";
import type { Context } from "#config/context.ts";
import type { StoredCommit } from "#core/model/changes.ts";
import { messageOf } from "#kit/errors.ts";
import { identityOf } from "#show/report/attribution.ts";
import type { ChangeReport } from "#show/report/change-report.ts";
import { storedCommits, storedRepositories } from "#store/changes.ts";
import type { Database } from "#store/database.ts";
import type { CommitToTrace } from "./agent-trace.ts";
import { findGit, Git } from "./git/git.ts";
import { addedLines } from "./git/patches.ts";

/** Commits of one repository, as sessions know them. */
interface RepositoryCommits {
  readonly gitDir: string;
  readonly commits: readonly StoredCommit[];
}

/** The commits of a change, or all of one repository, by repository; those of unknown repositories are left out. */
export function commitsToTrace(db: Database, wanted: ChangeReport | { readonly repository: number }) {
  const ids = "commits" in wanted ? wanted.commits.map(({ commit }) => commit) : undefined;
  const all = storedCommits(db).filter((one) =>
    ids === undefined
      ? "repository" in wanted && one.repository === wanted.repository
      : ids.some((id) => id.startsWith(identityOf(one))),
  );
  return storedRepositories(db).flatMap(({ id, gitDir }): readonly RepositoryCommits[] => {
    const commits = all.filter(({ repository }) => repository === id);
    return gitDir === undefined || commits.length === 0 ? [] : [{ gitDir, commits }];
  });
}

/** Asks git for all digits of commits and the lines that they added. @returns also which repositories could not be read, and why */
export async function readCommits(
  repositories: readonly RepositoryCommits[],
  { env, places: { home }, platform }: Pick<Context, "env" | "places" | "platform">,
): Promise<{ readonly commits: readonly CommitToTrace[]; readonly problems: readonly string[] }> {
  const found: CommitToTrace[] = [];
  const problems: string[] = [];
  for (const { gitDir, commits } of repositories) {
    const program = existsSync(gitDir) ? findGit(env, { projects: [gitDir], home }, platform) : undefined;
    if (program === undefined) {
      problems.push(existsSync(gitDir) ? "git is not installed, or not in PATH" : `${JSON.stringify(gitDir)} is gone`);
      continue;
    }
    try {
      const git = new Git({ program, folder: gitDir, home, env, untilMs: performance.now() + LIMIT_MS });
      const rows = new Map<string, StoredCommit[]>();
      const input = commits.map((one) => `${one.commit}^{commit}\n`).join("");
      const ids = (await git.text(["cat-file", "--batch-check=%(objectname)"], input)).split("\n");
      for (const [at, one] of commits.entries()) {
        const id = /^[0-9a-f]{40,64}$/.exec(ids[at] ?? "")?.[0];
        if (id !== undefined) rows.set(id, [...(rows.get(id) ?? []), one]);
      }
      const added = await addedLines(git, [...rows.keys()]);
      for (const [revision, of] of rows) {
        const lines = added.get(revision);
        found.push({ revision, commits: of, ...(lines !== undefined && { added: lines }) });
      }
      const missing = commits.length - [...rows.values()].flat().length;
      if (missing > 0)
        problems.push(`${missing} of ${commits.length} commits are no longer in ${JSON.stringify(gitDir)}`);
    } catch (error) {
      problems.push(messageOf(error));
    }
  }
  return { commits: found, problems };
}

// --- internal ---

const LIMIT_MS = 60_000;
