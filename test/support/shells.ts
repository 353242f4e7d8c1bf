import { spawnSync } from "node:child_process";

/** Whether a shell is on this machine; where not, what is left out without it is told, once by each file of tests. */
export function hasShell(name: string, leftOut: string): boolean {
  const isHere = spawnSync("sh", ["-c", 'command -v "$1"', "sh", name]).status === 0;
  const line = `SKIPPED: ${leftOut}; there is no ${name} here (Debian: ${name})`;
  if (!isHere && !told.has(line)) console.warn(line);
  told.add(line);
  return isHere;
}

const told = new Set<string>();
