// node bench/bridge.mjs [parts…] [--events N] [--runs N] [--calls N] [--program FILE]
// What the bridge costs, with a shell command of two lines. "throughput": many events in the inbox, handed over by one drain.
// "latency": events of real hooks, one every half second. "wall": a scripted agent that starts a hook before and after each tool
// call and computes or waits in between, with the bridge and without, interleaved. bench/agent.mjs --bridge runs real agents.
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { allowCommand, latencyText, medianRange, receivedIn } from "./lib/bridge.mjs";
import { inMiB, inTime, inWhole, median, ratios } from "./lib/figures.mjs";
import { makeHome } from "./lib/home.mjs";
import { Inbox } from "./lib/inbox.mjs";
import { machineLine } from "./lib/machine.mjs";
import { measure } from "./lib/measure.mjs";
import { countOf, PROGRAM, started } from "./lib/options.mjs";

/** Maximum ratio of an agent's wall times, with the bridge to without. */
const GOAL = 1.02;
const SESSION = "00000000-0000-4000-8000-000000000001";
/** Of the scripted agent between two hooks. */
const [COMPUTE_MS, WAIT_MS] = [30, 30];

await started(async () => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      events: { type: "string", default: "10000" },
      runs: { type: "string", default: "12" },
      calls: { type: "string", default: "30" },
      program: { type: "string", default: PROGRAM },
    },
  });
  const parts = {
    throughput: () => throughput(countOf("--events", values.events), values.program),
    latency: () => latency(40, values.program),
    wall: () => wall(countOf("--runs", values.runs), countOf("--calls", values.calls), values.program),
  };
  console.log(`${machineLine()}\n`);
  for (const name of positionals.length > 0 ? positionals : Object.keys(parts)) {
    if (parts[name] === undefined) throw new Error(`unknown part ${name}: use ${Object.keys(parts).join(", ")}`);
    console.log(`${name}: ${await parts[name]()}`);
  }
});

// --- internal ---

async function throughput(events, program) {
  const machine = makeMachine(program, true);
  try {
    const inbox = new Inbox(machine.stateDir, machine.home);
    const startMs = Date.now() - events * 10;
    for (let n = 0; n < events; n++) inbox.put("claude-code", payloadOf(n, machine.project), startMs + n * 10);
    let [wallMs, peakKib] = [0, 0];
    // A drain runs commands for at most a minute
    for (let before = -1; ; ) {
      const count = receivedIn(machine.home).length;
      if (count === events || count === before) break;
      before = count;
      const one = await measure([process.execPath, program, "drain"], { env: machine.env, cwd: machine.project });
      wallMs += one.wallMs;
      peakKib = Math.max(peakKib, one.peakKib ?? 0);
    }
    const got = receivedIn(machine.home);
    const isInOrder = got.every(({ eventMs }, n) => n === 0 || got[n - 1].eventMs <= eventMs);
    if (got.length !== events || !isInOrder) throw new Error(`${got.length} of ${events}, in order: ${isInOrder}`);
    const perSecond = inWhole(events / (wallMs / 1000));
    return `${inWhole(events)} events in ${inTime(wallMs)}, ${perSecond} a second, each once and in order; peak ${inMiB(peakKib)}`;
  } finally {
    machine.remove();
  }
}

async function latency(events, program) {
  const machine = makeMachine(program, true);
  try {
    const sentMs = [];
    for (let n = 0; n < events; n++) {
      // Every tenth event is the end of a turn, which starts a drain of everything
      const isEnd = n % 10 === 9;
      const payload = isEnd
        ? { ...payloadOf(n, machine.project), hook_event_name: "Stop" }
        : payloadOf(n, machine.project);
      const atMs = Date.now();
      await machine.hook(payload, isEnd ? ["-d"] : []);
      if (!isEnd) sentMs.push(atMs);
      await sleep(500);
    }
    await machine.ended();
    const latencies = receivedIn(machine.home).map(({ atMs }, n) => atMs - sentMs[n]);
    if (latencies.length !== sentMs.length) throw new Error(`${latencies.length} of ${sentMs.length} arrived`);
    return `the first ${inTime(latencies[0])}; the others ${latencyText(latencies.slice(1))}`;
  } finally {
    machine.remove();
  }
}

async function wall(runs, calls, program) {
  const machines = { off: makeMachine(program, false), on: makeMachine(program, true) };
  const wallMs = { off: [], on: [] };
  try {
    for (let n = 0; n <= runs; n++) {
      for (const bridge of n % 2 === 0 ? ["off", "on"] : ["on", "off"]) {
        const took = await machines[bridge].session(calls, `${SESSION.slice(0, -4)}${String(n).padStart(4, "0")}`);
        if (n > 0) wallMs[bridge].push(took);
        await machines[bridge].ended();
      }
    }
    const got = receivedIn(machines.on.home).length;
    if (got !== (runs + 1) * (2 * calls + 2)) throw new Error(`the command got ${got} envelopes`);
    const compared = ratios(wallMs.on, wallMs.off);
    const ratio = median(compared);
    return [
      `${runs} pairs of sessions with ${2 * calls + 2} events, bridge off ${inTime(median(wallMs.off))}, on ${inTime(median(wallMs.on))};`,
      `ratio ${ratio.toFixed(3)}, ${medianRange(compared)}; goal ${GOAL}: ${ratio <= GOAL ? "met" : "MISSED"}`,
    ].join(" ");
  } finally {
    for (const machine of Object.values(machines)) machine.remove();
  }
}

function makeMachine(program, isBridged) {
  const made = makeHome();
  const project = join(made.home, "shop");
  mkdirSync(project);
  const run = (...args) => {
    const { status, stderr } = spawnSync(process.execPath, [program, ...args], { env: made.env, cwd: project });
    if (status !== 0) throw new Error(`${args.join(" ")} ended with ${status}: ${stderr}`);
  };
  mkdirSync(join(made.home, ".claude"));
  run("enable", "claude-code", "--yes");
  if (isBridged) {
    allowCommand(project);
    run("bridge", "allow", "--yes");
  }
  const hookPath = join(made.stateDir, "hook");
  const hook = (payload, flags = []) =>
    new Promise((done, fail) => {
      const child = spawn("/bin/sh", [hookPath, ...flags, "claude-code"], {
        env: { ...made.env, CLAUDE_PROJECT_DIR: project },
        cwd: project,
        stdio: ["pipe", "ignore", "ignore"],
      });
      child.on("error", fail);
      child.on("exit", (code) => (code === 0 ? done() : fail(new Error(`the hook ended with ${code}`))));
      child.stdin.end(JSON.stringify(payload));
    });
  return {
    ...made,
    project,
    hook,
    /** One session of the scripted agent. @returns how long it took */
    async session(calls, id) {
      const startMs = performance.now();
      await hook({ ...payloadOf(0, project), session_id: id, hook_event_name: "SessionStart", source: "startup" }, [
        "-w",
      ]);
      for (let n = 0; n < 2 * calls; n++) {
        const untilMs = performance.now() + COMPUTE_MS;
        while (performance.now() < untilMs);
        await sleep(WAIT_MS);
        await hook({ ...payloadOf(n, project), session_id: id });
      }
      await hook({ ...payloadOf(0, project), session_id: id, hook_event_name: "SessionEnd", reason: "other" }, ["-d"]);
      return performance.now() - startMs;
    },
    /** Waits until no drain runs. */
    async ended() {
      const isOurs = () =>
        spawnSync("pgrep", ["-f", `${program} drain`], { encoding: "utf8" })
          .stdout.split("\n")
          .some((pid) => pid !== "" && environmentOf(pid).includes(`OPENHOOK_OTEL_HOME=${made.stateDir}`));
      for (let quiet = 0; quiet < 4; quiet = isOurs() ? 0 : quiet + 1) await sleep(50);
    },
  };
}

function environmentOf(pid) {
  return spawnSync("cat", [`/proc/${pid}/environ`], { encoding: "utf8" }).stdout;
}

function payloadOf(n, cwd) {
  return {
    session_id: SESSION,
    cwd,
    hook_event_name: n % 2 === 0 ? "PreToolUse" : "PostToolUse",
    tool_name: "Bash",
    tool_input: { command: "ls" },
    tool_use_id: `toolu_${n >> 1}`,
    ...(n % 2 === 1 && { tool_response: { stdout: "" } }),
  };
}
