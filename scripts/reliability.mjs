// npm run test:faults: runs test/faults/long and writes its results into docs/reliability.md, between the markers.
//
//   node scripts/reliability.mjs                    all tests, then the report
//   node scripts/reliability.mjs <vitest arguments> some tests, e.g. `-t settle`, without a report
//   node scripts/reliability.mjs --from <file>      only the report, from a file of results
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const PAGE = join(ROOT, "docs", "reliability.md");

function run(vitestArguments) {
  const folder = mkdtempSync(join(tmpdir(), "openhook-results-"));
  const results = join(folder, "results.jsonl");
  try {
    const vitest = join(ROOT, "node_modules", "vitest", "vitest.mjs");
    const startMs = Date.now();
    const { status } = spawnSync(
      process.execPath,
      [vitest, "run", "--config", join(ROOT, "test", "faults", "vitest.config.ts"), ...vitestArguments],
      { cwd: ROOT, stdio: "inherit", env: { ...process.env, OPENHOOK_FAULTS_RESULTS: results } },
    );
    if (status !== 0) return status ?? 1;
    if (vitestArguments.length > 0) return 0;
    report(readResults(results), Date.now() - startMs);
    return 0;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function readResults(path) {
  const lines = readFileSync(path, "utf8").split("\n");
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line));
}

function report(results, tookMs) {
  const before = readFileSync(PAGE, "utf8");
  const sections = { made: madeOf(tookMs), faults: faults(results), load: load(results), inputs: inputs(results) };
  let page = before;
  for (const [name, text] of Object.entries(sections)) {
    const marked = new RegExp(`(<!-- ${name}: generated -->\n)[^]*?(<!-- /${name} -->)`);
    if (!marked.test(page)) throw new Error(`${PAGE} has no markers <!-- ${name}: generated --> … <!-- /${name} -->`);
    page = page.replace(marked, (_, begin, end) => `${begin}${text}\n${end}`);
  }
  writeFileSync(PAGE, page);
  process.stdout.write(`wrote ${PAGE}\n`);
}

/** Day, machine and commit of the run. */
function madeOf(tookMs) {
  const git = (...words) => execFileSync("git", words, { cwd: ROOT, encoding: "utf8" }).trim();
  const isChanged = git("status", "--porcelain", "--untracked-files=no") !== "";
  const commit = `${git("rev-parse", "--short=12", "HEAD")}${isChanged ? " with changes" : ""}`;
  const day = new Date().toISOString().slice(0, "2026-11-21".length);
  const machine = `${cpus().length} × ${cpus()[0]?.model.trim() ?? "unknown processor"}, ${process.platform}, Node ${process.version}`;
  const took = tookMs === undefined ? "" : `, in ${Math.round(tookMs / 60_000)} minutes`;
  return `\nMeasured on ${day}${took}: ${machine}; commit ${commit}.\n`;
}

function faults(results) {
  const rows = ordered(results, ["drain", "backend"]);
  const sum = (name) => rows.reduce((n, row) => n + (row[name] ?? 0), 0);
  const longest = Math.max(0, ...rows.map((row) => row.recoveryMs ?? 0));
  return table(
    ["fault", "runs", "events in", "lost", "twice", "longest recovery", ""],
    [
      ...rows.map((row) => [
        row.fault,
        number(row.runs),
        number(row.eventsIn),
        number(row.lost),
        number(row.duplicates),
        seconds(row.recoveryMs),
        remark(row),
      ]),
      ["**all**", sum("runs"), sum("eventsIn"), sum("lost"), sum("duplicates"), seconds(longest), ""].map((cell) =>
        typeof cell === "number" ? `**${number(cell)}**` : cell,
      ),
    ],
  );
}

const load = (results) =>
  table(
    ["load", "runs", "events in", "lost", "twice", "figures"],
    ordered(results, ["load"]).map((row) => [
      row.fault,
      number(row.runs),
      number(row.eventsIn),
      number(row.lost),
      number(row.duplicates),
      remark(row),
    ]),
  );

const inputs = (results) =>
  table(
    ["input", "tried", "came through that must not", ""],
    ordered(results, ["input", "privacy"]).map((row) => [
      row.fault,
      number(row.runs),
      number(row.lost ?? 0),
      remark(row),
    ]),
  );

/** Sorted, because tests run in parallel and end in any order. */
const ordered = (results, areas) =>
  areas.flatMap((area) => results.filter((row) => row.area === area).sort((a, b) => (a.fault < b.fault ? -1 : 1)));

function remark({ note, figures = {} }) {
  const parts = Object.entries(figures).map(([name, value]) => `${words(name)} ${unitOf(name, value)}`);
  return [...(note ? [note] : []), ...parts].join("; ");
}

/** `tokensMissing` → `tokens missing`; the unit follows the number. */
const words = (name) =>
  name
    .replace(/(Ms|MiB|Bytes)$/, "")
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase();
const UNITS = { Ms: " ms", MiB: " MiB", Bytes: " bytes" };
function unitOf(name, value) {
  const unit = /(Ms|MiB|Bytes)$/.exec(name)?.[1];
  return `${number(value)}${unit === undefined ? "" : UNITS[unit]}`;
}

const number = (value) =>
  value === undefined ? "" : value.toLocaleString("en-US", { maximumFractionDigits: value < 100 ? 1 : 0 });
const seconds = (ms) => (ms === undefined || ms === 0 ? "" : `${(ms / 1_000).toFixed(1)} s`);

function table(head, rows) {
  if (rows.length === 0) return "\n(not run)\n";
  const line = (cells) => `| ${cells.map((cell) => String(cell).replaceAll("|", "\\|")).join(" | ")} |`;
  const rule = head.map((name) => (/^(runs|events in|lost|twice|longest recovery|tried)$/.test(name) ? "---:" : "---"));
  return `\n${[line(head), line(rule), ...rows.map(line)].join("\n")}\n`;
}

const args = process.argv.slice(2);
if (args[0] === "--from") report(readResults(args[1]));
else process.exitCode = run(args);
