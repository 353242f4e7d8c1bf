import { isCancel, multiselect } from "@clack/prompts";
import { type Context, UserError } from "../context.ts";
import { printLines } from "../text/ascii.ts";
import { printable } from "../text/terminal.ts";
import {
  type AgentLookup,
  canAsk,
  type InstallableAgent,
  installableAgents,
  listed,
  readSettingsFiles,
  type Scope,
  streamsOf,
  targetOf,
} from "./settings-edit.ts";

/** Which agents this machine has, and what keeps them from telling us something. */

export interface PresentAgent extends InstallableAgent {
  /** Where it could be found out. */
  readonly version?: string;
}

/** Agents that are on this machine. @throws UserError when there is none */
export async function presentAgents(
  scope: Scope,
  context: Context,
  agents: AgentLookup,
): Promise<readonly PresentAgent[]> {
  const all = await installableAgents(scope, agents);
  const target = targetOf(context);
  const detected = await Promise.all(all.map(({ installer }) => installer.detect(target)));
  const found = all.flatMap((one, index): PresentAgent[] => {
    const { present, version } = detected[index] ?? { present: false };
    return present ? [{ ...one, ...(version !== undefined && { version }) }] : [];
  });
  if (found.length > 0) return found;
  const known = all.map((one) => one.agent.source).join(", ");
  throw new UserError("E_AGENT", `no agent was found on this machine; name the one you mean: ${known}`);
}

/**
 * Lets the user choose; all are chosen to begin with.
 *
 * @returns what was chosen, nothing when the user went away
 * @throws UserError when there is nobody to ask
 */
export async function chosenByUser(
  found: readonly PresentAgent[],
  scope: Scope,
  context: Context,
): Promise<readonly PresentAgent[]> {
  const names = found.map(({ agent }) => agent.source);
  if (!canAsk(context)) {
    throw new UserError(
      "E_CONFIRM",
      `found ${names.join(", ")}: name those that shall be collected, or pass --yes for all, or run it in a terminal to be asked`,
    );
  }
  const options = await Promise.all(
    found.map(async ({ agent, installer, version }) => ({
      value: agent.source,
      label: version === undefined ? agent.title : `${agent.title} ${version}`,
      hint: await hintOf(installer, scope, context),
    })),
  );
  const answer = await multiselect({
    message: "Register the hook with these agents? Space changes the choice, Enter takes it",
    options,
    initialValues: names,
    required: false,
    ...streamsOf(context),
  });
  if (isCancel(answer)) return [];
  return found.filter(({ agent }) => answer.includes(agent.source));
}

/**
 * Says in clear words what keeps an agent's registrations from running, and what to do.
 *
 * @returns whether they run
 */
export async function sayFindings(
  { installer, files }: InstallableAgent & WithPaths,
  context: Context,
): Promise<boolean> {
  const now = await readSettingsFiles(files.map(({ path }) => path));
  const findings = (await installer.check?.(now, targetOf(context))) ?? [];
  printLines(
    context,
    findings.map(({ level, text }) => `  ${level === "broken" ? "✗" : "!"} ${printable(text)}`),
  );
  return findings.every(({ level }) => level !== "broken");
}

// --- internal ---

interface WithPaths {
  readonly files: readonly { readonly path: string }[];
}

async function hintOf(installer: InstallableAgent["installer"], scope: Scope, context: Context): Promise<string> {
  const paths = await installer.paths(scope, targetOf(context));
  const files = await readSettingsFiles(paths).catch(() => []);
  const isEnabled = installer.registered(files).length > 0;
  return isEnabled ? `enabled already in ${listed(paths)}` : listed(paths);
}
