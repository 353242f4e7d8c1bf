import type { Agent } from "#core/model/agent.ts";

export { agentNames } from "./names.const.ts";

/** All cards, in their order. */
export const allAgents = async (): Promise<readonly Agent[]> => (await import("./cards.ts")).CARDS;

/** One card; `undefined` for an unknown agent. */
export const findAgent = async (source: string): Promise<Agent | undefined> =>
  (await allAgents()).find((agent) => agent.source === source);

/** Files of a project, besides `.env`, from which agents set environment variables. */
export const variableFiles = async (): Promise<readonly string[]> =>
  (await allAgents()).flatMap((agent) => agent.setsVariablesFrom ?? []);
