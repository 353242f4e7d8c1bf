import { realpathSync } from "node:fs";
import { join } from "node:path";

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
