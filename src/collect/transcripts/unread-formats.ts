import { statSync } from "node:fs";
import { join } from "node:path";
import type { LoadedConfig } from "#config/load.ts";
import type { Places } from "#config/places.ts";
import type { Agent } from "#core/model/agent.ts";
import { rootsWithMoved } from "./transcript-roots.ts";

/** Where to look. */
interface FormatDeps {
  readonly agents: readonly Agent[];
  readonly loaded: LoadedConfig;
  readonly places: Places;
  /** Environment variables that set the agents' folders. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * Sessions on this machine that no command can read, because their format is not known: one sentence for each place, with their
 * number and the reason.
 *
 * @param only sources of the agents that matter. @default all
 */
export async function unreadFormats(deps: FormatDeps, only?: readonly string[]): Promise<readonly string[]> {
  const { agents, places, env } = deps;
  const sentences: string[] = [];
  for (const agent of agents) {
    if (agent.unreadFormats === undefined || only?.includes(agent.source) === false) continue;
    const reader = mayHaveSessions(deps, agent, env) ? (await agent.transcript?.())?.default : undefined;
    if (reader === undefined) continue;
    const roots = [...new Set([...rootsWithMoved(deps, reader, []), ...reader.roots(places.home, env)])];
    // An import says why a folder cannot be read
    sentences.push(...(await agent.unreadFormats({ home: places.home, roots, onProblem: () => {} })));
  }
  return sentences;
}

/** False if none of an agent's usual folders exists, and neither a variable nor the user's settings name another one. */
export function mayHaveSessions(
  { loaded, places }: { readonly loaded: LoadedConfig; readonly places: Pick<Places, "home"> },
  card: Agent | undefined,
  env: Readonly<Record<string, string | undefined>>,
): boolean {
  const { sessionsBelow, hasSessions, environment = [] } = card ?? {};
  if (loaded.config.transcripts.folders !== undefined) return true;
  if (hasSessions !== undefined) return hasSessions(places.home, env);
  return (
    sessionsBelow === undefined ||
    environment.some((name) => env[name] !== undefined) ||
    sessionsBelow.some((folder) => mayExist(join(places.home, folder)))
  );
}

// --- internal ---

/** Also true for a path that cannot be looked at: the reader says why. */
function mayExist(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true;
  }
}
