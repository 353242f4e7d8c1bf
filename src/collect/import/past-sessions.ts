import type { Agent } from "#core/model/agent.ts";
import type { ImportReport } from "./run.ts";

/** What an import would read. */
interface PastSessions {
  readonly sessions: number;
  readonly bytes: number;
  /** Titles of the agents that have some. */
  readonly agents: readonly string[];
}

/** @param report of a dry run; `undefined` counts as nothing found */
export function pastSessions(report: ImportReport | undefined, agents: readonly Agent[]): PastSessions {
  const found = agents.flatMap(({ source, title }) => {
    const { imported = 0, bytes = 0 } = report?.agents.get(source) ?? {};
    return imported > 0 ? [{ title, imported, bytes }] : [];
  });
  return {
    sessions: found.reduce((sum, { imported }) => sum + imported, 0),
    bytes: found.reduce((sum, { bytes }) => sum + bytes, 0),
    agents: found.map(({ title }) => title),
  };
}
