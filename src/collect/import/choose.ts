import type { Agent } from "#core/model/agent.ts";
import { meantAgent } from "#core/rules/cards.ts";
import { UserError } from "#kit/errors.ts";
import { suggest } from "#kit/suggest.ts";
import type { DrainDeps } from "../drain/context.ts";

/**
 * The named agents; without names, all that keep past sessions.
 *
 * @throws UserError for an unknown name, or an agent that keeps none
 */
export function agentsToImport(names: readonly string[], agents: readonly Agent[]): readonly Agent[] {
  const readable = agents.filter(({ transcript }) => transcript !== undefined);
  const found = names.map((name) => {
    const agent = agents.find(({ source }) => source === name);
    if (agent === undefined) {
      const known = readable.map(({ source }) => source);
      const hint = meantAgent(name, agents);
      throw new UserError(
        "E_USAGE",
        `unknown agent ${JSON.stringify(name)}${hint}; these agents keep past sessions: ${known.join(", ")}`,
      );
    }
    if (agent.transcript === undefined) {
      throw new UserError(
        "E_USAGE",
        `${agent.title} keeps no past sessions that can be read; it is recorded once it is enabled`,
      );
    }
    return agent;
  });
  return found.length > 0 ? [...new Set(found)] : readable;
}

/** @throws UserError when nothing can be exported: export is disabled or no endpoint is set */
export function requireDestination({ loaded }: DrainDeps): void {
  const { endpoint, traces } = loaded.config.otlp;
  if (loaded.config.disabled) {
    throw new UserError(
      "E_USAGE",
      "--export cannot export, because export is off (disabled); without --export, sessions are imported and stay here",
    );
  }
  if (endpoint !== undefined || traces.endpoint !== undefined) return;
  throw new UserError("E_USAGE", `--export needs an endpoint: run ${suggest("config set otlp.endpoint <url>")}`);
}
