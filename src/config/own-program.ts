import { realpathSync } from "node:fs";
import { delimiter, isAbsolute, join, relative } from "node:path";

/**
 * A path that still leads to Node after its next update: Homebrew, Nix, Scoop and WinGet put each version into a separate
 * folder, which an update removes, and keep a link to the current one. fnm has a link for each terminal, which ends with it, and one for
 * its default version. nvm for Windows is started by its link already, and Volta and nvm keep all versions.
 *
 * @param path of the running binary, links resolved
 * @returns `path` if there is no such link; for fnm's terminals the link's target
 */
export function lastingNode(path: string, home: string): string {
  const real = /[\\/]fnm_multishells[\\/]/.test(path) ? realPathOf(path) : path;
  return linksTo(real, home).find((link) => isSameFile(link, real)) ?? real;
}

/** What the name depends on. */
interface ProgramStart {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  /** The current directory; `undefined` if it was deleted. */
  readonly cwd: string | undefined;
  /** The Node binary and the program it runs, absolute. */
  readonly nodePath: string;
  readonly programPath: string;
}

/**
 * How to start this program from the user's shell: `openhook-otel` if the first program of that name in PATH is this one,
 * `npx openhook-otel` if npx started it, otherwise Node and the program's path, relative where that is shorter, quoted where the shell needs it.
 *
 * @throws never
 */
export function programName(start: ProgramStart): string {
  const { cwd, nodePath, programPath } = start;
  // In PATH only while npx runs it
  if (/[\\/]_npx[\\/]/.test(programPath)) return "npx openhook-otel";
  const program = realPath(programPath);
  if (program !== undefined && firstInPath("openhook-otel", start) === program) return "openhook-otel";
  const realNode = realPath(nodePath);
  const node = realNode !== undefined && firstInPath("node", start) === realNode ? "node" : quoted(nodePath, start);
  const below = cwd === undefined ? programPath : relative(cwd, programPath);
  return `${node} ${quoted(below.startsWith("..") || isAbsolute(below) ? programPath : below, start)}`;
}

// --- internal ---

/** Where package managers keep a link to the version that they installed at this path. */
function linksTo(path: string, home: string): readonly string[] {
  if (path.startsWith("/nix/store/"))
    return [join(home, ".nix-profile", "bin", "node"), "/run/current-system/sw/bin/node"];
  for (const [pattern, link] of LINKS) {
    const found = pattern.exec(path);
    if (found !== null) return [found[0].replace(pattern, link)];
  }
  return [];
}

const LINKS: readonly (readonly [RegExp, string])[] = [
  [/^(.+)\/Cellar\/([^/]+)\/[^/]+\/bin\/node$/, "$1/opt/$2/bin/node"],
  [
    /^(.+)([\\/])node-versions[\\/][^\\/]+[\\/]installation([\\/](?:bin[\\/])?node(?:\.exe)?)$/,
    "$1$2aliases$2default$3",
  ],
  [/^(.+[\\/]scoop[\\/]apps[\\/][^\\/]+[\\/])[^\\/]+([\\/]node\.exe)$/i, "$1current$2"],
  [/^(.+[\\/]WinGet[\\/])Packages[\\/].+([\\/]node\.exe)$/i, "$1Links$2"],
];

function isSameFile(link: string, path: string): boolean {
  try {
    return realpathSync(link) === realpathSync(path);
  } catch {
    return false;
  }
}

function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** The real path of the first program of that name; npm installs scripts that lead to the program on Windows. */
function firstInPath(name: string, { env, platform }: ProgramStart): string | undefined {
  const names = platform === "win32" ? [`${name}.exe`, `${name}.cmd`] : [name];
  const folders = (env["PATH"] ?? env["Path"] ?? "").split(delimiter).filter((folder) => folder !== "");
  for (const folder of folders) {
    for (const file of names) {
      const real = realPath(join(folder, file));
      if (real !== undefined) return real;
    }
  }
  return undefined;
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

/** In the quotes of the platform's usual shell, if the path needs any. */
function quoted(path: string, { platform }: ProgramStart): string {
  if (platform === "win32") return /^[\w.:\\/-]+$/.test(path) ? path : `"${path}"`;
  return /^[\w./+@%=:,-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
