import { join } from "node:path";
import type { Context } from "#config/context.ts";
import { placesOf } from "#config/places.ts";
import { type DemoFolders, demoHome } from "./places.ts";
import { runNode, withoutPrograms } from "./replay.ts";

/**
 * Writes two weeks of made-up sessions below the demo's folder, imports them there and checks what became of their commits. Takes some
 * seconds.
 *
 * @param packageRoot contains `demo/made-up`
 * @returns a context in which commands show these sessions
 * @throws UserError if a program fails
 */
export async function makeTwoWeeks({ root }: DemoFolders, context: Context, packageRoot: string): Promise<Context> {
  const places = await demoHome(join(root, "two-weeks"));
  await runNode([join(packageRoot, "demo", "made-up", "write.mjs"), places.home], places, context);
  for (const args of [["import"], ["outcomes"]]) await runNode([context.programPath, ...args], places, context);
  const { home, stateDir, configDir } = places;
  const env = { ...withoutPrograms(context.env), OPENHOOK_OTEL_HOME: stateDir, XDG_CONFIG_HOME: configDir };
  return { ...context, env, cwd: home, places: placesOf({ env, home, platform: context.platform }) };
}
