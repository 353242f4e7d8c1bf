import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { asObject } from "../../src/agents/shared/payload/json.ts";
import type { Program } from "./programs/program.ts";

/** An agent on this machine. */
export interface Installed {
  /** Directory for PATH. */
  readonly binDir: string;
  readonly modules: string;
  /** What `--version` printed. */
  readonly version: string;
}

/** No such program exists for this platform; this is not a failure. */
export class NoProgramError extends Error {
  override readonly name = "NoProgramError";
}

/**
 * Installs an agent with npm, once per version, without install scripts.
 *
 * @throws NoProgramError if its packages do not support this platform; npm's error if it failed
 */
export function install(program: Program, cacheDir: string, version = program.version): Installed {
  const folder = join(cacheDir, `${program.source}-${version}`);
  const modules = join(folder, "node_modules");
  const binDir = join(folder, "bin");
  const link = join(binDir, program.command);
  if (!existsSync(link)) {
    mkdirSync(binDir, { recursive: true });
    const packages = program.packages.map((name) => `${name.replace("{platform}", PLATFORM)}@${version}`);
    const flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error"];
    execFileSync("npm", ["install", "--prefix", folder, ...flags, ...packages], {
      stdio: ["ignore", "ignore", "inherit"],
    });
    const file = join(modules, program.file?.replaceAll("{platform}", PLATFORM) ?? join(".bin", program.command));
    if (!existsSync(file)) throw missing(program, modules, file);
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

/** The newest version that npm has. @throws npm's error if it cannot be asked */
export function newestVersion({ packages: [name = ""] }: Pick<Program, "packages">): string {
  return execFileSync("npm", ["view", name.replace("{platform}", PLATFORM), "version"], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  }).trim();
}

// --- internal ---

const PLATFORM = `${process.platform}-${process.arch}`;

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
