import { spawnSync } from "node:child_process";

/** Whether this machine has the shell. If not, warns once per test file what is skipped. */
export function hasShell(name: string, leftOut: string): boolean {
  const isHere = spawnSync("sh", ["-c", 'command -v "$1"', "sh", name]).status === 0;
  const line = `SKIPPED: ${leftOut}; there is no ${name} here (Debian: ${name})`;
  if (!isHere && !warned.has(line)) console.warn(line);
  warned.add(line);
  return isHere;
}

const warned = new Set<string>();
