import type { Agent, IntakeFacts, Recognition } from "../model/agent.ts";

/**
 * Finds the agent that sent a payload by asking the cards. A certain card wins, whatever the command line says; then the card
 * that the command line names, if it answers possible; then the only likely one. Between two equally sure cards the command
 * line decides; otherwise there is no guess.
 *
 * @returns `undefined` if no card is sure enough: the payload is quarantined
 */
export function detect(agents: readonly Agent[], payload: unknown, intake: IntakeFacts): Agent | undefined {
  const said = agents.map((agent) => ({ agent, recognition: agent.recognises(payload, intake) }));
  const of = (recognition: Recognition) =>
    said.filter((one) => one.recognition === recognition).map((one) => one.agent);
  const isNamed = (agent: Agent): boolean => agent.source === intake.source;
  const certain = of("certain");
  if (certain.length > 0) return certain.length === 1 ? certain[0] : certain.find(isNamed);
  const likely = of("likely");
  return [...likely, ...of("possible")].find(isNamed) ?? (likely.length === 1 ? likely[0] : undefined);
}
