#!/usr/bin/env node
// Enough for three versions of Node, each by hand and with the flags of hooks
const MAX_CACHES = 6;

// The agent waits for the hook, so the hook loads no commands
const command = process.argv[2];
const isHook = command === "hook" && !/^(-h|--help)$/.test(process.argv[3] ?? "");
if (isHook || Number.parseInt(process.versions.node, 10) >= 20) {
  // The prompt library calls styleText while it loads; Node has it since 20.12
  if (!isHook) {
    require("node:util").styleText ??= (_, text) => text;
    answerQuestionForGlibc();
    keepCompiledCode();
  }
  require(`./${programOf(command)}.cjs`);
} else {
  const problem = `Node ${process.version} (${process.execPath}) is too old, version 20 or later is required`;
  process.stderr.write(`openhook-otel: ${problem}: install it, then run openhook-otel enable with it\n`);
  process.exitCode = 1;
}

function programOf(command) {
  if (isHook) return "hook";
  if (process.argv.slice(2).join(" ") === "drain --quiet") return "background-drain";
  return "cli";
}

/**
 * Lets Node (22.1 and later) keep the compiled code of this program, beside the program: who can write there can change the program
 * itself. In the state directory, a repository that names another one in its .env could bring code of its own. No cache where the folder
 * is not ours alone: a program of root or of another user, a link, a folder that others can open, a read-only disk.
 */
function keepCompiledCode() {
  const { enableCompileCache } = require("node:module");
  if (enableCompileCache === undefined) return;
  try {
    const { mkdirSync, lstatSync, readdirSync, rmSync, statSync } = require("node:fs");
    const root = require("node:path").dirname(__dirname);
    const folder = `${root}/.compile-cache`;
    // Windows has neither owners nor modes
    const uid = process.getuid?.();
    const isOwn = (is) => uid === undefined || is.uid === uid;
    if (!isOwn(statSync(root))) return;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const is = lstatSync(folder);
    if (!is.isDirectory() || !isOwn(is) || (uid !== undefined && (is.mode & 0o077) !== 0)) return;
    // One folder per version of Node and set of its flags, 2 MB each; those of former versions are never used again
    const kept = readdirSync(folder);
    if (kept.length > MAX_CACHES) for (const name of kept) rmSync(`${folder}/${name}`, { recursive: true, force: true });
    enableCompileCache(folder);
  } catch {
    // It only saves time
  }
}

/**
 * At every start, libsql asks for a diagnostic report of the whole process (4 ms) only to see whether the C library is glibc. The
 * list of mapped files answers this in 0.3 ms. If it does not show glibc, libsql gets the real report.
 */
function answerQuestionForGlibc() {
  if (process.platform !== "linux" || !process.report) return;
  const { getReport } = process.report;
  process.report.getReport = (...given) => {
    process.report.getReport = getReport;
    return usesGlibc() ? { header: { glibcVersionRuntime: "" } } : getReport.apply(process.report, given);
  };
}

function usesGlibc() {
  try {
    return /\/libc(-2\.\d+\.so|\.so\.6)\n/.test(require("node:fs").readFileSync("/proc/self/maps", "latin1"));
  } catch {
    return false;
  }
}
