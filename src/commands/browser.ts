import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Context } from "#config/context.ts";
import { systemProgram } from "#kit/system-program.ts";

/**
 * Opens a page in the user's browser. Does not wait and never fails, because the address was printed.
 *
 * Other users can see the arguments of processes, so the browser is started with a private file that leads to the page.
 *
 * @param link contains a token
 * @returns a function that removes the file, for when the link was used
 */
export function openInBrowser(link: string, context: Pick<Context, "platform" | "env" | "places">): () => void {
  const { platform, env, places } = context;
  const [program, ...args] = openerOn(platform, env);
  if (program === undefined) return () => {};
  try {
    const file = writePrivately(link, platform === "linux" && existsSync(SNAPS) ? places.home : places.stateDir);
    const child = spawn(program, [...args, pathToFileURL(file).href], {
      stdio: "ignore",
      detached: true,
      env: { ...env },
    });
    child.on("error", () => {});
    child.unref();
    return () => rmSync(dirname(file), { recursive: true, force: true });
  } catch {
    // No such program, the folder is not writable, or the process limit is reached: continue without a browser
    return () => {};
  }
}

/** Whether this machine's user can see a page that a program opens here, as far as the environment says. */
export const hasBrowser = ({ platform, env }: Pick<Context, "platform" | "env">): boolean =>
  openerOn(platform, env).length > 0;

/** How to reach a page on loopback from the user's machine, if this is another one; otherwise empty. */
export function tunnelText(link: string, { env }: Pick<Context, "env">): string {
  if (!isRemote(env)) return "";
  const { port } = new URL(link);
  return `On your machine run ssh -N -L ${port}:127.0.0.1:${port} <this machine>, then open the address there. Any other local port works too, with it in the address.\n`;
}

// --- internal ---

/** Browsers that are installed as snaps cannot read below hidden folders, such as the state directory. */
const SNAPS = "/var/lib/snapd/desktop";
const FOLDER = "openhook-otel-view-";
/** A file that is older is left from a `view` that was killed: a browser reads it within seconds. */
const LEFT_MS = 3_600_000;

/** @returns the path of a new file that only this user can read */
function writePrivately(link: string, parent: string): string {
  mkdirSync(parent, { recursive: true, mode: 0o700 });
  for (const name of readdirSync(parent)) {
    const old = join(parent, name);
    if (name.startsWith(FOLDER) && statSync(old).mtimeMs < Date.now() - LEFT_MS) rmSync(old, { recursive: true });
  }
  const file = join(mkdtempSync(join(parent, FOLDER)), "open.html");
  const page = `<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0;url=${link}">
<title>openhook-otel</title>
<a href="${link}">Open the page</a>
`;
  writeFileSync(file, page, { mode: 0o600, flag: "wx" });
  return file;
}

function openerOn(platform: NodeJS.Platform, env: Context["env"]): readonly string[] {
  // The browser would open on a screen that the user does not see
  if (isRemote(env)) return [];
  if (platform === "darwin") return ["open"];
  // `start` is a cmd.exe builtin, and cmd.exe would interpret characters of the URL
  if (platform === "win32") return [systemProgram("rundll32.exe", env), "url.dll,FileProtocolHandler"];
  return hasScreen(env) || env["WSL_DISTRO_NAME"] ? ["xdg-open"] : [];
}

/** A login by SSH without a forwarded screen. */
const isRemote = (env: Context["env"]): boolean => Boolean(env["SSH_CONNECTION"]) && !hasScreen(env);

const hasScreen = (env: Context["env"]): boolean => Boolean(env["DISPLAY"] || env["WAYLAND_DISPLAY"]);
