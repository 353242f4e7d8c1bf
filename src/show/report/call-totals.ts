import type { CallSums, ModelCall } from "#core/model/model-call.ts";
import type { Session, SessionFacts } from "#core/model/session.ts";
import { TOKEN_KINDS, TOKEN_NAMES, type TokenKind, type TokenName } from "#core/model/token-kinds.ts";
import { callPrice } from "#core/telemetry/cost.ts";
import type { StoredModelCall } from "#store/queries.ts";

/** Whether tokens are known. If not, they are unknown for agents that never report them, and zero for all others. */
export const hasUsage = ({ modelCalls, aggregateRecords }: CallSums): boolean => modelCalls + aggregateRecords > 0;

/**
 * Sums as they are shown: unknown is `null`, never 0. Zero means that no call was made, which is known only of agents that
 * report their calls.
 */
export function knownAmounts(sums: CallSums, isUsageUnknown: boolean) {
  const none = hasUsage(sums) || isUsageUnknown ? null : 0;
  return {
    modelCalls: sums.modelCalls === 0 && (sums.aggregateRecords > 0 || isUsageUnknown) ? null : sums.modelCalls,
    ...(Object.fromEntries(TOKEN_KINDS.map((kind) => [kind, sums[kind] ?? none])) as Record<TokenKind, number | null>),
    costNanoUsd: sums.costNanoUsd ?? none,
  };
}

/** Token counts by their names; unknown is `null`, never 0. */
export const tokensByName = (
  tokens: { readonly [K in TokenKind]?: number | null | undefined } = {},
): { readonly [N in TokenName]: number | null } =>
  Object.fromEntries(TOKEN_KINDS.map((kind) => [TOKEN_NAMES[kind], tokens[kind] ?? null])) as {
    readonly [N in TokenName]: number | null;
  };

/** Which sums are lower bounds. @param isUsageUnknown usage of some of the calls was not reported at all */
export function lowerBounds(sums: CallSums, isUsageUnknown: boolean) {
  const lacksUsage = isUsageUnknown || sums.callsWithoutUsage > 0;
  return {
    inputIsLowerBound: lacksUsage,
    outputIsLowerBound: lacksUsage || sums.incompleteCalls > 0,
    costIsLowerBound: isUsageUnknown || sums.unpricedCalls + sums.incompleteCalls > 0,
  };
}

/** A call that is not settled, with the turn that it belongs to. */
export interface OpenCall extends StoredModelCall {
  /** Key of the turn. Absent: it belongs to none. */
  readonly turnKey?: string;
}

/** The calls of the open part of a session, with their costs. */
export function openCalls({ turns, subagents }: Session, { provider }: SessionFacts): readonly OpenCall[] {
  const runs = [
    ...turns.map((turn) => ({ run: turn, turnKey: turn.key })),
    ...subagents.map((run) => ({ run, turnKey: run.turnKey })),
  ];
  return runs.flatMap(({ run: { segment, modelCalls }, turnKey }) =>
    modelCalls.map((call) => ({
      segment,
      call,
      ...(turnKey !== undefined && { turnKey }),
      ...callPrice(call, provider),
    })),
  );
}

/** What a call cost more than another one would have, in 10⁻⁹ USD, never below 0. `undefined`: one of the prices is not known. */
export function costBeyond(call: ModelCall, other: ModelCall, provider: string | undefined): number | undefined {
  const [paid, less] = [callPrice(call, provider), callPrice(other, provider)];
  if (paid.costNanoUsd === undefined || less.costNanoUsd === undefined) return undefined;
  return Math.max(0, paid.costNanoUsd - less.costNanoUsd);
}
