// Runs inside Windows: node.exe inside.cjs JOB.json. Starts programs as Windows does and writes what they did to JOB.out
const { spawn } = require("node:child_process");
const fs = require("node:fs");

let started = 0;
const file = process.argv[2];
const job = JSON.parse(fs.readFileSync(file, "utf8"));

main().then(
  (results) => end({ results }),
  (error) => end({ error: String(error.stack) }),
);

async function main() {
  if (job.during !== undefined) return during(job.during, job.steps);
  if (job.parallel) return Promise.all(job.steps.map((step) => start(step).done));
  const results = [];
  for (const step of job.steps) results.push(await start(step).done);
  return results;
}

/** Runs the steps while another program runs, as soon as that program has printed text that matches `ready`. */
async function during({ ready, ...step }, steps) {
  const running = start(step);
  const found = await Promise.race([running.prints(new RegExp(ready)), running.done.then(() => undefined)]);
  if (found === undefined) return [await running.done];
  const results = [];
  for (const one of steps) {
    const argv = one.argv.map((word) => word.replaceAll("{ready}", found));
    results.push(await start({ ...one, argv }).done);
  }
  running.kill();
  return results;
}

function start({ argv, env = {}, cwd = "C:\\work", stdin = "", verbatim = false, ms = 120_000 }) {
  const [program, ...args] = argv;
  const startMs = Date.now();
  // Output goes to files: with pipes, Node aborts under Wine in some commands ("Assertion failed: process_title"), probably because
  // it cannot read the title of a console that does not exist
  const [out, err] = [`${file}.${++started}.stdout`, `${file}.${started}.stderr`];
  const child = spawn(program, args, {
    cwd,
    env: { ...inherited(env), ...env },
    stdio: ["pipe", fs.openSync(out, "w"), fs.openSync(err, "w")],
    windowsHide: true,
    windowsVerbatimArguments: verbatim,
  });
  child.stdin.on("error", () => {});
  child.stdin.end(Buffer.from(stdin, "base64"));
  const timer = setTimeout(() => child.kill(), ms);
  const done = new Promise((resolve) => {
    const finish = (code) => {
      clearTimeout(timer);
      const [stdout, stderr] = [out, err].map((path) => fs.readFileSync(path, "utf8"));
      resolve({ code, stdout, stderr, ms: Date.now() - startMs });
    };
    child.on("error", (error) => {
      fs.appendFileSync(err, String(error));
      finish(-1);
    });
    child.on("exit", finish);
  });
  const prints = (pattern) =>
    new Promise((resolve) => {
      const check = () => {
        const found = pattern.exec(fs.readFileSync(out, "utf8"));
        if (found === null) setTimeout(check, 100);
        else resolve(found[1] ?? found[0]);
      };
      check();
    });
  return { done, prints, kill: () => child.kill() };
}

/** Names of variables do not depend on case. */
function inherited(env) {
  const given = new Set(Object.keys(env).map((name) => name.toUpperCase()));
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !given.has(name.toUpperCase())));
}

function end(result) {
  fs.writeFileSync(`${file}.out`, JSON.stringify(result));
  process.exit(0);
}
