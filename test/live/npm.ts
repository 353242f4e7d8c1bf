import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliDecompressSync } from "node:zlib";
import { asObject } from "#agents/shared/payload/json.ts";
import { NoProgramError } from "./no-program.ts";
import type { Program } from "./programs/program.ts";

/**
 * Installs an agent, and a newer Node beside its link if it needs one, without install scripts.
 *
 * @returns the program's file
 * @throws NoProgramError if the packages, or the Node that it needs, do not support this platform; npm's error if it failed
 */
export function installFromNpm(
  program: Program,
  version: string,
  { folder, binDir, cacheDir }: { readonly folder: string; readonly binDir: string; readonly cacheDir: string },
): string {
  if (program.node !== undefined) linkNewerNode(program.node, binDir, cacheDir);
  npmInstall(
    folder,
    program.packages.map((name) => `${here(name)}@${version}`),
  );
  const modules = join(folder, "node_modules");
  const file = join(modules, here(program.file ?? join(".bin", program.command)));
  if (!existsSync(file)) throw missing(program, modules, file);
  return unpacked(file);
}

/**
 * The newest version that npm has, also of the package that contains the program for this platform.
 *
 * @returns also the newest version of the agent, if npm has no program of it
 * @throws npm's error if it cannot be asked
 */
export function newestOnNpm({ packages: [name = ""], file = "" }: Pick<Program, "packages" | "file">): {
  readonly version: string;
  readonly withoutProgram?: string;
} {
  const released = versionsOf(name);
  const platformPackage = /^(@[^/]+\/)?[^/]+-\{platform\}(?=\/)/.exec(file)?.[0] ?? name;
  if (platformPackage === name) return { version: released.latest };
  const programs = new Set(versionsOf(platformPackage).all);
  if (programs.has(released.latest)) return { version: released.latest };
  const version = released.all.findLast((one) => programs.has(one) && !one.includes("-"));
  if (version === undefined) throw new Error(`npm has no version of ${here(platformPackage)} that ${name} has`);
  return { version, withoutProgram: released.latest };
}

// --- internal ---

const PLATFORM = `${process.platform}-${process.arch}`;
/** For agents that need a newer Node than ours; npm has it as a package per platform. */
const NEWER_NODE = "24.21.0";
const NODE_PLATFORM = "linux-x64";

const here = (name: string): string => name.replaceAll("{platform}", PLATFORM);

/** In npm's order: the newest last. */
function versionsOf(name: string): { readonly latest: string; readonly all: readonly string[] } {
  const printed = execFileSync("npm", ["view", here(name), "--json", "versions", "dist-tags"], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  const about = asObject(JSON.parse(printed));
  const all = [about?.["versions"]].flat().filter((version) => typeof version === "string");
  return { latest: String(asObject(about?.["dist-tags"])?.["latest"] ?? all.at(-1)), all };
}

function npmInstall(folder: string, packages: readonly string[]): void {
  const flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error"];
  const { status, stderr, error } = spawnSync("npm", ["install", "--prefix", folder, ...flags, ...packages], {
    encoding: "utf8",
    stdio: ["ignore", "ignore", "pipe"],
  });
  if (status === 0) return;
  if (/\bE404\b/.test(stderr) && packages.some((name) => name.includes(PLATFORM))) {
    throw new NoProgramError(`npm has no ${packages.join(" and no ")}`);
  }
  throw error ?? new Error(`npm could not install ${packages.join(" ")}: ${stderr}`);
}

/** Puts a newer Node beside the agent, where its first line finds it, unless ours is new enough. */
function linkNewerNode(needed: string, binDir: string, cacheDir: string): void {
  if (isAtLeast(process.versions.node, needed)) return;
  if (PLATFORM !== NODE_PLATFORM) throw new NoProgramError(`it needs Node ${needed}`);
  const folder = join(cacheDir, `node-${NEWER_NODE}`);
  const node = join(folder, "node_modules", `node-${NODE_PLATFORM}`, "bin", "node");
  if (!existsSync(node)) {
    mkdirSync(folder, { recursive: true });
    npmInstall(folder, [`node-${NODE_PLATFORM}@${NEWER_NODE}`]);
  }
  rmSync(join(binDir, "node"), { force: true });
  symlinkSync(node, join(binDir, "node"));
}

function isAtLeast(version: string, needed: string): boolean {
  const [parts, wanted] = [version, needed].map((text) => text.split(".").map(Number));
  for (const [index, part] of (wanted ?? []).entries()) {
    const difference = (parts?.[index] ?? 0) - part;
    if (difference !== 0) return difference > 0;
  }
  return true;
}

/** A compressed program, as its install script would unpack it. */
function unpacked(file: string): string {
  if (!file.endsWith(".br")) return file;
  const plain = file.slice(0, -".br".length);
  writeFileSync(plain, brotliDecompressSync(readFileSync(file)), { mode: 0o755 });
  return plain;
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
