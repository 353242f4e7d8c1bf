import type { Agent, IntakeFacts } from "../model/agent.ts";

/**
 * Finds the agent that sent a payload by asking the cards: who is certain comes before who thinks it possible, and the
 * payload before the command line. A possible sender counts only if the command line names it: nothing is guessed.
 *
 * @returns `undefined` when no card is sure enough: the payload goes to quarantine
 */
export function detect(agents: readonly Agent[], payload: unknown, intake: IntakeFacts): Agent | undefined {
  const said = agents.map((agent) => ({ agent, recognition: agent.recognises(payload, intake) }));
  return (
    said.find(({ recognition }) => recognition === "certain")?.agent ??
    said.find(({ agent, recognition }) => recognition === "possible" && agent.source === intake.source)?.agent
  );
}
