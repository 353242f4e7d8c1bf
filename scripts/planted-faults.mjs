// Plants faults one at a time into a copy of the repository and shows which tests find each: those of `npm test`, or only those
// that `npm run test:all` adds. In both, the tests of the rooms named with the fault run. Writes the table of docs/testing.md.
//
//   node scripts/planted-faults.mjs          all faults, then the table
//   node scripts/planted-faults.mjs <word>   faults whose description contains the word, without the table
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { FAULTS } from "./planted-faults-list.mjs";

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const PAGE = join(ROOT, "docs", "testing.md");

function run(word) {
  const rows = FAULTS.filter(({ what }) => what.includes(word ?? "")).map((fault) => {
    const row = { fault, ...findersOf(fault) };
    process.stdout.write(`${lineOf(row)}\n`);
    return row;
  });
  if (word === undefined) writeTable(rows);
  return rows.every(({ finder }) => finder !== undefined) ? 0 : 1;
}

/** Plants one fault in a new copy, because processes of the run before may still write to theirs. */
function findersOf(fault) {
  const copy = mkdtempSync(join(tmpdir(), "openhook-planted-"));
  try {
    const files = execFileSync("git", ["ls-files"], { cwd: ROOT, encoding: "utf8" }).split("\n").filter(Boolean);
    for (const file of files) cpSync(join(ROOT, file), join(copy, file));
    // Some tests list the files with git
    for (const words of [
      ["init", "--quiet"],
      ["add", "--all"],
    ])
      execFileSync("git", words, { cwd: copy });
    symlinkSync(join(ROOT, "node_modules"), join(copy, "node_modules"));
    plant(copy, fault);
    execFileSync(process.execPath, ["scripts/build.mjs"], { cwd: copy, stdio: "pipe" });
    const quick = failing(copy, "", fault.rooms);
    if (quick !== undefined) return { mode: "npm test", finder: quick };
    return { mode: "test:all", finder: failing(copy, "all", fault.rooms) };
  } finally {
    rmSync(copy, { recursive: true, force: true, maxRetries: 10 });
  }
}

function plant(copy, { file, from, to }) {
  const path = join(copy, file);
  const original = readFileSync(path, "utf8");
  if (original.split(from).length !== 2) throw new Error(`${file} does not contain this text exactly once: ${from}`);
  writeFileSync(
    path,
    original.replace(from, () => to),
  );
}

/** @returns the test file that fails, `undefined` if all pass */
function failing(copy, mode, rooms) {
  const vitest = join(ROOT, "node_modules", "vitest", "vitest.mjs");
  const { stdout, status } = spawnSync(
    process.execPath,
    [vitest, "run", "--bail=1", "--passWithNoTests", "--reporter=json", ...rooms],
    { cwd: copy, encoding: "utf8", maxBuffer: 1 << 28, env: { ...process.env, OPENHOOK_TEST: mode } },
  );
  if (status === 0) return undefined;
  const { testResults } = JSON.parse(stdout.slice(stdout.indexOf('{"num')));
  const failed = testResults.find((one) => one.status === "failed");
  if (failed === undefined) throw new Error(`vitest ended with ${status} without a failed test`);
  return failed.name.slice(copy.length + 1);
}

const lineOf = ({ fault, mode, finder }) => `| ${fault.what} | ${mode} | ${finder ? `\`${finder}\`` : "nothing"} |`;

function writeTable(rows) {
  const marked = /(<!-- planted: generated -->\n)[\s\S]*?(<!-- \/planted -->)/;
  const page = readFileSync(PAGE, "utf8");
  if (!marked.test(page)) throw new Error(`${PAGE} has no markers <!-- planted: generated --> … <!-- /planted -->`);
  const table = ["| planted fault | found by | first failing file |", "| --- | --- | --- |", ...rows.map(lineOf)];
  writeFileSync(
    PAGE,
    page.replace(marked, (_, begin, end) => `${begin}\n${table.join("\n")}\n\n${end}`),
  );
}

process.exitCode = run(process.argv[2]);
