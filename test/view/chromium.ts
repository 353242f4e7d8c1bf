import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

/**
 * A real Chromium: `CHROMIUM`, otherwise Debian's, which is installed if permitted.
 *
 * @throws with what is missing
 */
export async function startChromium(): Promise<Browser> {
  const executablePath = process.env["CHROMIUM"] ?? DEBIANS;
  if (!existsSync(executablePath)) install(executablePath);
  // Its sandbox needs rights that root in a container does not have; it only loads our own page
  return chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
}

// --- internal ---

const DEBIANS = "/usr/bin/chromium";

function install(executablePath: string): void {
  const canInstall = executablePath === DEBIANS && process.getuid?.() === 0;
  const apt = (...args: readonly string[]): string =>
    spawnSync("apt-get", args, { encoding: "utf8", env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" } }).stderr;
  const output = canInstall ? `${apt("update")}${apt("install", "--yes", "--no-install-recommends", "chromium")}` : "";
  if (existsSync(executablePath)) return;
  throw new Error(
    `the tests of the page need Chromium and ${executablePath} is not there: apt-get install chromium, or set CHROMIUM to one${output === "" ? "" : `\n${output}`}`,
  );
}
