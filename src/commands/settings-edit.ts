import { Writable } from "node:stream";
import { confirm, isCancel } from "@clack/prompts";
import { SettingsError } from "../agents/shared/settings.ts";
import { FileError, readFileIfAny } from "../config/files.ts";
import type { Agent, Installer, InstallTarget } from "../model/agent.ts";
import { type Context, UserError } from "./context.ts";

/** What `enable` and `disable` have in common: which agents, which files, what the user says to it. */

/** The agents there are; `agents/registry.ts` is one. */
export interface AgentLookup {
  list(): Promise<readonly Agent[]>;
  find(source: string): Promise<Agent | undefined>;
}

export type Scope = "user" | "project";

export interface InstallableAgent {
  readonly agent: Agent;
  readonly installer: Installer;
}

export interface SettingsFile {
  readonly path: string;
  /** `undefined` when there is no file. */
  readonly bytes: Buffer | undefined;
  readonly text: string | undefined;
}

export const targetOf = ({ places, cwd, env }: Context): InstallTarget => ({ home: places.home, project: cwd, env });

/** Named agents, each once. @throws UserError for a name that is none, or has no settings in this scope */
export async function namedAgents(
  names: readonly string[],
  scope: Scope,
  agents: AgentLookup,
): Promise<readonly InstallableAgent[]> {
  const chosen: InstallableAgent[] = [];
  for (const name of new Set(names)) {
    const agent = await agents.find(name);
    if (agent === undefined) {
      const known = (await installableAgents(scope, agents)).map((one) => one.agent.source).join(", ");
      throw new UserError("E_AGENT", `unknown agent ${JSON.stringify(name)}; known are: ${known}`);
    }
    const installer = (await agent.installer?.())?.default;
    if (installer === undefined) {
      throw new UserError("E_AGENT", `${agent.title} has no settings that we could edit; see its page in the README`);
    }
    if (!installer.scopes.includes(scope)) {
      throw new UserError(
        "E_SCOPE",
        `${agent.title} has no ${scope} settings; use --scope ${installer.scopes.join(" or ")}`,
      );
    }
    chosen.push({ agent, installer });
  }
  return chosen;
}

/** All agents that have an installer for this scope. */
export async function installableAgents(scope: Scope, agents: AgentLookup): Promise<readonly InstallableAgent[]> {
  const found: InstallableAgent[] = [];
  for (const agent of await agents.list()) {
    const installer = (await agent.installer?.())?.default;
    if (installer?.scopes.includes(scope)) found.push({ agent, installer });
  }
  return found;
}

/** @throws FileError when it cannot be read; UserError when it is no UTF-8 text, which an edit would spoil */
export async function readSettingsFile(path: string): Promise<SettingsFile> {
  const bytes = await readFileIfAny(path);
  if (bytes === undefined) return { path, bytes, text: undefined };
  try {
    return { path, bytes, text: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes) };
  } catch (error) {
    throw new UserError("E_SETTINGS", `${path} is no UTF-8 text; nothing was changed`, 2, { cause: error });
  }
}

/** Runs an installer's edit; what it has against the text becomes one line with the file's name. */
export function edited<T>(path: string, edit: () => T): T {
  try {
    return edit();
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    throw new UserError(error.code, `${path}, ${error.message}; nothing was changed`, 2, { cause: error });
  }
}

/** Turns what the file system had against us into the one line that `cli.ts` prints. */
export async function withUserErrors<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof FileError) throw new UserError(error.code, error.message, 1, { cause: error });
    throw error;
  }
}

/**
 * Asks before an edit.
 *
 * @returns what the user said; true without asking when `sure` is set: by `--yes`, or by naming the agent
 * @throws UserError when there is nobody to ask
 */
export async function agreed(message: string, sure: boolean, { stdin, stdout }: Context): Promise<boolean> {
  if (sure) return true;
  if (stdin.isTTY !== true || stdout.isTTY !== true) {
    throw new UserError(
      "E_CONFIRM",
      "this edits agents' settings: name the agents or pass --yes, or run it in a terminal to be asked",
    );
  }
  const answer = await confirm({ message, input: stdin, ...(stdout instanceof Writable ? { output: stdout } : {}) });
  return !isCancel(answer) && answer;
}
