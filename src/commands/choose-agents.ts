import { isCancel, multiselect } from "@clack/prompts";
import type { Context } from "#config/context.ts";
import { UserError } from "#kit/errors.ts";
import { installerHere } from "#setup/registration/other-places.ts";
import type { PresentAgent } from "#setup/registration/present-agents.ts";
import {
  type InstallableAgent,
  listed,
  readSettingsFiles,
  type Scope,
  targetOf,
} from "#setup/registration/settings.ts";
import { isInteractive, promptStreams } from "./prompts.ts";

/**
 * Asks which of the found agents to enable; all are selected at first. Does not ask if all are enabled already.
 *
 * @returns the selected ones; `undefined` when the user cancels
 * @throws UserError when this is no terminal
 */
export async function chooseAgents(
  found: readonly PresentAgent[],
  scope: Scope,
  context: Context,
): Promise<readonly PresentAgent[] | undefined> {
  const names = found.map(({ agent }) => agent.source);
  const states = await Promise.all(found.map(({ installer }) => stateOf(installer, scope, context)));
  if (states.every(({ isEnabled }) => isEnabled)) return found;
  if (!isInteractive(context)) {
    throw new UserError(
      "E_CONFIRM",
      `found ${names.join(", ")}: name the agents to enable, pass --yes for all, or run it in a terminal to choose`,
    );
  }
  const options = found.map(({ agent, version }, index) => {
    const { isEnabled = false, files = "" } = states[index] ?? {};
    return {
      value: agent.source,
      label: version === undefined ? agent.title : `${agent.title} ${version}`,
      hint: isEnabled ? `enabled already in ${files}` : files,
    };
  });
  const choice = await multiselect({
    message: "Register the hook with these agents?",
    options,
    initialValues: names,
    required: false,
    ...promptStreams(context),
  });
  if (isCancel(choice)) return undefined;
  return found.filter(({ agent }) => choice.includes(agent.source));
}

// --- internal ---

interface EnabledState {
  readonly isEnabled: boolean;
  /** Paths of the agent's settings, for display. */
  readonly files: string;
}

async function stateOf(
  installer: InstallableAgent["installer"],
  scope: Scope,
  context: Context,
): Promise<EnabledState> {
  const paths = await installer.paths(scope, targetOf(context));
  const files = await readSettingsFiles(paths).catch(() => []);
  return { isEnabled: installerHere(installer, context).registered(files).length > 0, files: listed(paths) };
}
