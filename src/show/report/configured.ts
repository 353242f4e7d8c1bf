import type { Agent } from "#core/model/agent.ts";
import type { ConfiguredAt, ConfiguredKind } from "#core/model/configured.ts";
import type { InstallTarget } from "#core/model/installer.ts";
import { grouped } from "#kit/objects.ts";
import type { Dimension } from "./query.ts";
import { NO_TOOLS } from "./usage-facts.ts";
import type { UsageRow } from "./usage-rows.ts";

/** What a report by these dimensions compares with the settings of agents; `undefined`: nothing. */
export const configuredKind = ([first, ...others]: readonly Dimension[]): ConfiguredKind | undefined =>
  others.length === 0 && (first === "mcp" || first === "skill") ? first : undefined;

/** MCP servers or skills in the settings of agents, the user's and those of a project. */
export async function configuredNames(
  agents: readonly Agent[],
  wanted: ConfiguredKind,
  target: InstallTarget,
): Promise<readonly ConfiguredAt[]> {
  const found = await Promise.all(
    agents.map(async ({ source, configured }) => {
      if (configured === undefined) return [];
      const { namedInCalls, find } = (await configured()).default;
      const names = (await find(target)).filter(({ kind }) => kind === wanted);
      return names.map((name) => ({ ...name, agent: source, isNamedInCalls: namedInCalls[wanted] }));
    }),
  );
  return found.flat();
}

/**
 * Rows with where their names are configured, and one more row for each configured name that no call has. There, 0 calls are known only if
 * an agent that has it worked in that time, and if the calls of all those would name it; otherwise the row has no figures.
 *
 * @param rows those that are shown
 */
export function withConfigured(
  rows: readonly UsageRow[],
  kind: ConfiguredKind,
  { names, found, worked }: Compared,
): readonly UsageRow[] {
  const byName = grouped(names, ({ name }) => name);
  const used = new Set(found.map(({ key }) => key[kind]));
  const unused = [...byName].filter(([name]) => !used.has(name)).sort(([a], [b]) => (a < b ? -1 : 1));
  return [
    ...rows.map(
      (row): UsageRow => (row.key[kind] == null ? row : { ...row, configured: byName.get(row.key[kind]) ?? [] }),
    ),
    ...unused.map(([name, configured]): UsageRow => {
      const by = configured.filter(({ agent }) => worked.has(agent));
      const isKnown = by.length > 0 && by.every(({ isNamedInCalls }) => isNamedInCalls);
      const none = { sessions: 0, agentsWithoutUsage: [], sessionsWithoutUsage: 0 };
      return { key: { [kind]: name }, ...none, ...(isKnown && { tools: NO_TOOLS }), configured };
    }),
  ];
}

interface Compared {
  readonly names: readonly ConfiguredAt[];
  /** All rows, also those beyond the limit. */
  readonly found: readonly UsageRow[];
  /** Agents with sessions in that time. */
  readonly worked: ReadonlySet<string>;
}
