import { latestLimits, subscriptions } from "#collect/drain/rate-limits.ts";
import type { Context } from "#config/context.ts";
import type { Agent } from "#core/model/agent.ts";
import type { AgentLimit, Subscriptions } from "#core/model/rate-limit.ts";
import type { Database } from "#store/database.ts";
import { latestFileOf } from "#store/positions.ts";
import { withOpenStore } from "#store/sessions/open-store.ts";

/** By agent, the newest file of those whose files name a plan. */
type PlanFiles = ReadonlyMap<string, string | undefined>;

export const planFilesOf = (db: Database, agents: readonly Agent[]): PlanFiles =>
  new Map(
    agents.flatMap(({ source, subscriptionOf }) =>
      subscriptionOf === undefined ? [] : [[source, latestFileOf(db, source)] as const],
    ),
  );

/**
 * Agents that run on a subscription, as far as that is known.
 *
 * @param files of a caller that has read the store. @default the store is opened for them
 * @throws UserError when the store cannot be read
 */
export async function subscribed(
  { places, now }: Pick<Context, "places" | "now">,
  agents: readonly Agent[],
  files: PlanFiles | undefined = withOpenStore({ places }, (db) => planFilesOf(db, agents)),
): Promise<Subscriptions> {
  return subscriptions(agents, (source) => files?.get(source), places.stateDir, now());
}

/** The same, and the limits that agents last reported, also those that were reset since. @throws as `subscribed` does */
export async function subscribedWithLimits(
  context: Pick<Context, "places" | "now">,
  agents: readonly Agent[],
): Promise<{ readonly subscriptions: Subscriptions; readonly limits: readonly AgentLimit[] }> {
  const files = withOpenStore(context, (db) => planFilesOf(db, agents));
  return {
    subscriptions: await subscribed(context, agents, files ?? new Map()),
    limits: await latestLimits(agents, (source) => files?.get(source), context.places.stateDir),
  };
}
