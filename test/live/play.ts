import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Finished, Machine } from "./machine.ts";
import { kill } from "./machine.ts";
import { type Place, type Program, SLOW_PID_FILE } from "./programs/program.ts";
import type { Step } from "./script.ts";

/**
 * Runs one process of the agent, until it ends or is killed.
 *
 * @throws if it fails unexpectedly
 */
export async function play(program: Program, step: Step, machine: Machine, place: Place): Promise<Finished> {
  const pidFile = join(machine.home, SLOW_PID_FILE);
  rmSync(pidFile, { force: true });
  const agent = machine.start(program.command, program.arguments(step, place.model), program.environment(place));
  if (step.killed) {
    while (agent.isRunning && pidIn(pidFile) === undefined) await sleep(50);
    await sleep(KILL_AFTER_MS);
    agent.kill();
    const toolPid = pidIn(pidFile);
    if (toolPid !== undefined) kill(toolPid);
  }
  const finished = await agent.finished;
  if (finished.code !== 0 && !step.killed && !step.fails) {
    throw new Error(
      `${program.command} ended with ${finished.code}: ${finished.stderr.slice(-1000) || finished.stdout}`,
    );
  }
  return finished;
}

// --- internal ---

/** By then the agent has recorded the start of the tool. */
const KILL_AFTER_MS = 1500;

/** Once the line is complete. */
function pidIn(file: string): number | undefined {
  const text = existsSync(file) ? readFileSync(file, "utf8") : "";
  return /^\d+\n$/.test(text) ? Number(text) : undefined;
}
