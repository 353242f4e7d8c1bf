import { constants, existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import type { Context } from "../../context.ts";
import { suggest } from "../../model/suggest.ts";
import { isNoexec, noexecText } from "../../registration/hook-program.ts";
import { isAccessible } from "./files.ts";
import type { Status } from "./shape.ts";

/** The program that agents start. */
export async function hookOf({ places, platform }: Context): Promise<Status["hook"]> {
  const conf = await readFile(places.hookConfPath, "utf8").catch(() => "");
  const installed = existsSync(places.hookPath);
  // On Windows, Node runs it, so it only needs to be readable
  const mode = platform === "win32" ? constants.R_OK : constants.X_OK;
  const executable = installed && (await isAccessible(places.hookPath, mode));
  return {
    path: places.hookPath,
    installed,
    executable,
    node: confValue(conf, "node"),
    program: confValue(conf, "program"),
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

/** A value that `enable` wrote for a POSIX shell. */
export function confValue(conf: string, name: string): string | null {
  const found = new RegExp(`^${name}='((?:[^']|'\\\\'')*)'$`, "m").exec(conf)?.[1];
  return found === undefined ? null : found.replaceAll("'\\''", "'");
}
