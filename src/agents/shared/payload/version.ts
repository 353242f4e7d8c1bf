import { execFile } from "node:child_process";
import { platform } from "node:os";

// `--version` takes 50 to 300 ms; a wrapper script that prompts or downloads must not block its caller
const VERSION_TIMEOUT_MS = 3000;

/**
 * Asks an installed program for its version.
 *
 * @param program a constant: on Windows it becomes part of a shell's command line
 * @returns the first `x.y.z` it prints; `undefined` if it is missing, fails or takes longer than 3 s
 */
export function versionOf(
  program: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string | undefined> {
  return new Promise((resolveVersion) => {
    // On Windows npm installs a .cmd, which only a shell can start
    const shell = platform() === "win32";
    const child = execFile(
      shell ? `${program} --version` : program,
      shell ? [] : ["--version"],
      { env, shell, timeout: VERSION_TIMEOUT_MS, killSignal: "SIGKILL", maxBuffer: 64 * 1024, windowsHide: true },
      (error, stdout) => resolveVersion(error === null ? parseVersion(stdout) : undefined),
    );
    child.stdin?.end();
  });
}

/** The first `x.y.z` in a text. */
export const parseVersion = (text: string): string | undefined => /\b\d+\.\d+\.\d+\b/.exec(text)?.[0];

/** Negative if `a` is older than `b`, 0 if they are equal, positive otherwise. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [a, b].map((version) => version.split(".").map(Number));
  for (const [at, part] of (left ?? []).entries()) {
    const difference = part - (right?.[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
