import type { Agent } from "../model/agent.ts";

interface Cards {
  readonly agents: readonly Agent[];
}

/** @returns the card of a source; `undefined` for other OpenHook senders, which have no card */
export const cardOf = ({ agents }: Cards, source: string): Agent | undefined =>
  agents.find((agent) => agent.source === source);

/** The card of a program that this one knows; `undefined` for any other OpenHook sender, also if it calls itself `openhook`. */
export const knownCardOf = (deps: Cards, source: string): Agent | undefined => {
  const card = cardOf(deps, source);
  return card?.isAnyProgram === true ? undefined : card;
};

/** How to read a source's transcripts: as its card says, or by their shape. `undefined`: they cannot be read. */
export const transcriptOf = (deps: Cards, source: string): Agent["transcript"] =>
  (knownCardOf(deps, source) ?? deps.agents.find(({ isAnyProgram }) => isAnyProgram === true))?.transcript;
