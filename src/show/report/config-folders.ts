import type { Agent } from "#core/model/agent.ts";
import { cardOf } from "#core/rules/cards.ts";
import type { Database } from "#store/database.ts";
import { belowHome } from "#store/local-sessions.ts";
import { jsonRows } from "#store/rows.ts";

/**
 * The folder of its agent's configuration that each session's files are in, by the session's number: below the home folder as
 * `~/.claude`. Sessions of other agents, and those without a known file, are absent.
 */
export function configFolders(
  db: Database,
  { agents }: { readonly agents: readonly Agent[] },
  home: string | undefined,
): ReadonlyMap<number, string> {
  const rows = jsonRows<readonly [id: number, source: string, path: string]>(
    db,
    ["id", "source", PATH],
    `sessions s WHERE ${PATH} IS NOT NULL`,
  );
  return new Map(
    rows.flatMap(([id, source, path]) => {
      const folder = folderAbove(path, cardOf({ agents }, source)?.sessionFolders ?? []);
      return folder === undefined ? [] : [[id, home === undefined ? folder : belowHome(folder, { home })] as const];
    }),
  );
}

// --- internal ---

/** As the agent named it, otherwise the first one that was read. */
const PATH = "coalesce(transcript_path, (SELECT path FROM positions p WHERE p.session = s.id LIMIT 1))";

/** What is above the last folder with one of these names. */
function folderAbove(path: string, names: readonly string[]): string | undefined {
  const parts = path.split(/[\\/]/);
  const at = parts.slice(0, -1).findLastIndex((part) => names.includes(part));
  return at < 1 ? undefined : path.slice(0, parts.slice(0, at).join("/").length);
}
