import type { Context } from "../context.ts";
import { subscriptions } from "../drain/rate-limits.ts";
import type { Agent } from "../model/agent.ts";
import type { Subscriptions } from "../model/rate-limit.ts";
import { withOpenStore } from "../sessions/open-store.ts";
import { latestFileOf } from "../store/positions.ts";

/** Agents that run on a subscription, as far as that is known. @throws UserError when the store cannot be read */
export async function subscribed(
  { places, now }: Pick<Context, "places" | "now">,
  agents: readonly Agent[],
): Promise<Subscriptions> {
  const naming = agents.filter(({ subscriptionOf }) => subscriptionOf !== undefined);
  const files = withOpenStore({ places }, (db) => {
    return new Map(naming.map(({ source }) => [source, latestFileOf(db, source)]));
  });
  return subscriptions(agents, (source) => files?.get(source), places.stateDir, now());
}
