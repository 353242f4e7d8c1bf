import { statSync } from "node:fs";
import { rootsOf } from "#collect/transcripts/transcript-roots.ts";
import type { LoadedConfig } from "#config/load.ts";
import type { Agent } from "#core/model/agent.ts";
import type { Coverage } from "#core/telemetry/self.ts";
import type { Database } from "#store/database.ts";
import { sourceActivity } from "#store/health.ts";
import { agentsOf, type Surroundings } from "./facts/hook.ts";
import type { AgentStatus } from "./facts/shape.ts";

/** What coverage is determined from. */
interface Observed extends Surroundings {
  readonly agents: readonly Agent[];
  readonly loaded: LoadedConfig;
  readonly db: Database;
  readonly now: () => number;
}

/**
 * The coverage of each agent that is used here: its hooks are registered, or it has written a transcript in the last 30 days. Only
 * names and times of transcripts are used. Agents whose settings cannot be read are left out: their coverage is unknown.
 */
export async function coverageOf(observed: Observed): Promise<ReadonlyMap<string, Coverage>> {
  const found = new Map<string, Coverage>();
  for (const status of await agentsOf(observed, observed.agents)) {
    const coverage = coverageByHooks(status) ?? (await coverageByUse(status, observed));
    if (coverage !== undefined && coverage !== "unknown") found.set(status.source, coverage);
  }
  return found;
}

// --- internal ---

const RECENT_MS = 30 * 86_400_000;
/** A session's last lines are written after its last hook. */
const AFTER_LAST_HOOK_MS = 3_600_000;

function coverageByHooks({ registrations, managed, blocked }: AgentStatus): Coverage | "unknown" | undefined {
  if (managed !== null && blocked.length === 0) return "covered";
  const enabled = registrations.filter(({ state }) => state === "enabled");
  const running = enabled.filter((registration) => registration.blocked.length === 0);
  if (running.some(({ scope }) => scope === "user")) return "covered";
  if (running.length > 0) return "partial";
  if (managed !== null || enabled.length > 0) return "blocked";
  return registrations.some(({ state }) => state === "unreadable") ? "unknown" : undefined;
}

/** Without a registration of ours, hooks can still arrive: from a plugin, or from another agent's settings. */
async function coverageByUse({ source }: AgentStatus, observed: Observed): Promise<Coverage | undefined> {
  const card = observed.agents.find((agent) => agent.source === source);
  const recentMs = observed.now() - RECENT_MS;
  const lastHookMs = sourceActivity(observed.db, source)?.eventMs ?? 0;
  const sinceMs = Math.max(recentMs, lastHookMs + AFTER_LAST_HOOK_MS);
  if (card !== undefined && (await hasTranscriptSince(card, sinceMs, observed))) return "uncovered";
  return lastHookMs > recentMs ? "covered" : undefined;
}

async function hasTranscriptSince(card: Agent, sinceMs: number, observed: Observed): Promise<boolean> {
  if (card.transcript === undefined) return false;
  const { default: reader } = await card.transcript();
  const roots = rootsOf(observed, reader, card.source);
  for await (const { path } of reader.locate({ home: observed.places.home, roots, onProblem: () => {} })) {
    if (modifiedMs(path) > sinceMs) return true;
  }
  return false;
}

/** Programs that use a SQLite database write to its `-wal` file first. */
const modifiedMs = (path: string): number =>
  Math.max(...[path, `${path}-wal`].map((file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0));
