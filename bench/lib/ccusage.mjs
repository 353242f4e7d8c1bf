import { existsSync } from "node:fs";
import { join } from "node:path";
import { measure } from "./measure.mjs";
import { ROOT } from "./options.mjs";

/**
 * Finds ccusage, the native reader that ours is compared with: its binary, and the npm package's launcher that users start.
 *
 * @returns `undefined`, with a message, if this platform has no native package
 */
export async function findCcusage() {
  const name = `@ccusage/ccusage-${process.platform}-${process.arch}`;
  const binary = join(ROOT, "node_modules", name, "bin", process.platform === "win32" ? "ccusage.exe" : "ccusage");
  const launcher = join(ROOT, "node_modules", "ccusage", "src", "cli.js");
  const missing = [binary, launcher].find((path) => !existsSync(path));
  if (missing !== undefined) {
    console.log(`\nNOT COMPARED WITH ccusage: ${missing} is missing. Goals that compare with it stay open.\n`);
    return undefined;
  }
  // The launcher makes the binary executable; npm does not
  const { stdout } = await measure([process.execPath, launcher, "--version"], { env: process.env });
  return { version: stdout.trim(), native: [binary], launcher: [process.execPath, launcher] };
}

/** Arguments for one agent's usage per day, as JSON, without network access. */
export const dailyOf = ({ folder }) => [folder.slice(1), "daily", "--offline", "--json"];

/** Its output under the names of our totals. For Codex, its input excludes cache reads. */
export function totalsOfCcusage({ source }, stdout) {
  const { inputTokens, outputTokens, cacheReadTokens, ...rest } = JSON.parse(stdout).totals;
  const both = { output: outputTokens, cache_read: cacheReadTokens };
  return source === "codex"
    ? { input: inputTokens + cacheReadTokens, ...both, reasoning: rest.reasoningOutputTokens }
    : { input: inputTokens, ...both, cache_creation: rest.cacheCreationTokens };
}
