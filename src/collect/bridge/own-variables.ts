import type { Context } from "#config/context.ts";
import { foldersOfAgents } from "#config/doubtful-variables.ts";
import { namedByRepositories } from "#config/repository-variables.ts";
import { keptVariables } from "./command-environment.ts";
import type { RegistrationFile } from "./registration-file.ts";

/**
 * The variables for a file's commands, without those that a repository names: an agent may have started `bridge allow`.
 *
 * @param files see `variableFiles`
 */
export async function ownVariables(
  { folder }: Pick<RegistrationFile, "folder">,
  files: readonly string[],
  { cwd, env, places }: Pick<Context, "cwd" | "env" | "places">,
): Promise<Readonly<Record<string, string>>> {
  const kept = keptVariables(env);
  const folders = [cwd, folder, ...foldersOfAgents(env)];
  const theirs = await namedByRepositories(Object.keys(kept), { folders, home: places.home, files });
  return Object.fromEntries(Object.entries(kept).filter(([name]) => !theirs.has(name)));
}
