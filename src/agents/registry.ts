import type { Agent } from "../model/agent.ts";

export { agentNames } from "./names.const.ts";

/** All cards, in their order. */
export const allAgents = async (): Promise<readonly Agent[]> => (await import("./cards.ts")).CARDS;

/** One card, or `undefined` for an agent we do not know. */
export const findAgent = async (source: string): Promise<Agent | undefined> =>
  (await allAgents()).find((agent) => agent.source === source);
