import type { ChildProcess } from "node:child_process";

/**
 * Sends a signal to the process group of a program that was started with `detached`.
 *
 * @throws Error if the program did not start: without this check the signal would go to the tests' own processes
 */
export function killGroup({ pid, spawnfile }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) throw new Error(`${spawnfile} did not start`);
  process.kill(-pid, signal);
}
