import type { Context } from "#config/context.ts";
import { loadConfig } from "#config/load.ts";
import type { Finding } from "#core/model/installer.ts";
import { UserError } from "#kit/errors.ts";
import { suggest } from "#kit/suggest.ts";
import { nativeDestinations } from "./native-exporters.ts";
import {
  type AgentLookup,
  type InstallableAgent,
  installableAgents,
  readSettingsFiles,
  type Scope,
  targetOf,
} from "./settings.ts";

/** Code of the error when no supported agent is installed. */
export const NO_AGENT_FOUND = "E_NO_AGENT";
/** What commands say then that do not need an agent. */
export const NOTHING_TO_COLLECT = "Nothing to collect yet: no supported agent found on this machine";

export interface PresentAgent extends InstallableAgent {
  /** Absent when unknown. */
  readonly version?: string;
}

/** Agents that are installed on this machine. @throws UserError when there is none */
export async function presentAgents(
  scope: Scope,
  context: Context,
  agents: AgentLookup,
): Promise<readonly PresentAgent[]> {
  const all = await detectedAgents(scope, context, agents);
  const found = all.filter(({ present }) => present);
  if (found.length > 0) return found;
  const known = all.map(({ agent }) => agent.source).join(", ");
  throw new UserError(NO_AGENT_FOUND, `no agent was found on this machine; name one: ${known}`);
}

/**
 * A line about agents that have sessions here although their program was not found, so that no one misses them among those that can be
 * enabled; empty if there are none.
 *
 * @param sources of the stored sessions
 */
export async function sessionsOnlyText(
  sources: ReadonlySet<string>,
  context: Context,
  agents: AgentLookup,
): Promise<string> {
  const absent = (await detectedAgents("user", context, agents)).filter(
    ({ present, agent }) => !present && sources.has(agent.source),
  );
  const [first] = absent;
  if (first === undefined) return "";
  const titles = absent.map(({ agent }) => agent.title).join(", ");
  return `Sessions only, program not found: ${titles}. To collect from one anyway, name it: ${suggest(`enable ${first.agent.source}`)}\n`;
}

/** What keeps an agent's registrations from running, by the agent's own check, and what its own telemetry doubles. */
export async function installerFindings(
  { agent, installer, files }: InstallableAgent & { readonly files: readonly { readonly path: string }[] },
  context: Context,
): Promise<readonly Finding[]> {
  const now = await readSettingsFiles(files.map(({ path }) => path));
  const own = await nativeDestinations(agent, await loadConfig(context), context);
  return [
    ...((await installer.check?.(now, targetOf(context))) ?? []),
    ...own.flatMap(({ text, todo }): Finding[] =>
      todo === null ? [] : [{ level: "remark", text: `it ${text}; ${todo}` }],
    ),
  ];
}

// --- internal ---

async function detectedAgents(
  scope: Scope,
  context: Context,
  agents: AgentLookup,
): Promise<readonly (PresentAgent & { readonly present: boolean })[]> {
  const all = await installableAgents(scope, agents);
  const detected = await Promise.all(all.map(({ installer }) => installer.detect(targetOf(context))));
  return all.map((installable, index) => {
    const { present, version } = detected[index] ?? { present: false };
    return { ...installable, present, ...(version !== undefined && { version }) };
  });
}
