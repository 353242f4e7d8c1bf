import { variableFiles } from "#agents/registry.ts";
import type { Context } from "#config/context.ts";
import { doubtfulVariables, systemHome } from "#config/doubtful-variables.ts";
import { placesOf } from "#config/places.ts";

/**
 * What drains that hooks start do not read, because HOME is not the account's home and a file there names HOME: a repository could have
 * set it. Otherwise only the log of such a drain says so.
 *
 * @returns the problem and its remedy; `undefined` if drains use this home
 */
export async function doubtfulHome({
  env,
  places,
  platform,
}: Pick<Context, "env" | "places" | "platform">): Promise<
  { readonly problem: string; readonly remedy: string } | undefined
> {
  const { HOME } = env;
  if (HOME === undefined || HOME !== places.home || HOME === systemHome()) return undefined;
  const at = { folders: [], home: HOME, files: await variableFiles() };
  const file = (await doubtfulVariables({ HOME }, places.stateDir, at)).get("HOME");
  const used = placesOf({ env: { ...env, HOME: undefined }, home: systemHome() ?? "/", platform }).configPath;
  if (file === undefined || used === places.configPath) return undefined;
  return {
    problem: `drains that hooks start do not read ${places.configPath}, because ${file} names HOME, and a repository could have set it to ${HOME}`,
    remedy: `put your settings into ${used}, or write ~ instead of $HOME in ${file}`,
  };
}
