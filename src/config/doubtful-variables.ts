import { userInfo } from "node:os";
import type { Env } from "./environment.ts";
import { isUsedByDrains, onlyRestricts, readRecordedVariables } from "./recorded-variables.ts";
import { namedByRepositories, type RepositoryPlaces } from "./repository-variables.ts";

/**
 * Variables whose value may come from a repository: they matter to a drain, do not only restrict, were not recorded by `enable` with
 * this value, and a file of the repository names them.
 *
 * @param stateDir folder with the record of `enable`; `undefined` if that folder itself may come from a repository
 * @returns variable name → file
 * @throws never
 */
export async function doubtfulVariables(
  env: Env,
  stateDir: string | undefined,
  searched: RepositoryPlaces,
): Promise<ReadonlyMap<string, string>> {
  const isRecorded = stateDir === undefined ? () => false : await readRecordedVariables(stateDir);
  const candidates = Object.entries(env).flatMap(([name, value = ""]) => {
    const isOpen =
      name === "OPENHOOK_OTEL_HOME"
        ? stateDir === undefined
        : isUsedByDrains(name) && !onlyRestricts(name, value) && !isRecorded(name, value);
    return isOpen && value !== "" && !(name === "HOME" && value === systemHome()) ? [name] : [];
  });
  if (candidates.length === 0) return new Map();
  // A repository that is set as the home folder would otherwise not be searched
  const asHome = { ...searched, folders: [...searched.folders, searched.home], home: systemHome() ?? "/" };
  const isHomeDoubtful = candidates.includes("HOME") && (await namedByRepositories(["HOME"], asHome)).size > 0;
  return namedByRepositories(candidates, isHomeDoubtful ? asHome : searched);
}

/** The home folder as the operating system knows it. `undefined`: the user has no entry. */
export function systemHome(): string | undefined {
  try {
    return userInfo().homedir;
  } catch {
    return undefined;
  }
}

/** The folders that agents report in variables. */
export const foldersOfAgents = (env: Env): readonly string[] =>
  Object.entries(env).flatMap(([name, value = ""]) => (FOLDER_OF_AGENT.test(name) ? value : []));

// --- internal ---

const FOLDER_OF_AGENT = /^[A-Z]+_(?:PROJECT_DIR|CWD)$/;
