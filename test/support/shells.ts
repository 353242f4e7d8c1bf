import { spawnSync } from "node:child_process";

/** Whether a shell is on this machine; where not, what is left out without it is told. */
export function hasShell(name: string, leftOut: string): boolean {
  const isHere = spawnSync("sh", ["-c", 'command -v "$1"', "sh", name]).status === 0;
  if (!isHere) console.warn(`SKIPPED: ${leftOut}; there is no ${name} here (Debian: ${name})`);
  return isHere;
}
