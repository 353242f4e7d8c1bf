import { dirname, join } from "node:path";
import type { Context } from "#config/context.ts";
import { VERSION } from "#kit/version.ts";
import { isCopy } from "./copy-folders.ts";
import { readHookConf } from "./hook-conf.ts";

/**
 * Makes hooks use this version if they use an older copy. For commands that change the store: they may migrate it, and drains of an older
 * version would refuse it from then on.
 *
 * @throws UserError or FileError if the copy cannot be written
 */
export async function renewCopy(context: Context): Promise<void> {
  const { places, programPath, platform, stderr } = context;
  const { program } = await readHookConf(places.hookConfPath);
  if (program === null || !isCopy(program, places)) return;
  // Loaded on use: every import asks, and almost none has to copy
  const { isPackage, versionOf } = await import("./installed-copy.ts");
  if (!isPackage(programPath)) return;
  const before = versionOf(program);
  if (before === null || !isNewer(VERSION, before)) return;
  const { installHookProgram } = await import("./hook-program.ts");
  await installHookProgram(context, join(dirname(programPath), platform === "win32" ? "hook.cjs" : "hook.sh"));
  stderr.write(`openhook-otel: hooks used version ${before}; now they use ${VERSION}, as this command does\n`);
}

// --- internal ---

/** Pre-releases of one version are equal. */
function isNewer(a: string, b: string): boolean {
  const [left, right] = [a, b].map((version) => version.split(/[-+]/)[0]?.split(".").map(Number) ?? []);
  const part = [0, 1, 2].find((index) => left?.[index] !== right?.[index]);
  return part !== undefined && (left?.[part] ?? 0) > (right?.[part] ?? 0);
}
