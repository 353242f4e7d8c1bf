import type { Context } from "#config/context.ts";
import type { AgentLookup } from "#setup/registration/settings.ts";
import { disableMcp, enableMcp } from "./mcp-register.ts";
import { disableNative, enableNative } from "./native.ts";

interface BesideOptions {
  readonly native: boolean;
  readonly mcp: boolean;
  readonly dryRun: boolean;
  readonly full?: boolean;
  readonly forward?: boolean;
}

/** What `enable` registers beside the hooks. @returns exit code of the first that failed, otherwise 0 */
export async function enableBeside(
  names: readonly string[],
  { native, mcp, ...options }: BesideOptions,
  context: Context,
  agents: AgentLookup,
): Promise<number> {
  const code = native ? await enableNative(names, options, context, agents) : 0;
  return mcp && code === 0 ? enableMcp(names, options, context, agents) : code;
}

/** The reverse, without the hooks. */
export async function disableBeside(
  names: readonly string[],
  { native, mcp, ...options }: BesideOptions,
  context: Context,
  agents: AgentLookup,
): Promise<number> {
  const code = native ? await disableNative(names, options, context, agents) : 0;
  return mcp && code === 0 ? disableMcp(names, options, context, agents) : code;
}
