import { isCancel, multiselect } from "@clack/prompts";
import { type Context, UserError } from "../context.ts";
import type { PresentAgent } from "../registration/present-agents.ts";
import {
  type InstallableAgent,
  listed,
  readSettingsFiles,
  type Scope,
  targetOf,
} from "../registration/settings-edit.ts";
import { isInteractive, promptStreams } from "./prompts.ts";

/**
 * Asks which of the found agents to enable; all are selected at first.
 *
 * @returns the selected ones, none when the user cancels
 * @throws UserError when this is no terminal
 */
export async function chooseAgents(
  found: readonly PresentAgent[],
  scope: Scope,
  context: Context,
): Promise<readonly PresentAgent[]> {
  const names = found.map(({ agent }) => agent.source);
  if (!isInteractive(context)) {
    throw new UserError(
      "E_CONFIRM",
      `found ${names.join(", ")}: name the agents to enable, pass --yes for all, or run it in a terminal to choose`,
    );
  }
  const options = await Promise.all(
    found.map(async ({ agent, installer, version }) => ({
      value: agent.source,
      label: version === undefined ? agent.title : `${agent.title} ${version}`,
      hint: await hintOf(installer, scope, context),
    })),
  );
  const choice = await multiselect({
    message: "Register the hook with these agents? Space toggles, Enter confirms",
    options,
    initialValues: names,
    required: false,
    ...promptStreams(context),
  });
  if (isCancel(choice)) return [];
  return found.filter(({ agent }) => choice.includes(agent.source));
}

// --- internal ---

async function hintOf(installer: InstallableAgent["installer"], scope: Scope, context: Context): Promise<string> {
  const paths = await installer.paths(scope, targetOf(context));
  const files = await readSettingsFiles(paths).catch(() => []);
  const isEnabled = installer.registered(files).length > 0;
  return isEnabled ? `enabled already in ${listed(paths)}` : listed(paths);
}
