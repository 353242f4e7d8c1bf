import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { asObject } from "../../src/agents/shared/payload/json.ts";
import { NoProgramError } from "./no-program.ts";
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
      : installFromNpm(program, version, folder, modules);
    rmSync(link, { force: true });
    symlinkSync(file, link);
  }
  const printed = execFileSync(link, ["--version"], {
    encoding: "utf8",
    env: { PATH: process.env["PATH"], HOME: folder },
    stdio: ["ignore", "pipe", "ignore"],
  });
  return { binDir, modules, version: printed.trim().split("\n")[0] ?? "" };
}

/** The newest version that npm or PyPI has. @throws their client's error if they cannot be asked */
export function newestVersion(program: Pick<Program, "source" | "packages" | "pythons">): string {
  if (isOnPypi(program)) return newestOnPypi(program);
  const [name = ""] = program.packages;
  return execFileSync("npm", ["view", name.replace("{platform}", PLATFORM), "version"], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  }).trim();
}

// --- internal ---

const PLATFORM = `${process.platform}-${process.arch}`;

function isOnPypi<T extends Pick<Program, "pythons">>(program: T): program is T & Pick<PythonProgram, "pythons"> {
  return program.pythons !== undefined;
}

/** @returns the program's file */
function installFromNpm(program: Program, version: string, folder: string, modules: string): string {
  const packages = program.packages.map((name) => `${name.replace("{platform}", PLATFORM)}@${version}`);
  const flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error"];
  execFileSync("npm", ["install", "--prefix", folder, ...flags, ...packages], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  const file = join(modules, program.file?.replaceAll("{platform}", PLATFORM) ?? join(".bin", program.command));
  if (!existsSync(file)) throw missing(program, modules, file);
  return file;
}

/** Native programs come in optional packages, one for each platform. */
function missing(program: Program, modules: string, file: string): Error {
  const [name = ""] = program.packages;
  const about = asObject(JSON.parse(readFileSync(join(modules, name, "package.json"), "utf8")));
  const platforms = Object.keys(asObject(about?.["optionalDependencies"]) ?? {});
  if (platforms.length > 0 && !platforms.some((optional) => optional.endsWith(PLATFORM))) {
    return new NoProgramError(`${name} has no program for ${PLATFORM}`);
  }
  return new Error(`npm installed ${name}, but there is no ${file}`);
}
