import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readlinkSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { installFromNpm, newestOnNpm } from "./npm.ts";
import type { Program } from "./programs/program.ts";
import { installFromPypi, newestOnPypi, type PythonProgram } from "./pypi.ts";

/** An agent on this machine. */
export interface Installed {
  /** Directory for PATH. */
  readonly binDir: string;
  readonly modules: string;
  /** What `--version` printed. */
  readonly version: string;
}

/**
 * Installs an agent from npm or PyPI, once per version, without install scripts.
 *
 * @throws NoProgramError if its packages do not support this platform; the error of npm or pip if it failed
 */
export function install(program: Program, cacheDir: string, version = program.version): Installed {
  const folder = join(cacheDir, `${program.source}-${version}`);
  const modules = join(folder, "node_modules");
  const binDir = join(folder, "bin");
  const link = join(binDir, program.command);
  // Two test files can need the same agent
  alone(folder, () => {
    if (existsSync(link)) return;
    mkdirSync(binDir, { recursive: true });
    const file = isOnPypi(program)
      ? join(installFromPypi(program, version, join(folder, "python")), program.command)
      : installFromNpm(program, version, { folder, binDir, cacheDir });
    rmSync(link, { force: true });
    symlinkSync(file, link);
  });
  const { error, status, stdout, stderr } = spawnSync(link, ["--version"], {
    encoding: "utf8",
    env: { PATH: `${binDir}:${process.env["PATH"]}`, HOME: folder },
    stdio: ["ignore", "pipe", "pipe"],
  });
  if (status !== 0) throw error ?? new Error(`${link} --version ended with ${status}: ${stderr || stdout}`);
  // pi prints it to stderr
  const [printed = ""] = (stdout.trim() || stderr.trim()).split("\n");
  return { binDir, modules, version: printed };
}

/**
 * The newest version that npm or PyPI has a program of.
 *
 * @returns also a newer version of which there is no program for this platform
 * @throws the error of npm or pip if they cannot be asked
 */
export const newestVersion = (
  program: Pick<Program, "source" | "packages" | "file" | "pythons">,
): { readonly version: string; readonly withoutProgram?: string } =>
  isOnPypi(program) ? { version: newestOnPypi(program) } : newestOnNpm(program);

// --- internal ---

/** Does work in a folder while no other process does. The lock of a process that has ended is taken over. */
function alone(folder: string, work: () => void): void {
  const lock = `${folder}.lock`;
  mkdirSync(dirname(folder), { recursive: true });
  for (;;) {
    try {
      symlinkSync(String(process.pid), lock);
      break;
    } catch (error) {
      if (!(error instanceof Error) || !("code" in error) || error.code !== "EEXIST") throw error;
      if (!isHeld(lock)) rmSync(lock, { force: true });
      else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
    }
  }
  try {
    work();
  } finally {
    rmSync(lock, { force: true });
  }
}

/** Whether the process that a lock names is running. */
function isHeld(lock: string): boolean {
  try {
    return process.kill(Number(readlinkSync(lock, "utf8")), 0);
  } catch {
    return false;
  }
}

function isOnPypi<T extends Pick<Program, "pythons">>(program: T): program is T & Pick<PythonProgram, "pythons"> {
  return program.pythons !== undefined;
}
