import type { Agent } from "./agent.ts";

/** @returns the card of a source; `undefined` for other OpenHook senders, which have no card */
export const cardOf = ({ agents }: { readonly agents: readonly Agent[] }, source: string): Agent | undefined =>
  agents.find((agent) => agent.source === source);
