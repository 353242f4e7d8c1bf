import type { Context } from "#config/context.ts";
import { findGit, Git, GitError } from "./git/git.ts";

/**
 * All digits of the commit that a text names in the repository of the user's folder: the beginning of an id, or an expression from
 * HEAD. Other names are not looked up.
 *
 * @returns `undefined` if there is no such commit, no repository, or no git
 * @throws never
 */
export async function resolveRevision(
  text: string,
  { cwd, env, places: { home }, platform }: Pick<Context, "cwd" | "env" | "places" | "platform">,
): Promise<string | undefined> {
  if (!/^([0-9a-f]{4,64}|(HEAD|@)([~^][0-9~^]*)?)$/i.test(text)) return undefined;
  const program = findGit(env, { projects: [cwd], home }, platform);
  if (program === undefined) return undefined;
  try {
    const git = new Git({ program, folder: cwd, home, env, untilMs: performance.now() + LIMIT_MS });
    const id = (await git.text(["rev-parse", "--verify", "--quiet", "--end-of-options", `${text}^{commit}`])).trim();
    return /^[0-9a-f]{40,64}$/.test(id) ? id : undefined;
  } catch (error) {
    if (error instanceof GitError) return undefined;
    throw error;
  }
}

// --- internal ---

const LIMIT_MS = 5_000;
