import type { Context } from "#config/context.ts";
import type { Agent } from "#core/model/agent.ts";
import { diffOfFile } from "#kit/text/diff.ts";
import {
  contentWarning,
  isNativeNew,
  type NativePlan,
  nativeSources,
  planNative,
  planNativeOff,
  switchedOffText,
  writeNative,
  writeNativeOff,
} from "#setup/registration/native.ts";
import { presentAgents } from "#setup/registration/present-agents.ts";
import {
  type AgentLookup,
  complainTo,
  forEachAgent,
  namedAgents,
  withUserErrors,
} from "#setup/registration/settings.ts";
import { removeBeside } from "./remove-beside.ts";

interface NativeOptions {
  readonly dryRun: boolean;
  readonly full?: boolean;
  /** Also replaces exporters that the user has, and hands on what they would have sent. @default false */
  readonly forward?: boolean;
}

/**
 * `openhook-otel enable --native`: lets agents send their own OpenTelemetry to this program, in addition to the hooks.
 *
 * @param names agents by source; none: all of these that are on this machine
 * @returns exit code: 0 done or nothing to do; 1 one of several agents that were not named could not be switched on
 * @throws UserError for anything the user can fix
 */
export const enableNative = (
  names: readonly string[],
  { dryRun, full, forward = false }: NativeOptions,
  context: Context,
  agents: AgentLookup,
): Promise<number> =>
  withUserErrors(async () => {
    const isNamed = names.length > 0;
    const found = isNamed ? await namedAgents(names, "user", agents) : await presentWithNative(context, agents);
    const done = await forEachAgent(found, isNamed ? undefined : complainTo(context), async ({ agent }) => {
      const plan = await planNative(agent, forward, context);
      if (dryRun) return context.stdout.write(dryRunText(plan, full === true));
      const written = await writeNative(plan, context);
      return context.stdout.write(enabledText(written));
    });
    if (dryRun) context.stdout.write("Dry run: nothing was written.\n");
    return done.length === found.length ? 0 : 1;
  });

/** `openhook-otel disable --native`: restores the agents' settings for their own OpenTelemetry; hooks stay. */
export const disableNative = (
  names: readonly string[],
  options: NativeOptions,
  context: Context,
  agents: AgentLookup,
): Promise<number> => removeBeside(REMOVAL, names, options, context, agents);

// --- internal ---

const REMOVAL: Parameters<typeof removeBeside>[0] = {
  sources: nativeSources,
  none: "No agent sends its own telemetry to openhook-otel.\n",
  plan: planNativeOff,
  write: writeNativeOff,
  text: async (agent, wasOn, paths) => `${agent.title}: ${switchedOffText(wasOn, paths)}\n${await reminder(agent)}`,
};

/** Found on this machine. */
const presentWithNative = (context: Context, { list, find }: AgentLookup) =>
  presentAgents("user", context, {
    list: async () => (await list()).filter(({ nativeExport }) => nativeExport !== undefined),
    find,
  });

function enabledText(plan: NativePlan): string {
  const { agent, file, forward } = plan;
  const verb = isNativeNew(plan) ? "is now sent" : "is already sent";
  const handed = forward === undefined ? "" : `, which hands it on to ${forward.endpoint}`;
  if (file !== undefined) {
    return `${agent.title}: its own telemetry ${verb} to openhook-otel${handed} (${file.path}), from its next start on\n`;
  }
  const variables = Object.entries(plan.native.variables?.(plan.address) ?? {});
  const line = variables.map(([name, value]) => `${name}=${quoted(value)}`).join(" ");
  const text = `${agent.title} has no setting for its own telemetry, only a variable. Start it with this one:\n  ${line}\n`;
  return `${text}${contentWarning(plan.native)}`;
}

function dryRunText({ agent, file, after, address }: NativePlan, isFull: boolean): string {
  if (file === undefined) return `${agent.title}: no file would be changed, it has only variables for this\n`;
  const diff = diffOfFile(file, { path: file.path, text: after }, isFull);
  return diff === "" ? `${agent.title}: already on in ${file.path}\n` : diff.replaceAll(address.token, "***");
}

async function reminder(agent: Agent): Promise<string> {
  const native = (await agent.nativeExport?.())?.default;
  const names = Object.keys(native?.variables?.({ url: "", token: "", file: "" }) ?? {});
  return names.length === 0 ? "" : `  start it without ${names.join(", ")} from now on\n`;
}

const quoted = (value: string): string => (/^[\w.:/-]+$/.test(value) ? value : `'${value.replaceAll("'", "'\\''")}'`);
