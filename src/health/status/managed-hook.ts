import { constants } from "node:fs";
import { join } from "node:path";
import { type HookConf, readHookConf } from "../../registration/hook-conf.ts";
import { MANAGED_FOLDER } from "../../registration/managed.ts";
import { isAccessible } from "./files.ts";

/** The hook program that an administrator installed for all users. */
export const MANAGED_HOOK = join(MANAGED_FOLDER, "hook");

/** Why hooks that are registered for all users would not work for this user, with the remedy. Only root can repair it. */
export async function brokenManagedHook(): Promise<readonly string[]> {
  const remedy = "ask the administrator to run enable --managed";
  if (!(await isAccessible(MANAGED_HOOK, constants.X_OK))) {
    return [`it is registered for all users, but ${MANAGED_HOOK} is missing or cannot be executed; ${remedy}`];
  }
  const conf = await managedHookConf();
  for (const path of [conf.node, conf.program]) {
    if (path !== null && (await isAccessible(path, constants.R_OK))) continue;
    return [`hooks for all users cannot start a drain: ${path ?? `${MANAGED_HOOK}.conf`} is missing; ${remedy}`];
  }
  return [];
}

/** What it starts drains with. */
export const managedHookConf = (): Promise<HookConf> => readHookConf(`${MANAGED_HOOK}.conf`);
