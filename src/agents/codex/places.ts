import { realpath } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { InstallTarget } from "../../model/agent.ts";

export const CONFIG = "config.toml";
export const HOOKS = "hooks.json";

/** `CODEX_HOME` with its links resolved, as Codex does it, else `~/.codex` unresolved. */
export async function codexHomeOf({ home, project, env }: InstallTarget): Promise<string> {
  const moved = env["CODEX_HOME"];
  return moved === undefined || moved === "" ? join(home, ".codex") : real(resolve(project, moved));
}

/** Trust is the user's: for both scopes it is in the user's configuration. */
export const configPath = async (target: InstallTarget): Promise<string> => join(await codexHomeOf(target), CONFIG);

/** Codex identifies hooks by this path, as it sees it: that of its working directory, links resolved. */
export async function hooksPath(scope: "user" | "project", target: InstallTarget): Promise<string> {
  if (scope === "user") return join(await codexHomeOf(target), HOOKS);
  return join(await real(target.project), ".codex", HOOKS);
}

/** A path with its links resolved, or unchanged if it does not exist. */
export const real = (path: string): Promise<string> => realpath(path).catch(() => path);
