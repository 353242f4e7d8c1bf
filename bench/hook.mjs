// node bench/hook.mjs [--runs N] [--program FILE] [--check]
// The time an agent waits for the hook, from start to exit, compared with the cheapest program that reads stdin and with a bare
// node: cold, each process started by Node between others, and in a tight loop of a shell, also with the lines for other shells. Runs are
// interleaved, so that other load on the machine affects all rows; only the rows with -d run separately.
import { spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { AS_THE_PROGRAM, importBundled } from "../scripts/import-bundled.mjs";

/** In a tight loop; a cold start, and one that starts a drain, may take more of what Node takes. */
const GOAL = { sh: 1.8, node: 0.2 };
const COLD_GOAL = { ...GOAL, node: 0.25 };
const WARM_UP_RUNS = 3;
const PAYLOAD_BYTES = 1700;
/** Pause between two runs that start a drain: a very short turn. */
const TURN_MS = 400;
/** The rows for the end of a turn, which starts a drain. */
const PACED = { sh: "sh paced", node: "node paced", hook: "our hook -d" };
/** Runs of one command in a row, in a tight loop; Node takes longer. */
const [BATCH, NODE_BATCH] = [10, 2];
/** Shells of users, in which some agents run hooks. */
const SHELLS = ["bash", "zsh", "ksh", "fish", "tcsh"];
/** `$0`: the file for stdin; `$1`: how many runs; then the command. */
const LOOP =
  'runs=$1; shift; TIMEFORMAT="%3R %3U %3S"; time for ((n = 0; n < runs; n++)); do "$@" <"$0" >/dev/null 2>&1; done';
const root = dirname(dirname(fileURLToPath(import.meta.url)));

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "40" },
    program: { type: "string", default: join(root, "dist", "openhook-otel.cjs") },
    check: { type: "boolean", default: false },
    backend: { type: "string" }, // internal: serve as that backend
  },
});

if (values.backend !== undefined) serve(values.backend);
else process.exitCode = await bench();

async function bench() {
  const runs = Math.max(1, Number(values.runs) || 40);
  const program = resolve(values.program);
  const hasProgram = existsSync(program);
  if (!hasProgram) {
    console.log(
      `NOT MEASURED: rows with -d, because ${program} is missing: run "npm run build" first, or give --program\n`,
    );
  }

  const { posixLine } = await importBundled({
    entryPoints: [join(root, "src", "setup", "registration", "posix-line.ts")],
    ...AS_THE_PROGRAM,
  });
  /** The line that `enable` registers; `shell`: for agents that run sh. */
  const lineOf = (flags, shell) => posixLine("~/.local/share/openhook-otel/hook", [...flags, "claude-code"], {}, shell);

  const rows = [];
  for (const backend of ["healthy", "refusing", "hanging"]) {
    const { port, stop } = await startBackend(backend);
    const home = mkdtempSync(join(tmpdir(), "openhook-bench-"));
    try {
      rows.push(
        ...(await measure({ backend, home, runs, program, hasProgram, lineOf, endpoint: `http://127.0.0.1:${port}` })),
      );
    } finally {
      stop();
      await removeHome(home);
    }
  }

  console.log(
    `${runs} runs each, in turn (those of a turn's end ${TURN_MS} ms after the last drain began); ${PAYLOAD_BYTES} bytes on stdin; start to exit, milliseconds\n`,
  );
  print(rows);
  const loop = await tightLoop(runs, lineOf);
  const missed = [...rows, ...loop].filter(({ goal }) => goal === "missed");
  if (missed.length > 0) console.log(`\n${missed.length} of ${rows.length + loop.length} rows miss the goal`);
  return values.check && (missed.length > 0 || !hasProgram) ? 1 : 0;
}

async function measure({ backend, home, runs, program, hasProgram, lineOf, endpoint }) {
  install(home, program, endpoint);
  const commands = {
    sh: ["sh", "-c", "cat >/dev/null"],
    node: [process.execPath, "-e", "0"],
    "our hook": ["sh", "-c", lineOf([], "sh")],
  };
  const payload = payloadText();
  const env = environmentAt(home, endpoint);

  const durationsMs = {};
  const once = (name, [file, ...args]) => {
    const startMs = performance.now();
    const outcome = spawnSync(file, args, { input: payload, env, cwd: home });
    const durationMs = performance.now() - startMs;
    if (outcome.status !== 0) throw new Error(`${name} failed: ${outcome.error ?? outcome.stderr}`);
    durationsMs[name] ??= [];
    durationsMs[name].push(durationMs);
  };
  for (let n = 0; n < WARM_UP_RUNS + runs; n += 1) {
    for (const [name, command] of Object.entries(commands)) once(name, command);
  }
  // A hook that does nothing is fast: without a drain every event must be in the inbox
  const found = readdirSync(join(home, "state", "inbox")).length;
  const events = WARM_UP_RUNS + runs;
  if (found !== events) throw new Error(`${events} events were sent, ${found} are in the inbox`);
  // Measured last, because the drains keep running: next to them the rows above would look slow and our ratio good. A turn ends
  // on an idle machine, where every program starts slower, so sh and node are measured again at this pace, after the previous
  // drain has ended.
  const pause = (ms) => new Promise((wake) => setTimeout(wake, ms));
  for (let n = 0; hasProgram && n < WARM_UP_RUNS + runs; n += 1) {
    await pause(TURN_MS);
    once(PACED.sh, commands.sh);
    await pause(TURN_MS / 2);
    once(PACED.node, commands.node);
    await pause(TURN_MS / 2);
    once(PACED.hook, ["sh", "-c", lineOf(["-d"], "sh")]);
  }

  const at = (name, share) =>
    durationsMs[name]
      .slice(WARM_UP_RUNS)
      .toSorted((a, b) => a - b)
      .at(Math.floor(share * (runs - 1)));
  return Object.keys(durationsMs).map((name) => {
    const medianMs = at(name, 0.5);
    const isPaced = Object.values(PACED).includes(name);
    const [toSh, toNode] = [isPaced ? PACED.sh : "sh", isPaced ? PACED.node : "node"].map(
      (of) => medianMs / at(of, 0.5),
    );
    const isOurs = name.startsWith("our");
    const goal = !isOurs ? "" : toSh <= COLD_GOAL.sh && toNode <= COLD_GOAL.node ? "met" : "missed";
    return { backend, name, medianMs, p95Ms: at(name, 0.95), toSh, toNode, goal };
  });
}

/** The same in a loop of a shell, without drains. Prints a table; returns its rows. */
async function tightLoop(runs, lineOf) {
  const home = mkdtempSync(join(tmpdir(), "openhook-bench-"));
  try {
    // Any file is a program that is there
    install(home, process.execPath, "http://127.0.0.1:9");
    const payload = join(home, "payload.json");
    writeFileSync(payload, payloadText());
    // A bash under another name: the hook looks for the agent above the shells
    const agent = join(home, "agent");
    if (spawnSync("bash", ["-c", 'cp "$BASH" "$0"', agent]).status !== 0) throw new Error("there is no bash");
    const shells = SHELLS.filter((shell) => spawnSync(shell, ["-c", "exit 0"]).status === 0);
    const cat = (shell) => ({ name: `${shell} -c 'cat >/dev/null'`, command: [shell, "-c", "cat >/dev/null"], shell });
    const rows = [
      cat("sh"),
      { name: "node -e 0", command: [process.execPath, "-e", "0"], shell: "sh", batch: NODE_BATCH },
      { name: "our hook", command: ["sh", "-c", lineOf([], "sh")], shell: "sh", hasGoal: true },
      { name: "the line for any shell, sh", command: ["sh", "-c", lineOf([])], shell: "sh" },
      ...shells.flatMap((shell) => [
        cat(shell),
        { name: `the line for any shell, ${shell}`, command: [shell, "-c", lineOf([])], shell },
      ]),
    ].map((row) => ({ ...row, wallMs: [], cpuMs: [] }));
    const env = environmentAt(home, "http://127.0.0.1:9");
    const rounds = Math.max(3, Math.round(runs / 2));
    for (let n = 0; n <= rounds; n += 1)
      for (const { command, batch = BATCH, wallMs, cpuMs } of n % 2 === 0 ? rows : rows.toReversed()) {
        const { stderr } = spawnSync(agent, ["-c", LOOP, payload, String(batch), ...command], {
          env,
          cwd: home,
          encoding: "utf8",
        });
        const [wall, user, system] = stderr.trim().split(" ").map(Number);
        if (!(wall > 0)) throw new Error(`${command.join(" ")} failed: ${stderr}`);
        // The first round warms up
        if (n > 0) wallMs.push((wall * 1000) / batch);
        if (n > 0) cpuMs.push(((user + system) * 1000) / batch);
      }
    const found = readdirSync(join(home, "state", "inbox")).length;
    const events = (rounds + 1) * BATCH * (shells.length + 2);
    if (found !== events) throw new Error(`${events} events were sent, ${found} are in the inbox`);
    return printLoop(rows, rounds);
  } finally {
    await removeHome(home);
  }
}

function printLoop(rows, rounds) {
  const median = (values) => values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) / 2)];
  const [, node] = rows;
  const measured = rows.map((row) => {
    const own = rows.find(({ shell }) => shell === row.shell);
    const toSh = median(row.wallMs) / median(own.wallMs);
    const toNode = median(row.wallMs) / median(node.wallMs);
    const goal = row.hasGoal !== true ? "" : toSh <= GOAL.sh && toNode <= GOAL.node ? "met" : "missed";
    return { ...row, toSh, toNode, cpuToSh: median(row.cpuMs) / median(own.cpuMs), goal };
  });
  console.log(
    `\nin a tight loop: ${rounds} times ${BATCH} runs each (node: ${NODE_BATCH}), in turn; the same payload from a file; milliseconds a run; each line is compared with cat in its own shell\n`,
  );
  const mark = (goal, ok) => (goal === "" ? "" : ok ? "met" : "MISSED");
  table(
    [
      "command",
      "median",
      "least",
      "processor",
      "to cat",
      `goal ${GOAL.sh.toFixed(2)}`,
      "its processor",
      "to node",
      `goal ${GOAL.node}`,
    ],
    measured.map((row) => [
      row.name,
      median(row.wallMs).toFixed(2),
      Math.min(...row.wallMs).toFixed(2),
      median(row.cpuMs).toFixed(2),
      row.toSh.toFixed(2),
      mark(row.goal, row.toSh <= GOAL.sh),
      row.cpuToSh.toFixed(2),
      row.toNode.toFixed(2),
      mark(row.goal, row.toNode <= GOAL.node),
    ]),
    1,
  );
  return measured;
}

function payloadText() {
  const input = JSON.stringify({ session_id: "bench", hook_event_name: "PostToolUse", filler: "" });
  return input.replace('"filler":""', `"filler":"${"x".repeat(PAYLOAD_BYTES - input.length)}"`);
}

/** The user's environment, as an agent passes it on, without what redirects the program or slows node down. */
function environmentAt(home, endpoint) {
  const dropped = ["XDG_STATE_HOME", "XDG_CONFIG_HOME", "OPENHOOK_OTEL_HOME", "NODE_OPTIONS", "NODE_EXTRA_CA_CERTS"];
  const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !dropped.includes(name)));
  return { ...inherited, HOME: home, OTEL_EXPORTER_OTLP_ENDPOINT: endpoint };
}

/** Prepares a home the way `enable` does. */
function install(home, program, endpoint) {
  const hookDir = join(home, ".local", "share", "openhook-otel");
  const configDir = join(home, ".config", "openhook-otel");
  for (const dir of [hookDir, configDir]) mkdirSync(dir, { recursive: true });
  for (const name of ["hook", "hook.sh"]) {
    copyFileSync(join(root, "src", "collect", "intake", "hook.sh"), join(hookDir, name));
  }
  chmodSync(join(hookDir, "hook"), 0o755);
  const conf = { state: join(home, "state"), node: process.execPath, program };
  const lines = Object.entries(conf).map(([name, value]) => `${name}='${value.replaceAll("'", "'\\''")}'\n`);
  writeFileSync(join(hookDir, "hook.conf"), lines.join(""));
  writeFileSync(join(configDir, "config.json"), `${JSON.stringify({ otlp: { endpoint } })}\n`);
}

/** Retries, because the last drain may still write there. */
async function removeHome(home) {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return rmSync(home, { recursive: true, force: true });
    } catch (error) {
      if (attempt === 20) throw error;
      await new Promise((wake) => setTimeout(wake, 250));
    }
  }
}

function print(rows) {
  const head = [
    "backend",
    "command",
    "median",
    "p95",
    "to sh",
    `goal ${COLD_GOAL.sh.toFixed(2)}`,
    "to node",
    `goal ${COLD_GOAL.node}`,
  ];
  const sh = {
    sh: "sh -c 'cat >/dev/null'",
    node: "node -e 0",
    [PACED.sh]: "sh …, at a turn's end",
    [PACED.node]: "node …, at a turn's end",
    [PACED.hook]: "our hook -d",
  };
  const mark = (isOurs, ok) => (isOurs ? (ok ? "met" : "MISSED") : "");
  const cells = rows.map(({ backend, name, medianMs, p95Ms, toSh, toNode, goal }) => [
    backend,
    sh[name] ?? name,
    medianMs.toFixed(2),
    p95Ms.toFixed(2),
    toSh.toFixed(2),
    mark(goal !== "", toSh <= COLD_GOAL.sh),
    toNode.toFixed(2),
    mark(goal !== "", toNode <= COLD_GOAL.node),
  ]);
  table(head, cells, 2);
}

/** Prints cells in columns; the first `names` columns are texts. */
function table(head, cells, names) {
  const widths = head.map((title, n) => Math.max(title.length, ...cells.map((row) => row[n].length)));
  for (const row of [head, widths.map((width) => "-".repeat(width)), ...cells]) {
    const line = row.map((cell, n) => (n < names ? cell.padEnd(widths[n]) : cell.padStart(widths[n])));
    console.log(line.join("  ").trimEnd());
  }
}

/** A separate process, because spawnSync blocks this one. */
async function startBackend(backend) {
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), "--backend", backend], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const port = await new Promise((done, fail) => {
    child.stdout.once("data", (data) => done(Number(data)));
    child.once("exit", () => fail(new Error(`the ${backend} backend did not start`)));
  });
  return { port, stop: () => child.kill() };
}

function serve(backend) {
  const server =
    backend === "healthy"
      ? createHttpServer((request, response) => {
          request.resume();
          request.on("end", () => response.writeHead(200, { "content-type": "application/x-protobuf" }).end());
        })
      : createServer(() => {}); // Accepts and never responds
  server.listen(0, "127.0.0.1", () => {
    const { port } = server.address();
    if (backend !== "refusing") return console.log(port);
    // Nothing listens on this port any more
    server.close(() => {
      console.log(port);
      setInterval(() => {}, 1 << 30);
    });
  });
}
