import { constants, existsSync } from "node:fs";
import type { Context } from "#config/context.ts";
import { suggest } from "#kit/suggest.ts";
import { readHookConf } from "#setup/registration/hook-conf.ts";
import { isNoexec, noexecText } from "#setup/registration/hook-program.ts";
import { versionOf } from "#setup/registration/installed-copy.ts";
import { isAccessible } from "./files.ts";
import type { Status } from "./shape.ts";

/** The program that agents start. */
export async function hookOf({ places, platform }: Context): Promise<Status["hook"]> {
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

/** Why a registered hook would not work, with the remedy. */
export function brokenHook(hook: Status["hook"], isEnabled: boolean, { places, platform }: Context): readonly string[] {
  const repair = `${suggest("enable")} repairs it`;
  if (!hook.installed)
    return isEnabled ? [`agents are configured to run ${hook.path}, which does not exist: ${repair}`] : [];
  if (isNoexec(hook.path, platform)) return [noexecText(hook.path)];
  if (!hook.executable) return [`${hook.path} cannot be executed: ${repair}`];
  if (hook.program === null || hook.node === null) {
    return [`${places.hookConfPath} is missing or damaged, so hooks cannot start a drain: ${repair}`];
  }
  // A missing Node binary is replaced by the one in PATH
  return existsSync(hook.program)
    ? []
    : [`hooks cannot start a drain: ${hook.program}, named in ${places.hookConfPath}, does not exist: ${repair}`];
}
