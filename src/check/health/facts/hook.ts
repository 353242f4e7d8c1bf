import { constants, existsSync } from "node:fs";
import type { Context } from "#config/context.ts";
import { ownUid } from "#config/file-owner.ts";
import { suggest } from "#kit/suggest.ts";
import { type HookConf, readHookConf } from "#setup/registration/hook-conf.ts";
import { versionOf } from "#setup/registration/installed-copy.ts";
import { managedConfPathOf, managedHookOf } from "#setup/registration/managed-places.ts";
import { isAccessible } from "./files.ts";
import type { Facts } from "./shape.ts";

/** The program that agents start. */
export async function hookOf({ places, platform }: Context): Promise<Facts["hook"]> {
  const { node, program } = await readHookConf(places.hookConfPath);
  const installed = existsSync(places.hookPath);
  // On Windows, Node runs it, so it only needs to be readable
  const mode = platform === "win32" ? constants.R_OK : constants.X_OK;
  const executable = installed && (await isAccessible(places.hookPath, mode));
  return {
    path: places.hookPath,
    installed,
    executable,
    node,
    program,
    version: program === null ? null : versionOf(program),
  };
}

/** Only root can repair or remove what serves all users. */
export function asRoot(verb: "enable" | "disable", platform: NodeJS.Platform): string {
  const isRoot = ownUid(platform) === 0;
  return isRoot ? suggest(`${verb} --managed`) : `ask the administrator to run ${verb} --managed`;
}

/** Why hooks that are registered for all users would not work for this user, with the remedy. */
export async function brokenManagedHook(platform: NodeJS.Platform): Promise<readonly string[]> {
  const hook = managedHookOf(platform);
  const remedy = asRoot("enable", platform);
  if (!(await isAccessible(hook, constants.X_OK))) {
    return [`it is registered for all users, but ${hook} is missing or cannot be executed; ${remedy}`];
  }
  const { node, program } = await managedHookConf(platform);
  for (const [path, mode] of [
    [node, constants.X_OK],
    [program, constants.R_OK],
  ] as const) {
    if (path !== null && (await isAccessible(path, mode))) continue;
    const what =
      path === null
        ? `${managedConfPathOf(platform)} is missing or damaged`
        : `${path} is missing, or you cannot use it`;
    return [`hooks for all users cannot start a drain: ${what}; ${remedy}`];
  }
  return [];
}

/** Which Node and program the hook for all users starts drains with. */
export const managedHookConf = (platform: NodeJS.Platform): Promise<HookConf> =>
  readHookConf(managedConfPathOf(platform));
