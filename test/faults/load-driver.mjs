// node load-driver.mjs <job.json>: runs lanes of an agent's hook calls in parallel, each lane one call after the other.
// Prints how long each call took. Besides the hook, a call only costs a spawn; stdin and stdout are files, so
// that no data passes through this process.
import { spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";

const { lanes, env, cwd, output } = JSON.parse(readFileSync(process.argv[2], "utf8"));
const tookMs = [];
const outputFile = openSync(output, "a");

function call({ command, input, env: own }) {
  return new Promise((done, fail) => {
    const [file, ...args] = command;
    const stdin = openSync(input, "r");
    const startMs = performance.now();
    const child = spawn(file, args, { cwd, env: { ...env, ...own }, stdio: [stdin, outputFile, outputFile] });
    closeSync(stdin);
    child.on("error", fail);
    child.on("exit", (code) => {
      tookMs.push(performance.now() - startMs);
      code === 0 ? done() : fail(new Error(`${command.join(" ")} exited with ${code}`));
    });
  });
}

const startMs = Date.now();
await Promise.all(
  lanes.map(async (calls) => {
    for (const one of calls) await call(one);
  }),
);
process.stdout.write(JSON.stringify({ startMs, endMs: Date.now(), tookMs }));
