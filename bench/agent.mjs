// node bench/agent.mjs [--runs N] [--calls N] [--agents a,b] [--think-ms N] [--bridge] [--program FILE]
// What our hooks cost an agent: the real program with and without them, interleaved, against a model server on loopback
// that responds immediately; and the processor time of our own processes in one such session. With --bridge: our hooks with and
// without a command that gets every event, and how long after an event it gets it.
import { spawnSync } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { cpus, loadavg, type } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { build } from "esbuild";
import { allowCommand, latencyText, medianRange, receivedIn } from "./lib/bridge.mjs";
import { ratios } from "./lib/figures.mjs";

/** Maximum ratio of wall times, with our hooks to without. */
const GOAL = 1.02;
const STEP = { prompt: "Run the commands" };
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "5" },
    calls: { type: "string", default: "50" },
    agents: { type: "string", default: "claude-code,codex" },
    "think-ms": { type: "string", default: "0" },
    bridge: { type: "boolean", default: false },
    program: { type: "string", default: join(root, "dist", "openhook-otel.cjs") },
  },
});
const [runs, calls, thinkMs] = [values.runs, values.calls, values["think-ms"]].map(Number);
const cache = resolve(process.env.OPENHOOK_LIVE_CACHE ?? join(root, "node_modules", ".cache", "openhook-live"));
const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);
const median = (numbers) => [...numbers].sort((a, b) => a - b)[Math.floor((numbers.length - 1) / 2)];
const inSeconds = (ms) => (Math.abs(ms) < 1000 ? `${ms.toFixed(1)} ms` : `${(ms / 1000).toFixed(2)} s`);
const spread = (ms) => `${inSeconds(Math.min(...ms))} to ${inSeconds(Math.max(...ms))}`;
/** Parses bash's `times`: a line for the shell, a line for its children; user and system. In milliseconds, unlike sh's. */
const childrenMs = (printed) => minutesToMs(printed.trim().split("\n").at(-1) ?? "");
const minutesToMs = (line) =>
  sum([...line.matchAll(/(\d+)m([\d.]+)s/g)].map(([, minutes, seconds]) => Number(minutes) * 60_000 + seconds * 1000));

const { Machine, PROGRAMS, install, play, startModelServer, startReceiver, toolsOf } = await harness();

console.log(
  `${cpus().length} × ${cpus()[0].model.trim()}, ${type()}, Node ${process.version}, load ${loadavg()[0].toFixed(1)}`,
);
console.log(
  `one session with ${calls} tool calls, one after the other; the model responds after ${thinkMs} ms; medians of ${runs}, interleaved\n`,
);
for (const source of values.agents.split(",")) {
  const program = PROGRAMS.find((candidate) => candidate.source === source);
  if (program === undefined) throw new Error(`no program for ${source}; there are ${PROGRAMS.map((p) => p.source)}`);
  await (values.bridge ? benchBridge : bench)(program, install(program, cache));
}

async function bench(program, installed) {
  const wallMs = { none: [], bare: [], ours: [] };
  const drains = [];
  for (let n = 0; n <= runs; n += 1) {
    const kinds = Object.keys(wallMs);
    for (const hooks of n % 2 === 0 ? kinds : [...kinds].reverse()) {
      const session = await oneSession(program, installed, hooks);
      if (n === 0) continue; // warm-up
      wallMs[hooks].push(session.wallMs);
      if (hooks === "ours") drains.push(session.drains);
    }
  }
  const hooks = await hookCost(program, installed);
  const [none, bare, ours] = Object.values(wallMs).map(median);
  const ratio = ours / none;
  const drainMs = median(drains.map((each) => sum(each)));
  const drainCount = median(drains.map((each) => each.length));
  // The model's time is the same with and without hooks, so if the model takes longer than this per answer, our share is below the goal
  const enoughMs = Math.max(0, ((ours - none) / (GOAL - 1) - none) / calls + thinkMs);
  const row = (name, ms, more) => console.log(`  ${name.padEnd(31)} ${inSeconds(ms).padStart(8)}   ${more}`);
  console.log(`${program.source}: ${installed.version}`);
  row("no hooks", none, spread(wallMs.none));
  row("hooks that only read stdin", bare, `${spread(wallMs.bare)}, ratio ${(bare / none).toFixed(3)}`);
  row(
    "our hooks",
    ours,
    `${spread(wallMs.ours)}, ratio ${ratio.toFixed(3)}, goal ${GOAL}: ${ratio <= GOAL ? "met" : "missed"}`,
  );
  row(
    "added by our hooks, per tool call",
    (ours - none) / calls,
    `with hooks that only read stdin ${inSeconds((bare - none) / calls)}`,
  );
  row("goal met (computed) from", enoughMs, "per answer of the model");
  row(
    "our processor time",
    hooks.ms + drainMs,
    [
      `${hooks.count} hooks ${inSeconds(hooks.ms)} (${(hooks.ms / hooks.count).toFixed(1)} ms each)`,
      `${drainCount} drains ${inSeconds(drainMs)}`,
    ].join(", "),
  );
  console.log("");
}

/** The bridge on and off, interleaved. The goal is for the median of the ratios; the interval shows how sure it is. */
async function benchBridge(program, installed) {
  const wallMs = { off: [], on: [] };
  const latencies = [];
  for (let n = 0; n <= runs; n += 1) {
    for (const bridge of n % 2 === 0 ? ["off", "on"] : ["on", "off"]) {
      const session = await oneSession(program, installed, "ours", bridge === "on");
      if (n === 0) continue; // warm-up
      wallMs[bridge].push(session.wallMs);
      latencies.push(...session.latenciesMs);
    }
  }
  const compared = ratios(wallMs.on, wallMs.off);
  const ratio = median(compared);
  console.log(`${program.source}: ${installed.version}`);
  for (const [bridge, ms] of Object.entries(wallMs)) {
    console.log(`  bridge ${bridge.padEnd(5)} ${inSeconds(median(ms)).padStart(8)}   ${spread(ms)}`);
  }
  console.log(
    `  ratio ${ratio.toFixed(3)}, ${medianRange(compared)}; goal ${GOAL}: ${ratio <= GOAL ? "met" : "missed"}`,
  );
  console.log(`  from event to command: ${latencyText(latencies)}\n`);
}

/**
 * @param hooks "none"; "bare": registered like ours but only read stdin, which shows the agent's own cost of a hook; "ours"
 * @param isBridged a command gets every event
 * @returns the agent's duration, the processor time of each drain that its hooks started, and the times from events to the command
 */
async function oneSession(program, installed, hooks, isBridged = false) {
  return inSession(program, installed, async ({ machine, place, server }) => {
    const backend = await startReceiver();
    try {
      await machine.openhook("config", "set", "otlp.endpoint", backend.url);
      if (hooks !== "none") await machine.openhook("enable", program.source);
      if (hooks === "bare") writeFileSync(machine.places.hookPath, "#!/bin/sh\ncat >/dev/null\n");
      if (hooks === "ours" && !values.bridge) timeDrains(machine);
      if (isBridged) {
        allowCommand(machine.project);
        await machine.openhook("bridge", "allow", "--yes");
      }
      const { wallMs } = await play(program, STEP, machine, place);
      await machine.drained();
      const problems = server.problems();
      if (problems.length > 0) throw new Error(`${program.source} left the script: ${problems.join("; ")}`);
      // A hook that does nothing is fast, so check that everything arrived
      const tools = backend.spans.filter(({ name }) => name.startsWith("execute_tool")).length;
      if (hooks === "ours" && tools !== calls) throw new Error(`${calls} tool calls were made, ${tools} arrived`);
      const latenciesMs = isBridged ? receivedIn(machine.home).map((one) => one.atMs - one.eventMs) : [];
      if (isBridged && latenciesMs.length < 2 * calls)
        throw new Error(`the command got ${latenciesMs.length} envelopes`);
      return { wallMs, latenciesMs, drains: hooks === "ours" && !values.bridge ? drainTimes(machine) : [] };
    } finally {
      await backend.close();
    }
  });
}

/** The processor time of all hooks of one session: records its events, then runs the hook again with each of them. */
async function hookCost(program, installed) {
  return inSession(program, installed, async ({ machine, place }) => {
    await machine.openhook("enable", program.source);
    const environment = { ...program.environment(place), OPENHOOK_OTEL_DRAIN: "off" };
    await play({ ...program, environment: () => environment }, STEP, machine, place);
    const inbox = machine.places.inboxDir;
    const events = readdirSync(inbox).map((name) => readFileSync(join(inbox, name), "utf8"));
    if (events.length < calls) throw new Error(`${calls} tool calls were made, the inbox has ${events.length} events`);
    const folder = join(machine.home, "events");
    mkdirSync(folder);
    for (const [index, event] of events.entries()) {
      const [head = "", ...rest] = event.split("\n\n");
      writeFileSync(join(folder, `${index}`), rest.join("\n\n").replace(/\nend=\w+\n$/, ""));
      const word = (name) => new RegExp(`^${name}=(.*)$`, "m").exec(head)?.[1] ?? "";
      appendFileSync(join(folder, "list"), `${index} ${word("source")} ${word("event")}\n`);
    }
    rmSync(inbox, { recursive: true });
    const replay = `cd ${folder}; while read -r file words; do
      sh -c "[ ! -x ~/.local/share/openhook-otel/hook ]||exec ~/.local/share/openhook-otel/hook $words" <"$file" >/dev/null
    done <list; times`;
    const { stdout, stderr } = spawnSync("bash", ["-c", replay], { encoding: "utf8", env: machine.env });
    if (readdirSync(inbox).length !== events.length) throw new Error(`the hooks were not run again: ${stderr}`);
    return { count: events.length, ms: childrenMs(stdout) };
  });
}

async function inSession(program, installed, work) {
  const machine = new Machine(resolve(values.program), installed);
  const { project, home } = machine;
  const model = program.model;
  const t = toolsOf(program, { project, model });
  const usage = { input: 1003, cacheRead: 9001, output: 31 };
  const main = Array.from({ length: calls }, (_, n) => ({ tools: [t.shell(`echo ${n}`)], usage }));
  const script = { main: [...main, { text: "Done.", usage }] };
  const server = await startModelServer(program.api, script, program.askerOf, thinkMs);
  try {
    const place = { home, project, model, url: server.url };
    machine.settle(program, place, installed);
    return await work({ machine, place, server });
  } finally {
    await server.close();
    machine.remove();
  }
}

/** Makes hooks start their drains through a shell that records their processor time. */
function timeDrains(machine) {
  const { home } = machine;
  const timed = join(home, "timed-node");
  writeFileSync(timed, `#!/usr/bin/env bash\n'${process.execPath}' "$@"\ntimes >>'${home}/drain-times'\n`, {
    mode: 0o755,
  });
  const conf = machine.places.hookConfPath;
  writeFileSync(conf, readFileSync(conf, "utf8").replace(/^node=.*$/m, `node='${timed}'`));
}

function drainTimes({ home }) {
  const file = join(home, "drain-times");
  const lines = existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
  if (lines.length === 0) throw new Error("no hook started a drain");
  return lines.filter((_, index) => index % 2 === 1).map((line) => minutesToMs(line));
}

/** Parts of the live tests, bundled because they are TypeScript. */
async function harness() {
  const parts = ["install", "machine", "model-server", "play", "programs", "programs/program"].map(
    (name) => `./test/live/${name}.ts`,
  );
  const outfile = join(root, "node_modules", ".cache", "openhook-live", "harness.mjs");
  await build({
    stdin: {
      contents: [...parts, "./test/receiver/receiver.ts"].map((file) => `export * from "${file}";`).join("\n"),
      resolveDir: root,
    },
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    packages: "external",
    target: "node20",
    logLevel: "warning",
  });
  return import(outfile);
}
