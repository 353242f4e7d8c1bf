import { realpath } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { InstallTarget } from "#core/model/installer.ts";

export const CONFIG = "config.toml";
export const HOOKS = "hooks.json";

/** `CODEX_HOME` with links resolved, as in Codex; otherwise `~/.codex`, unresolved. */
export async function codexHomeOf({ home, project, env }: InstallTarget): Promise<string> {
  const moved = env["CODEX_HOME"];
  return moved === undefined || moved === "" ? join(home, ".codex") : resolvedPath(resolve(project, moved));
}

/** The user's configuration, which contains the trust of both scopes. */
export const configPath = async (target: InstallTarget): Promise<string> => join(await codexHomeOf(target), CONFIG);

/** The path by which Codex identifies hooks: for a project below its working directory, with links resolved. */
export async function hooksPath(scope: "user" | "project", target: InstallTarget): Promise<string> {
  if (scope === "user") return join(await codexHomeOf(target), HOOKS);
  return join(await resolvedPath(target.project), ".codex", HOOKS);
}

/** A path with its links resolved, or unchanged if it does not exist. */
export const resolvedPath = (path: string): Promise<string> => realpath(path).catch(() => path);
