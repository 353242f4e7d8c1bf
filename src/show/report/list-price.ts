import type { Subscriptions } from "#core/model/rate-limit.ts";
import type { StoredSession } from "#store/sessions.ts";

/** Shown beside the costs of agents that run on a subscription. */
export const LIST_PRICE = "list price, not your bill";

/** The same with the names of the agents. */
export const listPriceNote = (agents: readonly string[]): string =>
  `${LIST_PRICE}: ${agents.join(", ")} ${agents.length === 1 ? "runs" : "run"} on a subscription`;

/** What a session has if its agent ran on a subscription, as far as that is known. */
export const subscriptionMark = (
  { source, lastMs }: Pick<StoredSession, "source" | "lastMs">,
  subscriptions: Subscriptions = new Map(),
): { readonly onSubscription?: true } =>
  lastMs >= (subscriptions.get(source) ?? Number.POSITIVE_INFINITY) ? { onSubscription: true } : {};

/** The agents among those with costs up to a time that are known to run on a subscription. */
export const subscribedAgents = (
  agents: readonly string[],
  subscriptions: Subscriptions,
  untilMs = Number.POSITIVE_INFINITY,
): readonly string[] => agents.filter((source) => (subscriptions.get(source) ?? Number.POSITIVE_INFINITY) < untilMs);
