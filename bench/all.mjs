// node bench/all.mjs [names…] [--mb N] [--runs N] [--quick] [--check] [--write] [--program FILE]
// Runs all benchmarks, or the named ones, one after the other, and compares them with their goals. A wrong result, e.g. a wrong
// total, is a failure; a missed goal is one only with --check. `--write` puts the figures into docs/benchmarks.md.
import { spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { BACKLOGS, benchBacklog } from "./backlog.mjs";
import { benchDrain, SIZES } from "./drain.mjs";
import { benchExport, SPANS } from "./export.mjs";
import { benchImport } from "./import.mjs";
import { goal, goalLines } from "./lib/figures.mjs";
import { machineLine } from "./lib/machine.mjs";
import { countOf, PROGRAM, ROOT, sizesOf, started } from "./lib/options.mjs";
import { benchOutcomes, LARGE } from "./outcomes.mjs";
import { benchRead } from "./read.mjs";
import { benchRefresh, HOMES } from "./refresh.mjs";

const PAGE = join(ROOT, "docs", "benchmarks.md");

await started(main);

async function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      mb: { type: "string" },
      runs: { type: "string" },
      quick: { type: "boolean", default: false },
      check: { type: "boolean", default: false },
      write: { type: "boolean", default: false },
      program: { type: "string", default: PROGRAM },
    },
  });
  const program = resolve(values.program);
  if (!existsSync(program)) throw new Error(`${program} is missing: run "npm run build" first, or give --program`);
  const { quick } = values;
  const mb = countOf("--mb", values.mb ?? (quick ? "30" : "300"));
  const runsOr = (usual, few) => countOf("--runs", values.runs ?? String(quick ? few : usual));
  const benchmarks = {
    hook: () => benchHook({ runs: runsOr(40, 10), program }),
    drain: () => benchDrain({ runs: runsOr(15, 5), program, sizes: sizesOf(quick ? "10,1000,10000" : SIZES) }),
    backlog: () => benchBacklog({ runs: runsOr(5, 3), program, sizes: sizesOf(quick ? "250,500" : BACKLOGS) }),
    read: () => benchRead({ runs: runsOr(5, 3), mb }),
    import: () => benchImport({ runs: runsOr(5, 3), mb, program }),
    refresh: () => benchRefresh({ runs: runsOr(5, 3), program, sizes: sizesOf(quick ? "30,100" : HOMES) }),
    outcomes: () =>
      benchOutcomes({ runs: runsOr(5, 3), program, size: quick ? { commits: 5_000, files: 2_000 } : LARGE }),
    export: () => benchExport({ runs: runsOr(5, 3), program, spans: quick ? 2_000 : Number(SPANS) }),
  };
  const names = positionals.length > 0 ? positionals : Object.keys(benchmarks);
  const unknown = names.find((name) => !Object.hasOwn(benchmarks, name));
  if (unknown !== undefined) {
    throw new Error(`unknown benchmark ${JSON.stringify(unknown)}: use one of ${Object.keys(benchmarks).join(", ")}`);
  }

  const machine = machineLine();
  console.log(machine);
  if (loadavg()[0] > cpus().length / 2) console.log("THE MACHINE IS BUSY: ratios are valid, times are not");
  const reports = [];
  let failed = 0;
  for (const name of names) {
    try {
      const report = await benchmarks[name]();
      reports.push({ name, ...report });
      console.log(`\n## ${report.title}\n\n${report.text}`);
    } catch (error) {
      failed++;
      console.error(`\n## ${name} FAILED\n\n${error.stack}`);
    }
  }
  const goals = reports.flatMap((report) => report.goals);
  console.log(`\n## Goals\n\n${goalLines(goals)}`);
  if (failed > 0) console.log(`\n${failed} of ${names.length} benchmarks FAILED: see above`);
  if (values.write) writePage(reports, machine);
  const isMissed = goals.some(({ isMet }) => isMet === false);
  return failed > 0 || (values.check && isMissed) ? 1 : 0;
}

// --- internal ---

/** A separate program, whose table includes its goals. */
async function benchHook({ runs, program }) {
  const command = [join(ROOT, "bench", "hook.mjs"), "--runs", String(runs), "--program", program, "--check"];
  const child = spawn(process.execPath, command, { stdio: ["ignore", "pipe", "inherit"] });
  const pieces = [];
  child.stdout.on("data", (piece) => pieces.push(piece));
  const code = await new Promise((done) => child.on("close", done));
  const text = Buffer.concat(pieces).toString().trim();
  if (code > 1 || text === "") throw new Error(`bench/hook.mjs ended with ${code}`);
  const missed = /(\d+ of \d+) rows miss the goal/.exec(text)?.[1];
  const figure = missed === undefined ? "every row" : `not in ${missed} rows`;
  return {
    title: "Hook",
    text,
    goals: [goal("a hook where the agent runs sh: at most 1.8 × sh, at most 0.2 × node", figure, code === 0)],
  };
}

/** Replaces the figures of the benchmarks that ran; the others keep their last ones. */
function writePage(reports, machine) {
  const day = new Date().toISOString().slice(0, 10);
  let page = readFileSync(PAGE, "utf8");
  for (const { name, text, goals } of reports) {
    const marked = new RegExp(`(<!-- ${name}: generated -->\n)[^]*?(<!-- /${name} -->)`);
    if (!marked.test(page)) throw new Error(`${PAGE} has no <!-- ${name}: generated --> … <!-- /${name} -->`);
    const figures = [`${day}; ${machine}`, text, goalLines(goals)].filter((part) => part !== "").join("\n\n");
    page = page.replace(marked, (_, begin, end) => `${begin}\n\`\`\`text\n${figures}\n\`\`\`\n\n${end}`);
  }
  writeFileSync(PAGE, page);
  console.log(`\nwritten: ${PAGE}`);
}
