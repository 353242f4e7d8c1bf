import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
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
  if (!existsSync(link)) {
    mkdirSync(binDir, { recursive: true });
    const file = isOnPypi(program)
      ? join(installFromPypi(program, version, join(folder, "python")), program.command)
      : installFromNpm(program, version, { folder, binDir, cacheDir });
    rmSync(link, { force: true });
    symlinkSync(file, link);
  }
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

function isOnPypi<T extends Pick<Program, "pythons">>(program: T): program is T & Pick<PythonProgram, "pythons"> {
  return program.pythons !== undefined;
}
