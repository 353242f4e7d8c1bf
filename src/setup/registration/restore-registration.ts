import type { Context } from "#config/context.ts";
import { loadNativePart } from "#store/native-part.ts";
import { enabledText, planEnable, writeEnable } from "./enable.ts";
import { installHookProgram } from "./hook-program.ts";
import { type AgentLookup, namedAgents, type Scope } from "./settings.ts";

/**
 * Registers one agent again, as `enable` did before.
 *
 * @param project the project's folder; `null` for the user's settings
 * @returns one line: what was enabled, in which files
 * @throws UserError or FileError when it cannot be registered
 */
export async function restoreRegistration(
  source: string,
  { scope, project }: { readonly scope: Scope; readonly project: string | null },
  context: Context,
  agents: AgentLookup,
  hookSource: string,
): Promise<string> {
  const there = project === null ? context : { ...context, cwd: project };
  await loadNativePart();
  const [agent] = await namedAgents([source], scope, agents);
  if (agent === undefined) return "";
  const first = await planEnable(agent, scope, there);
  const hasStatusLine = first.installer.statusLine?.(first.files) === "ours";
  const plan = hasStatusLine ? await planEnable(agent, scope, there, true) : first;
  await installHookProgram(there, hookSource);
  await writeEnable(plan, scope, there);
  return enabledText(plan).trim();
}
