import type { Context } from "#config/context.ts";
import { diffOfFile } from "#kit/text/diff.ts";
import { isMcpNew, mcpSources, planMcp, planMcpOff, writeMcp, writeMcpOff } from "#setup/registration/mcp-server.ts";
import { presentAgents } from "#setup/registration/present-agents.ts";
import {
  type AgentLookup,
  complainTo,
  forEachAgent,
  listed,
  namedAgents,
  withUserErrors,
} from "#setup/registration/settings.ts";
import { removeBeside } from "./remove-beside.ts";

interface McpRegisterOptions {
  readonly dryRun: boolean;
  readonly full?: boolean;
}

/**
 * `openhook-otel enable --mcp`: registers our MCP server with agents, in addition to the hooks.
 *
 * @param names agents by source; none: all on this machine that have a place for it
 * @returns exit code: 0 done or nothing to do; 1 one of several agents that were not named failed
 * @throws UserError for anything the user can fix
 */
export const enableMcp = (
  names: readonly string[],
  { dryRun, full }: McpRegisterOptions,
  context: Context,
  agents: AgentLookup,
): Promise<number> =>
  withUserErrors(async () => {
    const isNamed = names.length > 0;
    const withPlace = async () => (await agents.list()).filter(({ mcpServer }) => mcpServer !== undefined);
    const found = isNamed
      ? await namedAgents(names, "user", agents)
      : await presentAgents("user", context, { ...agents, list: withPlace });
    const done = await forEachAgent(found, isNamed ? undefined : complainTo(context), async ({ agent }) => {
      const plan = await planMcp(agent, context);
      const { file, after } = plan;
      if (dryRun) return context.stdout.write(diffOfFile(file, { path: file.path, text: after }, full === true));
      await writeMcp(plan, context);
      const verb = isMcpNew(plan)
        ? "can now ask openhook-otel, from its next start on"
        : "can already ask openhook-otel";
      return context.stdout.write(`${agent.title}: ${verb}: MCP server in ${file.path}\n`);
    });
    if (dryRun) context.stdout.write("Dry run: nothing was written.\n");
    return done.length === found.length ? 0 : 1;
  });

/** `openhook-otel disable --mcp`: removes our MCP server from the agents' settings; hooks stay. */
export const disableMcp = (
  names: readonly string[],
  options: McpRegisterOptions,
  context: Context,
  agents: AgentLookup,
): Promise<number> => removeBeside(REMOVAL, names, options, context, agents);

// --- internal ---

const REMOVAL: Parameters<typeof removeBeside>[0] = {
  sources: mcpSources,
  none: "No agent has the MCP server of openhook-otel.\n",
  plan: planMcpOff,
  write: writeMcpOff,
  text: ({ title }, _, paths) =>
    `${title} ${paths.length > 0 ? `no longer has the MCP server, restored ${listed(paths)}` : "did not have the MCP server"}\n`,
};
