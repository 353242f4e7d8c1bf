import type { Agent } from "#core/model/agent.ts";
import { agentWithPrefix, meantAgent } from "#core/rules/cards.ts";
import { UserError } from "#kit/errors.ts";
import { nearest } from "#kit/nearest.ts";
import { printable } from "#kit/text/terminal.ts";
import type { Database } from "#store/database.ts";
import type { UsageQuery } from "../query.ts";
import { usage } from "../usage.ts";

/** The names that the store has, if it has no session of the wanted agent, model or repository. */
export function unknownNameText(
  db: Database,
  agents: readonly Agent[],
  wanted: Pick<UsageQuery, "agent" | "model" | "repository">,
): string | undefined {
  for (const dimension of ["agent", "model", "repository"] as const) {
    const name = wanted[dimension];
    if (name === undefined) continue;
    if (usage(db, { agents }, { by: [], [dimension]: name }).length > 0) continue;
    const names = usage(db, { agents }, { by: [dimension] }).flatMap(({ key }) => key[dimension] ?? []);
    const known = names.slice(0, MAX_KNOWN).map(printable).join(", ");
    const list = names.length === 0 ? "none" : `${known}${names.length > MAX_KNOWN ? " and more" : ""}`;
    const meant = dimension === "agent" ? undefined : nearest(name, names);
    const hint = meant === undefined ? "" : ` (did you mean ${printable(meant)}?)`;
    return `no session of ${dimension} "${printable(name)}"${hint}; in the store: ${list}`;
  }
  return undefined;
}

/**
 * The agent with this name, or the only one whose name begins with it.
 *
 * @param db `undefined`: no store yet
 * @returns nothing without a name, otherwise `agent`
 * @throws UserError with the agent that was probably meant, if neither an agent nor a session in the store has the name
 */
export function namedAgent(
  name: string | undefined,
  agents: readonly Agent[],
  db: Database | undefined,
): { readonly agent?: string } {
  if (name === undefined) return {};
  if (agents.some(({ source }) => source === name)) return { agent: name };
  // Envelopes name agents that we have no card for
  if (db?.prepare("SELECT 1 FROM sessions WHERE source = ?").get(name) !== undefined) return { agent: name };
  const begins = agentWithPrefix(name, agents);
  if (begins !== undefined) return { agent: begins };
  const known = agents.map(({ source }) => source);
  throw new UserError(
    "E_AGENT",
    `unknown agent "${printable(name)}"${meantAgent(name, agents)}; known are: ${known.join(", ")}`,
  );
}

// --- internal ---

const MAX_KNOWN = 12;
