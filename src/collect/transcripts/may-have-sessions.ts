import { statSync } from "node:fs";
import { join } from "node:path";
import type { LoadedConfig } from "#config/load.ts";
import type { Places } from "#config/places.ts";
import type { Agent } from "#core/model/agent.ts";

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
