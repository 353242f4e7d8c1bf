import { readdirSync } from "node:fs";
import { expect, onTestFinished } from "vitest";
import { findAgent } from "#agents/registry.ts";
import { startReceiver } from "../receiver/receiver.ts";
import { PROGRAM } from "../support/program.ts";
import type { Installed } from "./install.ts";
import { Machine } from "./machine.ts";
import { startModelServer } from "./model-server.ts";
import { ALL_JOINED, enableNative, endsBeforeSending, joinedShares, NATIVE_SCENARIO, toolsJoined } from "./native.ts";
import { play } from "./play.ts";
import { type Program, toolsOf } from "./programs/program.ts";
import { RECORDED_RUN, recorderIn } from "./record.ts";
import type { Scenario } from "./scenarios.ts";
import { receivedUsage, reportedUsage, servedUsage } from "./usage.ts";

/** A scenario of an agent. */
export interface Played {
  readonly program: Program;
  readonly name: string;
  readonly scenario: Scenario;
  readonly installed: Installed;
}

/**
 * Plays a scenario with everything that a user has: a home, registered hooks, the running agent, its hooks and their drains, a backend.
 * Then expects the backend to have what the model server served.
 *
 * @param register how hooks are registered. @default `enable`
 */
export async function compare(
  { program, name, scenario, installed }: Played,
  register: (machine: Machine) => Promise<unknown> = (machine) => enable(machine, program.source),
  machine: Machine = new Machine(PROGRAM, installed),
): Promise<void> {
  onTestFinished(({ task }) => {
    if (task.result?.state !== "fail") return machine.remove();
    console.log(`${program.source}, ${name}: ${machine.queuedEventsAndLog()}`);
    if (process.env["OPENHOOK_LIVE_KEEP"] === undefined) return machine.remove();
    machine.stop();
    console.log(`${program.source}, ${name}: what is left of it is in ${machine.home}`);
  });
  const backend = await startReceiver();
  onTestFinished(() => backend.close());
  const { project, home } = machine;
  const model = (name === "subagent" ? program.subagentModel : undefined) ?? program.model;
  const script = scenario.script(toolsOf(program, { project, model }));
  let isNative = false;
  const server = await startModelServer(program.api, script, program.askerOf, 0, async () => {
    if (isNative && endsBeforeSending(program.source)) await toolsJoined(machine, server.served);
  });
  onTestFinished(() => server.close());
  const place = { home, project, model, url: server.url };
  machine.settle(program, place, installed, scenario.isExtended === true ? program.extensions : undefined);

  await machine.openhook("config", "set", "otlp.endpoint", backend.url);
  await register(machine);
  isNative = name === NATIVE_SCENARIO && (await enableNative(machine, program.source));
  const recorder = recorderIn(process.env["OPENHOOK_LIVE_RECORD"], program.source, name);
  if (recorder !== undefined) machine.variables = RECORDED_RUN;
  for (const step of scenario.steps) {
    await play(program, step, machine, place);
    await machine.drained();
    await recorder?.keepPayloads(machine);
  }
  await recorder?.keepFiles(machine, await findAgent(program.source));
  // The next hook's drain would end a session whose agent reports no end, if the last drain stopped waiting for the agent's exit
  if ((await findAgent(program.source))?.endsSilently) await machine.openhook("drain");
  if (scenario.lastTurn === "unfinished") await machine.openhook("drain", "--end-idle");

  if (isNative) expect(await joinedShares(machine, program.source)).toEqual(ALL_JOINED);

  expect(server.problems()).toEqual([]);
  expect(readdirSync(machine.places.quarantineDir)).toEqual([]);
  const expected = servedUsage(server.served, scenario, program);
  expect(receivedUsage(backend, program)).toEqual(expected);
  // Equal to the same figures in every scenario, so equal with the agent's own telemetry and without it
  const { cacheMisses: _, ...counters } = expected.counters;
  expect(reportedUsage(JSON.parse(await machine.openhook("report", "--json", "--no-refresh")))).toEqual(counters);
}

// --- internal ---

/** An agent that was asked for its version can write its settings a moment later; `enable` then asks to be run again. */
const enable = (machine: Machine, source: string): Promise<string> =>
  machine.openhook("enable", source).catch((error: unknown) => {
    if (!String(error).includes("run the command again")) throw error;
    return machine.openhook("enable", source);
  });
