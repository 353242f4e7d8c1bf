import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { NoProgramError } from "./no-program.ts";

/** A program on PyPI. */
export interface PythonProgram {
  readonly source: string;
  /** Its distribution. */
  readonly packages: readonly string[];
  /** Versions of Python that it supports, the preferred one first. */
  readonly pythons: readonly string[];
}

/**
 * Installs a distribution from PyPI in a virtual environment.
 *
 * @returns the folder with its commands
 * @throws NoProgramError if this machine has none of the Pythons; pip's error if it failed
 */
export function installFromPypi(program: PythonProgram, version: string, folder: string): string {
  const [distribution = ""] = program.packages;
  rmSync(folder, { recursive: true, force: true });
  run(pythonFor(program), "-m", "venv", folder);
  const python = join(folder, "bin", "python");
  const install = (...what: string[]): string => run(python, "-m", "pip", "install", "--quiet", ...what);
  try {
    install(`${distribution}==${version}`);
  } catch {
    // a mirror may have only a later post-release of a pinned dependency
    install("--no-deps", `${distribution}==${version}`);
    const requirements = join(folder, "requirements.txt");
    writeFileSync(requirements, withPostReleases(run(python, "-c", REQUIREMENTS, distribution)));
    install("--requirement", requirements);
  }
  return join(folder, "bin");
}

/** The newest version on PyPI for the preferred Python. @throws NoProgramError, or pip's error if it failed */
export function newestOnPypi(program: PythonProgram): string {
  const [distribution = ""] = program.packages;
  const printed = run(pythonFor(program), "-m", "pip", "index", "versions", distribution);
  const version = printed.split("\n")[0]?.match(/\(([^)]+)\)\s*$/)?.[1];
  if (version === undefined) throw new Error(`pip names no version of ${distribution}`);
  return version;
}

/** `==1.2` becomes `==1.2.*`, which 1.2.post1 also satisfies; pins with letters stay. */
export function withPostReleases(requirements: string): string {
  return requirements.replaceAll(/==(\d+(?:\.\d+)*)(?=\s|;|$)/gm, "==$1.*");
}

// --- internal ---

/** Prints the requirements of an installed distribution, one per line. */
const REQUIREMENTS = "import importlib.metadata as m, sys; print('\\n'.join(m.requires(sys.argv[1]) or []))";

/** PATH first, then pyenv's versions: its command runs only those that were chosen with it. */
function pythonFor({ source, pythons }: PythonProgram): string {
  for (const version of pythons) {
    const name = `python${version}`;
    const path = [...(process.env["PATH"] ?? "").split(delimiter), ...pyenvFolders(version)]
      .map((folder) => join(folder, name))
      .find((file) => existsSync(file) && isPython(file));
    if (path !== undefined) return path;
  }
  throw new NoProgramError(
    `${source} needs Python ${pythons.join(" or ")} with venv, which this machine does not have`,
  );
}

function pyenvFolders(version: string): readonly string[] {
  const versions = join(process.env["PYENV_ROOT"] ?? join(homedir(), ".pyenv"), "versions");
  if (!existsSync(versions)) return [];
  return readdirSync(versions)
    .filter((name) => name.startsWith(`${version}.`))
    .map((name) => join(versions, name, "bin"));
}

function isPython(file: string): boolean {
  try {
    run(file, "-c", "import ensurepip, venv");
    return true;
  } catch {
    return false;
  }
}

function run(command: string, ...args: string[]): string {
  return execFileSync(command, args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}
