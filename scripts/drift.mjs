// Drift radar: installs the newest version of every agent, runs the live scenarios, and compares payloads, session files and
// figures with the recordings and cards. Exits with 1 if something that we use changed, with 2 if nothing could be run.
//
//   node scripts/drift.mjs [--pinned [--accept]] [--out <file>] [--keep <folder>] [<agent> …]
//     --pinned  the versions of the live tests instead of the newest
//     --accept  with --pinned: what these versions do differently from the recordings is not reported again
//     --out     also write the report to this file
//     --keep    leave payloads and session files in this folder
import { spawnSync } from "node:child_process";
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { AS_THE_PROGRAM, importBundled, typescript } from "./import-bundled.mjs";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
/** By agent, what the version of the live tests does differently from the recordings. */
const ACCEPTED_FILE = join(ROOT, "test", "live", "drift", "accepted.json");

const given = process.argv.slice(2);
const optionOf = (name) => (given.includes(name) ? given[given.indexOf(name) + 1] : undefined);
const [outFile, keptFolder] = [optionOf("--out"), optionOf("--keep")];
const [isPinned, accepts] = [given.includes("--pinned"), given.includes("--accept")];
const wanted = given.filter((word) => ![outFile, keptFolder].includes(word) && !word.startsWith("--"));

const { acceptable, allAgents, differenceLines, differencesOf, withoutAccepted, ...live } = await importBundled({
  stdin: typescript(`
      export { allAgents } from "./src/agents/registry.ts";
      export { acceptable, differenceLines, differencesOf, withoutAccepted } from "./test/live/drift/report.ts";
      export { newestVersion } from "./test/live/install.ts";
      export { NO_PROGRAM, PROGRAMS } from "./test/live/programs.ts";
      export { SCENARIOS } from "./test/live/scenarios.ts";
    `),
  ...AS_THE_PROGRAM,
});

const { newestVersion, NO_PROGRAM, PROGRAMS, SCENARIOS } = live;

if (accepts && !isPinned) {
  console.error("--accept needs --pinned: only differences of the versions of the live tests can be accepted");
  process.exit(2);
}
const accepted = JSON.parse(readFileSync(ACCEPTED_FILE, "utf8"));
const agents = await allAgents();
for (const name of wanted.filter((word) => agents.every(({ source }) => source !== word))) {
  console.error(`unknown agent ${JSON.stringify(name)}`);
  process.exit(2);
}
const isWanted = ({ source }) => wanted.length === 0 || wanted.includes(source);
const folder = keptFolder ?? mkdtempSync(join(tmpdir(), "openhook-drift-"));
let [ran, used] = [0, 0];
try {
  print(`Drift of agents, ${new Date().toISOString().slice(0, 10)}`);
  for (const program of PROGRAMS.filter(isWanted)) radarOf(program);
  for (const { source } of agents.filter(isWanted)) {
    if (PROGRAMS.some((program) => program.source === source)) continue;
    print(`${source}: NOT RUN: ${NO_PROGRAM[source] ?? "not in the table of programs"}`);
  }
  print(
    ran === 0
      ? "no agent could be run"
      : used === 0
        ? "nothing that we use changed"
        : `${used} ${used === 1 ? "difference" : "differences"} in what we use`,
  );
} finally {
  if (keptFolder === undefined) rmSync(folder, { recursive: true, force: true });
}
process.exitCode = ran === 0 ? 2 : used > 0 ? 1 : 0;

// --- internal ---

/** Runs one agent's scenarios, and prints its part of the report. */
function radarOf(program) {
  const { source } = program;
  const agent = agents.find((one) => one.source === source);
  let version = program.version;
  let withoutProgram;
  try {
    if (!isPinned) ({ version, withoutProgram } = newestVersion(program));
  } catch (error) {
    print(`${source}: NOT RUN: its newest version is unknown: ${firstLine(error.message)}`);
    return;
  }
  if (withoutProgram !== undefined) print(`${source} ${withoutProgram}: NOT RUN: npm has no program for this platform`);
  const result = play(source, version);
  if (result.passed.length + result.failures.size === 0) {
    print(`${source} ${version}: NOT RUN: ${result.reason}`);
    return;
  }
  ran++;
  const places = { recordings: join(ROOT, "test", "agents", source), kept: join(folder, source) };
  const found = differencesOf(agent, places, result.failures);
  if (accepts) accept(source, acceptable(found));
  const differences = withoutAccepted(found, accepted[source]);
  used += differences.filter(({ isUsed }) => isUsed).length;
  const compared = `${result.passed.length} of ${Object.keys(SCENARIOS).length} scenarios exact`;
  const { basis, versions = basis } = agent.capabilities;
  print(`${source} ${version} (known: ${versions}): ${compared}${differences.length === 0 ? ", no difference" : ""}`);
  for (const line of differenceLines(differences)) print(line);
  for (const [name, reason] of Object.entries(program.cannot ?? {})) print(`  NOT RUN: ${name}: ${reason}`);
}

function accept(source, differences) {
  accepted[source] = differences;
  const sorted = Object.entries(accepted)
    .filter(([, lines]) => lines.length > 0)
    .sort();
  writeFileSync(ACCEPTED_FILE, `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`);
}

/** @returns the scenarios whose figures were right, those whose figures were not, and why none ran */
function play(source, version) {
  const results = join(folder, `${source}.json`);
  const run = spawnSync(
    process.execPath,
    [
      join(ROOT, "node_modules", "vitest", "vitest.mjs"),
      ...[
        "run",
        "--config",
        "test/live/vitest.config.ts",
        ...["--reporter=verbose", "--reporter=json", `--outputFile.json=${results}`],
      ],
      ...["-t", `^${source} `],
    ],
    {
      cwd: ROOT,
      encoding: "utf8",
      maxBuffer: 1 << 28,
      env: {
        ...process.env,
        OPENHOOK_LIVE_VERSIONS: `${source}@${version}`,
        OPENHOOK_LIVE_RECORD: folder,
      },
    },
  );
  if (!existsSync(results)) {
    return { passed: [], failures: new Map(), reason: firstLine(run.stderr) || "the test runner wrote no result" };
  }
  const [file] = JSON.parse(readFileSync(results, "utf8")).testResults;
  const tests = (file?.assertionResults ?? []).filter(({ ancestorTitles }) => ancestorTitles.at(-1) === source);
  const nameOf = ({ title }) => title.split(":")[0];
  const failed = tests.filter(({ status }) => status === "failed");
  return {
    passed: tests.filter(({ status }) => status === "passed").map(nameOf),
    failures: new Map(failed.map((test) => [nameOf(test), firstLine(test.failureMessages.join("\n"))])),
    reason: notRunIn(`${run.stdout}\n${run.stderr}`, source) ?? (firstLine(file?.message) || "no scenario ran"),
  };
}

/** The reason that the live tests print for an agent that they could not run. */
function notRunIn(printed, source) {
  return stripVTControlCharacters(printed)
    .split("\n")
    .find((line) => line.startsWith(`${source}: NOT RUN: `))
    ?.slice(`${source}: NOT RUN: `.length);
}

function firstLine(text) {
  const [line] = stripVTControlCharacters(text ?? "")
    .trim()
    .split("\n");
  return line.slice(0, 300);
}

function print(line) {
  console.log(line);
  if (outFile !== undefined) appendFileSync(outFile, `${line}\n`);
}
