import { readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { allAgents, findAgent } from "../../src/agents/registry.ts";
import { startReceiver } from "../receiver/receiver.ts";
import { ensureBuilt, PROGRAM, ROOT } from "../support/program.ts";
import { type Installed, install } from "./install.ts";
import { Machine } from "./machine.ts";
import { startModelServer } from "./model-server.ts";
import { NoProgramError } from "./no-program.ts";
import { play } from "./play.ts";
import { type Program, toolsOf } from "./programs/program.ts";
import { NO_PROGRAM, PROGRAMS } from "./programs.ts";
import { RECORDED_RUN, recorderIn } from "./record.ts";
import { SCENARIOS, type Scenario } from "./scenarios.ts";
import { receivedUsage, servedUsage } from "./usage.ts";

/** Folder for downloads, which is kept. */
const CACHE = resolve(process.env["OPENHOOK_LIVE_CACHE"] ?? join(ROOT, "node_modules", ".cache", "openhook-live"));
/** Other versions than the pinned ones, e.g. `codex@0.170.0,cline@3.1.0`. */
const VERSIONS = new Map(
  (process.env["OPENHOOK_LIVE_VERSIONS"] ?? "").split(",").map((pair) => {
    const [source = "", version = ""] = pair.split("@");
    return [source, version] as const;
  }),
);
/** Result of each agent, and of each scenario that is left out. */
const report = new Map<string, string>();

beforeAll(ensureBuilt);

for (const program of PROGRAMS) {
  describe(program.source, () => {
    let installed: Installed | undefined;

    beforeAll(() => {
      try {
        installed = install(program, CACHE, VERSIONS.get(program.source));
        report.set(program.source, `ran, version ${installed.version}`);
      } catch (error) {
        report.set(program.source, `NOT RUN: ${String(error)}`);
        if (!(error instanceof NoProgramError)) throw error;
      }
    });

    for (const [name, scenario] of Object.entries(SCENARIOS)) {
      const reason = program.cannot?.[name];
      if (reason !== undefined) report.set(`${program.source}, ${name}`, `NOT RUN: ${reason}`);
      test.skipIf(reason !== undefined)(`${name}: ${scenario.title}`, async ({ skip }) => {
        if (installed === undefined) return skip("no such program on this platform");
        await compare(program, name, scenario, installed);
      });
    }
  });
}

afterAll(async () => {
  const programs = PROGRAMS.map(({ source }) => source);
  for (const { source } of await allAgents()) {
    if (report.has(source)) continue;
    const reason = programs.includes(source) ? "not asked for" : (NO_PROGRAM[source] ?? "not in the table of programs");
    report.set(source, `NOT RUN: ${reason}`);
  }
  console.log(["", ...[...report].sort().map(([what, outcome]) => `${what}: ${outcome}`), ""].join("\n"));
});

// --- internal ---

/** Everything a user has: a home, `enable`, the running agent, its hooks and their drains, a backend. */
async function compare(program: Program, name: string, scenario: Scenario, installed: Installed): Promise<void> {
  const machine = new Machine(PROGRAM, installed);
  onTestFinished(({ task }) => {
    if (task.result?.state !== "fail" || process.env["OPENHOOK_LIVE_KEEP"] === undefined) return machine.remove();
    machine.stop();
    console.log(`${program.source}, ${name}: what is left of it is in ${machine.home}`);
  });
  const backend = await startReceiver();
  onTestFinished(() => backend.close());
  const { project, home } = machine;
  const model = (name === "subagent" ? program.subagentModel : undefined) ?? program.model;
  const script = scenario.script(toolsOf(program, { project, model }));
  const server = await startModelServer(program.api, script, program.askerOf);
  onTestFinished(() => server.close());
  const place = { home, project, model, url: server.url };
  machine.settle(program, place, installed);

  await machine.openhook("config", "set", "otlp.endpoint", backend.url);
  await machine.openhook("enable", program.source);
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

  expect(server.problems()).toEqual([]);
  expect(readdirSync(machine.places.quarantineDir)).toEqual([]);
  expect(receivedUsage(backend, program)).toEqual(servedUsage(server.served, scenario, program));
}
