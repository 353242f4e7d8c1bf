#!/usr/bin/env node
// The agent waits for the hook, so the hook loads no commands
const command = process.argv[2];
const isHook = command === "hook" && !/^(-h|--help)$/.test(process.argv[3] ?? "");
if (isHook || Number.parseInt(process.versions.node, 10) >= 20) {
  // The prompt library calls styleText while it loads; Node has it since 20.12
  if (!isHook) {
    require("node:util").styleText ??= (_, text) => text;
    answerQuestionForGlibc();
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
  if (command === "drain" || command === "import") return "collect";
  return [undefined, "report", "sessions", "show", "explain"].includes(command) ? "read" : "cli";
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
