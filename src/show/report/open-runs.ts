import type { Subagent, Turn } from "#core/model/session.ts";
import type { SubagentSummary, TurnSummary } from "#store/queries.ts";

export type RunTurn = TurnSummary & { readonly open: boolean };
export type RunSubagent = SubagentSummary & { readonly open: boolean };

/** All turns. If a turn went on after it was settled, the open part belongs to the same turn. */
export function withOpenTurns(settled: readonly TurnSummary[], open: readonly Turn[]): readonly RunTurn[] {
  const byKey = new Map(settled.map((turn) => [turn.key, { ...turn, open: false }]));
  for (const turn of open) {
    const key = turn.key.replace(/~\d+$/, "");
    const { segment, origin, state, startMs, endMs, promptLength } = turn;
    const before = byKey.get(key);
    byKey.set(key, {
      ...(before ?? { key, segment, origin, startMs, ...(promptLength !== undefined && { promptLength }) }),
      state,
      endMs: Math.max(endMs, before?.endMs ?? endMs),
      open: !turn.closed,
    });
  }
  return [...byKey.values()].sort((a, b) => a.startMs - b.startMs);
}

/** All subagents. If one went on after it was settled, the open part belongs to the same subagent. */
export function withOpenSubagents(
  settled: readonly SubagentSummary[],
  open: readonly Subagent[],
): readonly RunSubagent[] {
  const byId = new Map(settled.map((subagent) => [subagent.agentId, { ...subagent, open: false }]));
  for (const { agentId, agentType, segment, turnKey, parentCallId, startMs, endMs, closed } of open) {
    const before = byId.get(agentId);
    byId.set(agentId, {
      ...(before ?? {
        agentId,
        segment,
        startMs,
        ...(agentType !== undefined && { agentType }),
        ...(turnKey !== undefined && { turnKey }),
        ...(parentCallId !== undefined && { parentCallId }),
      }),
      endMs: Math.max(endMs, before?.endMs ?? endMs),
      open: !closed,
    });
  }
  return [...byId.values()].sort((a, b) => a.startMs - b.startMs);
}
