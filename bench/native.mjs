// node bench/native.mjs [--runs N] [--check]
// What exporting its own telemetry to our receiver costs an agent: the time of a program that exports 600 spans, from start to exit, compared
// with the same program that exports to a server that answers at once. Beside it a receiver that hangs, and none. Then how many requests
// and spans the receiver takes per second. Runs are interleaved, so that other load affects all rows.
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { Agent, createServer, request } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const GOAL = 1.02;
const TOKEN = "t".repeat(43);
const here = dirname(fileURLToPath(import.meta.url));
const PROGRAM = join(here, "..", "dist", "openhook-otel.cjs");
const AGENT = join(here, "lib", "native-agent.mjs");
const FLAGS = ["--max-semi-space-size=2", "--optimize-for-size", "--initial-heap-size=48"];
const SPANS = { perBody: 100, bodies: 2_000 };

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "15" },
    check: { type: "boolean", default: false },
    server: { type: "string" }, // internal: serve like this
  },
});
if (values.server !== undefined) serve(values.server);
else process.exitCode = await bench(Math.max(1, Number(values.runs) || 15));

async function bench(runs) {
  const [ours, atOnce, hung] = [await receiver(), await server("at once"), await server("hung")];
  const free = await server("at once");
  free.stop();
  const rows = [
    { name: "a server that answers at once", port: atOnce.port },
    { name: "our receiver", port: ours.port, hasGoal: true },
    { name: "no receiver", port: free.port, runs: Math.min(runs, 3) },
    { name: "a receiver that hangs", port: hung.port, runs: Math.min(runs, 3) },
  ].map((row) => ({ ...row, ms: [] }));
  try {
    for (let n = 0; n <= runs; n++) {
      for (const { port, ms, runs: own = runs } of rows) {
        if (n > own) continue;
        const startMs = performance.now();
        const { status, stderr } = spawnSync(process.execPath, [AGENT, `http://127.0.0.1:${port}/goose`, TOKEN]);
        if (status !== 0) throw new Error(String(stderr));
        // The first run warms up
        if (n > 0) ms.push(performance.now() - startMs);
      }
    }
    const [base] = rows;
    /** Of the runs that were next to each other: the machine was equally busy. */
    const ratioOf = ({ ms }) => median(ms.map((own, n) => own / base.ms[n]));
    console.log(`${runs} runs each, in turn; start to exit of a program that exports 600 spans\n`);
    for (const row of rows) {
      const ratio = ratioOf(row);
      const goal = row.hasGoal ? (ratio <= GOAL ? `  goal ${GOAL}: met` : `  goal ${GOAL}: missed`) : "";
      console.log(`${row.name.padEnd(32)}${median(row.ms).toFixed(0).padStart(7)} ms  ${ratio.toFixed(3)} ×${goal}`);
    }
    const perSecond = await throughput(ours.port);
    const spans = Math.round(perSecond * SPANS.perBody).toLocaleString("en");
    console.log(
      `\nthe receiver takes ${Math.round(perSecond)} requests per second (${spans} spans, ${SPANS.perBody} each)`,
    );
    return values.check && ratioOf(rows[1]) > GOAL ? 1 : 0;
  } finally {
    for (const one of [ours, atOnce, hung]) one.stop();
  }
}

/** Our receiver, as hooks start it. */
async function receiver() {
  const state = mkdtempSync(join(tmpdir(), "openhook-bench-"));
  const { port, stop } = await server("at once");
  stop();
  mkdirSync(join(state, "native"), { mode: 0o700 });
  writeFileSync(join(state, "native", "receiver.json"), JSON.stringify({ port, token: TOKEN, agents: ["goose"] }));
  const env = { ...process.env, OPENHOOK_OTEL_HOME: state, OPENHOOK_OTEL_DRAIN: "off" };
  const child = spawn(process.execPath, [...FLAGS, PROGRAM, "receive", "--quiet"], { env, stdio: "inherit" });
  while (readIfAny(join(state, "native", "receiver.live")) !== `${child.pid}\n`) await pause(20);
  return {
    port,
    stop() {
      child.kill("SIGKILL");
      rmSync(state, { recursive: true, force: true });
    },
  };
}

/** Another server in a process of its own. */
function server(how) {
  const child = spawn(process.execPath, [...FLAGS, fileURLToPath(import.meta.url), "--server", how], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  return new Promise((resolve) => {
    child.stdout.once("data", (text) => resolve({ port: Number(text), stop: () => child.kill("SIGKILL") }));
  });
}

function serve(how) {
  createServer((asked, response) => {
    asked.resume();
    if (how !== "hung") asked.on("end", () => response.setHeader("content-type", "application/json").end("{}"));
  }).listen(0, "127.0.0.1", function listening() {
    console.log(this.address().port);
  });
}

/** Requests per second over four connections, with the body of the agent above. */
async function throughput(port) {
  const span = { traceId: "0".repeat(32), spanId: "0".repeat(16), name: "llm_request", attributes: [] };
  for (const key of ["session.id", "request_id", "ttft_ms"])
    span.attributes.push({ key, value: { stringValue: "x".repeat(24) } });
  const spans = Array.from({ length: SPANS.perBody }, () => span);
  const body = JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] });
  const agent = new Agent({ keepAlive: true, maxSockets: 4 });
  const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
  const to = { agent, port, host: "127.0.0.1", path: "/goose/v1/traces", method: "POST", headers };
  const post = () =>
    new Promise((resolve, reject) => {
      const sent = request(to, (response) => response.resume().on("end", () => resolve(response.statusCode)));
      sent.on("error", reject).end(body);
    });
  const startMs = performance.now();
  const statuses = await Promise.all(Array.from({ length: SPANS.bodies }, post));
  agent.destroy();
  if (statuses.some((status) => status !== 200)) throw new Error("the receiver refused a request");
  return SPANS.bodies / ((performance.now() - startMs) / 1_000);
}

function readIfAny(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

function pause(ms) {
  return new Promise((done) => setTimeout(done, ms));
}

function median(ms) {
  return ms.toSorted((a, b) => a - b).at(Math.floor((ms.length - 1) / 2));
}
