// node bench/wrapper.mjs [--runs N] [--check]
// What a wrapper adds to the wrapped program, from start to exit: a program that does nothing and one that takes as long as a
// command-line client, each alone, behind the simplest script that passes on an exit code, and behind our wrapper.
// Runs are interleaved, so that other load on the machine affects all rows.
import { spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { build } from "esbuild";
import { textOfFiles } from "../scripts/import-bundled.mjs";

/** A wrapper may take this much longer than the simplest script: its start and its files, without hook and drain. */
const GOAL_MS = 5;
const WARM_UP_RUNS = 3;
/** The wrapper works for some milliseconds after the program's exit; the pause keeps that out of the next row. */
const PAUSE_MS = 25;
const root = dirname(dirname(fileURLToPath(import.meta.url)));

const { values } = parseArgs({
  options: { runs: { type: "string", default: "60" }, check: { type: "boolean", default: false } },
});
process.exitCode = await bench(Math.max(1, Number(values.runs) || 60));

async function bench(runs) {
  const home = mkdtempSync(join(tmpdir(), "openhook-bench-"));
  try {
    const rows = await measure(home, runs);
    console.log(`${runs} runs each, in turn; start to exit, milliseconds\n`);
    print(rows);
    return values.check && rows.some(({ goal }) => goal === "MISSED") ? 1 : 0;
  } finally {
    rmSync(home, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 });
  }
}

async function measure(home, runs) {
  const [real, bin, scripts] = ["real", "bin", "scripts"].map((name) => join(home, name));
  for (const directory of [real, bin, scripts]) mkdirSync(directory);
  const programs = { aws: "exit 3", gh: "exec sleep 0.2" };
  for (const [name, text] of Object.entries(programs)) {
    program(join(real, name), text);
    program(join(scripts, name), `"${join(real, name)}" "$@"\nexit $?`);
  }
  const env = { ...process.env, HOME: home, OPENHOOK_OTEL_DRAIN: "off", PATH: `${bin}:${real}:/usr/bin:/bin` };
  await install(home, bin, Object.keys(programs), env);

  const durationsMs = new Map();
  for (let n = 0; n < WARM_UP_RUNS + runs; n += 1) {
    for (const name of Object.keys(programs)) {
      for (const [row, directory] of Object.entries({ alone: real, script: scripts, wrapper: bin })) {
        const startMs = performance.now();
        const { status } = spawnSync(join(directory, name), ["s3", "ls"], { env, stdio: "ignore" });
        const durationMs = performance.now() - startMs;
        if (status !== (name === "aws" ? 3 : 0)) throw new Error(`${row} gave ${status}`);
        durationsMs.set(`${name} ${row}`, [...(durationsMs.get(`${name} ${row}`) ?? []), durationMs]);
        await new Promise((wake) => setTimeout(wake, PAUSE_MS));
      }
    }
  }
  // A wrapper that records nothing is fast: both events of every call must be in the inbox
  const events = 2 * Object.keys(programs).length * (WARM_UP_RUNS + runs);
  const found = readdirSync(join(home, ".local", "state", "openhook-otel", "inbox")).length;
  if (found !== events) throw new Error(`expected ${events} events, the inbox has ${found}`);

  const median = (row) =>
    durationsMs
      .get(row)
      .slice(WARM_UP_RUNS)
      .toSorted((a, b) => a - b)[Math.floor(runs / 2)];
  return Object.keys(programs).flatMap((name) => {
    const alone = median(`${name} alone`);
    const script = median(`${name} script`);
    return ["alone", "script", "wrapper"].map((row) => {
      const medianMs = median(`${name} ${row}`);
      const goal = row !== "wrapper" ? "" : medianMs - script <= GOAL_MS ? "met" : "MISSED";
      return { name, row, medianMs, ratio: medianMs / alone, addedMs: medianMs - alone, goal };
    });
  });
}

function program(path, text) {
  writeFileSync(path, `#!/bin/sh\n${text}\n`);
  chmodSync(path, 0o755);
}

/** Wraps the programs with the `wrap` command. */
async function install(home, bin, names, env) {
  const bundle = join(home, "cli", "cli.cjs");
  await build({
    entryPoints: [join(root, "src", "cli.ts")],
    outfile: bundle,
    bundle: true,
    platform: "node",
    target: "node20",
    format: "cjs",
    mainFields: ["module", "main"],
    conditions: ["import", "node"],
    external: ["libsql"],
    plugins: [textOfFiles],
  });
  mkdirSync(join(home, "dist"));
  copyFileSync(join(root, "src", "collect", "intake", "hook.sh"), join(home, "dist", "hook.sh"));
  symlinkSync(join(root, "node_modules"), join(home, "node_modules"));
  const child = spawn(process.execPath, [bundle, "wrap", "--directory", bin, ...names], { env, stdio: "inherit" });
  const code = await new Promise((done) => child.on("close", done));
  if (code !== 0) throw new Error("the programs could not be wrapped");
}

function print(rows) {
  const title = { aws: "exits immediately", gh: "takes 200 ms" };
  const cells = rows.map(({ name, row, medianMs, ratio, addedMs, goal }) => [
    title[name],
    row,
    medianMs.toFixed(2),
    `${ratio.toFixed(2)} x`,
    `+${addedMs.toFixed(2)}`,
    goal,
  ]);
  const head = ["program", "behind", "median", "to alone", "added", `goal ${GOAL_MS} ms to script`];
  const widths = head.map((text, n) => Math.max(text.length, ...cells.map((row) => row[n].length)));
  for (const row of [head, widths.map((width) => "-".repeat(width)), ...cells]) {
    console.log(
      row
        .map((cell, n) => (n < 2 ? cell.padEnd(widths[n]) : cell.padStart(widths[n])))
        .join("  ")
        .trimEnd(),
    );
  }
}
