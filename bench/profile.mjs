// node bench/profile.mjs [--top N] -- <command of the program…>, e.g. node bench/profile.mjs -- import claude-code
// Where the program spends its time: runs it under Node's profiler and sums the samples of all threads by function.
// The command writes to the current HOME: set HOME and OPENHOOK_OTEL_HOME to directories for the purpose.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { table } from "./lib/figures.mjs";
import { countOf, PROGRAM } from "./lib/options.mjs";

const INTERVAL_US = 200;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { top: { type: "string", default: "20" }, program: { type: "string", default: PROGRAM } },
});
const top = countOf("--top", values.top);
const folder = mkdtempSync(join(tmpdir(), "openhook-profile-"));
try {
  const flags = ["--cpu-prof", `--cpu-prof-dir=${folder}`, `--cpu-prof-interval=${INTERVAL_US}`];
  const command = [...flags, resolve(values.program), ...positionals];
  const { status } = spawnSync(process.execPath, command, { stdio: "inherit" });
  const profiles = readdirSync(folder).map((name) => JSON.parse(readFileSync(join(folder, name), "utf8")));
  console.log(`\nended with ${status}; ${profiles.length} threads`);
  const { own, all } = addUp(profiles);
  for (const [title, times] of Object.entries({ "in the function itself": own, "with what it calls": all })) {
    const rows = [...times].toSorted((a, b) => b[1] - a[1]).slice(0, top);
    console.log(
      `\n${table(
        [title, "ms"],
        rows.map(([name, ms]) => [name, ms.toFixed(1)]),
      )}`,
    );
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

// --- internal ---

function addUp(profiles) {
  const [own, all] = [new Map(), new Map()];
  const add = (times, name, ms) => times.set(name, (times.get(name) ?? 0) + ms);
  for (const { nodes, samples, timeDeltas } of profiles) {
    const byId = new Map(nodes.map((node) => [node.id, node]));
    const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])));
    for (const [n, id] of samples.entries()) {
      const ms = timeDeltas[n] / 1000;
      add(own, nameOf(byId.get(id)), ms);
      const above = new Set();
      for (let at = id; at !== undefined; at = parents.get(at)) above.add(nameOf(byId.get(at)));
      for (const name of above) add(all, name, ms);
    }
  }
  return { own, all };
}

function nameOf({ callFrame: { functionName, url, lineNumber, columnNumber } }) {
  const place = lineNumber < 0 ? "" : `:${lineNumber + 1}:${columnNumber + 1}`;
  return `${functionName || "(anonymous)"} ${basename(url)}${place}`;
}
