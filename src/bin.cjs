#!/usr/bin/env node
// Each version of Node has one for each set of flags, by hand and in hooks: 2 to 3 MB. Those of former versions stay until there are more
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
  require(`./${programOf()}.cjs`);
} else {
  const problem = `Node ${process.version} (${process.execPath}) is too old, version 20 or later is required`;
  process.stderr.write(`openhook-otel: ${problem}: install it, then run openhook-otel enable with it\n`);
  process.exitCode = 1;
}

function programOf() {
  if (isHook) return "hook";
  const line = process.argv.slice(2).join(" ");
  return { "drain --quiet": "background-drain", receive: "receiver", "receive --quiet": "receiver" }[line] ?? "cli";
}

/**
 * Lets Node keep the compiled code of this program (from Node 22.1 on), beside the program, because who can write there can change the
 * program itself. The state directory can be named by a repository's .env, whose code would then run. Only in a folder that is ours
 * alone: not for a program of root or another user, nor in a link or a folder that others can open.
 */
function keepCompiledCode() {
  const { enableCompileCache } = require("node:module");
  const { NODE_COMPILE_CACHE, NODE_DISABLE_COMPILE_CACHE } = process.env;
  if (enableCompileCache === undefined || NODE_COMPILE_CACHE || NODE_DISABLE_COMPILE_CACHE) return;
  try {
    const { lstatSync, mkdirSync, readdirSync, rmSync, statSync } = require("node:fs");
    const { dirname, join } = require("node:path");
    // Windows has neither owners nor modes
    const uid = process.getuid?.();
    const isOwn = (found) => uid === undefined || found.uid === uid;
    const root = dirname(__dirname);
    const place = statSync(root);
    if (!isOwn(place) || (uid !== undefined && (place.mode & 0o002) !== 0)) return;
    // Not directly in the root, whose time says when a copy was chosen
    const folder = join(root, "node_modules", ".compile-cache");
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const found = lstatSync(folder);
    if (!found.isDirectory() || !isOwn(found) || (uid !== undefined && (found.mode & 0o077) !== 0)) return;
    const caches = readdirSync(folder);
    if (caches.length > MAX_CACHES)
      for (const name of caches) rmSync(join(folder, name), { recursive: true, force: true });
    enableCompileCache(folder);
  } catch {
    // A full or read-only disk: it only saves time
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
