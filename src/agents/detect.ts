import type { Agent, Recognition } from "#core/model/agent.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";

/**
 * Finds the agent that sent a payload. A card that is certain takes precedence, then the card that the command line names if it
 * is possible, then the only likely card. Between two cards with the same certainty, the command line decides.
 *
 * @returns `undefined` if this is ambiguous: the payload is quarantined
 */
export function detect(agents: readonly Agent[], payload: unknown, intake: IntakeFacts): Agent | undefined {
  const named = agents.map((agent) => ({ agent, recognition: agent.recognises(payload, intake) }));
  const of = (recognition: Recognition) =>
    named.filter((one) => one.recognition === recognition).map((one) => one.agent);
  const isNamed = (agent: Agent): boolean => agent.source === intake.source;
  const certain = of("certain");
  if (certain.length > 0) return certain.length === 1 ? certain[0] : certain.find(isNamed);
  const likely = of("likely");
  return [...likely, ...of("possible")].find(isNamed) ?? (likely.length === 1 ? likely[0] : undefined);
}
