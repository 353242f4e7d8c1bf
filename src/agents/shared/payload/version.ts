import { exec, execFile } from "node:child_process";
import { homedir, platform } from "node:os";
import { ONLY_FROM_PATH, systemProgram } from "#kit/system-program.ts";

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
    const done = (error: unknown, stdout: string): void =>
      resolveVersion(error === null ? parseVersion(stdout) : undefined);
    const limits = { timeout: VERSION_TIMEOUT_MS, killSignal: "SIGKILL", maxBuffer: 64 * 1024 } as const;
    const child =
      platform() === "win32"
        ? exec(`${program} --version`, { ...limits, ...windowsShell(env) }, done)
        : execFile(program, ["--version"], { ...limits, env }, done);
    child.stdin?.end();
  });
}

/**
 * npm installs a .cmd on Windows, which only a shell can start. The current folder can be somebody else's repository with a
 * program of the same name, so the shell runs elsewhere and does not look in its own folder.
 */
const windowsShell = (env: Readonly<Record<string, string | undefined>>) => ({
  env: { ...env, ...ONLY_FROM_PATH },
  shell: systemProgram("cmd.exe", env),
  cwd: homedir(),
  windowsHide: true,
});

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
