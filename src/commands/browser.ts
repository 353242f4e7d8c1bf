import { spawn } from "node:child_process";
import type { Context } from "../context.ts";
import { systemProgram } from "../model/system-program.ts";

/** Opens a page in the user's browser. Does not wait and never fails, because the address was printed. */
export function openInBrowser(url: string, { platform, env }: Pick<Context, "platform" | "env">): void {
  const [program, ...args] = openerOn(platform, env);
  if (program === undefined) return;
  try {
    const child = spawn(program, [...args, url], { stdio: "ignore", detached: true, env: { ...env } });
    child.on("error", () => {});
    child.unref();
  } catch {
    // No such program, or the process limit is reached: continue without a browser
  }
}

/** How to reach a page on loopback from the user's machine, if this is another one; otherwise empty. */
export function tunnelText(link: string, { env }: Pick<Context, "env">): string {
  if (!isRemote(env)) return "";
  const { port } = new URL(link);
  return `On your machine run ssh -N -L ${port}:127.0.0.1:${port} <this machine>, then open the address there.\n`;
}

// --- internal ---

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
