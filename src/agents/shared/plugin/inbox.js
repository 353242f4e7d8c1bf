// The part of our plugins that all agents with plugins share: writes inbox files and starts drains, inside the agent's process.
// Paths and files follow the rules of hook.sh in the openhook-otel package.
import { spawn } from "node:child_process";
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  statSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { homedir } from "node:os";
import { dirname, join, parse } from "node:path";

/** The folder of the hook program, if `enable` did not use the default one; in a project's plugin it may begin with `~`. */
const INSTALLED_IN = "";

/** Limits for strings, lists and whole payloads. */
const MAX_TEXT = 300;
const MAX_PARTS = 200;
const MAX_BYTES = 64 * 1024;
/** Limit for each map of a long-running process. */
const MAX_REMEMBERED = 2_000;

/**
 * Writes one event.
 *
 * @param head the event's name, the agent and its folder; `keptEnv`: variables that are recorded besides HOME and those of commands
 */
export function writeEvent({ source, keptEnv, cwd, event }, payload) {
  const { installed, inboxDir } = paths();
  if (!installed) return;
  const text = JSON.stringify(payload);
  if (Buffer.byteLength(text) > MAX_BYTES) return;
  const fields = [
    ["source", source],
    ["event", event],
    ["ppid", String(process.pid)],
    ["pid", String(process.pid)],
    ["cwd", cwd],
    ["env.HOME", home()],
    ...[...keptEnv, "OPENHOOK_BRIDGE", "OPENHOOK_OTEL_PIPELINE", ...COMMAND_VARIABLES].map((name) => [
      `env.${name}`,
      process.env[name],
    ]),
  ];
  const head = fields
    .filter(([, value]) => value !== undefined && value !== "" && !value.includes("\n"))
    .map(([name, value]) => `${name}=${value}\n`);
  writeFile(
    inboxDir,
    `${process.pid}-${process.pid}`,
    `openhook-inbox 1\n${head.join("")}\n${text}\nend=whole${originOfProcess()}\n`,
  );
  ignoringErrors(noteProcesses);
  ignoringErrors(startReceiver);
  startDrainForBridge();
}

let cachedOrigin;

/** The time at which this process started, in the system's unit, and the system in which its pid is valid, as hook.sh writes them. */
function originOfProcess() {
  cachedOrigin ??= ignoringErrors(() => {
    const { start } = processOf("self");
    return ` ${start}${ignoringErrors(() => ` host=${hostOf()}`, "")}`;
  }, "");
  return cachedOrigin;
}

function processOf(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  const fields = stat.slice(stat.lastIndexOf(") ") + 2).split(/\s+/);
  return { parent: Number(fields[1]), start: fields[19] };
}

function hostOf() {
  const namespace = /\d+/.exec(readlinkSync("/proc/self/ns/pid"))[0];
  return `${namespace}.${readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()}`;
}

let hasNotedProcesses = false;

/** Once: the processes above this one, from which a drain sees whose command started it. hook.sh writes the same file. */
function noteProcesses() {
  if (hasNotedProcesses) return;
  hasNotedProcesses = true;
  const [host, own] = [hostOf(), processOf("self")];
  const names = [`${process.pid}.${own.start}`];
  ignoringErrors(() => {
    for (let pid = own.parent; pid > 1 && names.length <= 12; ) {
      const { parent, start } = processOf(pid);
      names.push(`${pid}.${start}`);
      pid = parent;
    }
  });
  const [uptime] = readFileSync("/proc/uptime", "latin1").split(" ");
  const folder = join(paths().stateDir, "processes");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, `${names[0]}.${host.slice(0, host.indexOf("."))}`);
  writeFileSync(path, `host=${host} up=${uptime} ${names.join(" ")}\n`, { flag: "wx", mode: 0o600 });
}

/** Writes a file under its final name. Its end line marks it as complete; existing files are never overwritten. */
function writeFile(inboxDir, stem, text) {
  const { path, fd } = reserve(inboxDir, stem);
  try {
    try {
      const bytes = Buffer.from(text);
      for (let offset = 0; offset < bytes.length; ) offset += writeSync(fd, bytes, offset);
    } finally {
      // Network file systems can report a full disk only when the file is closed
      closeSync(fd);
    }
  } catch {
    markLost(path);
  }
}

/** For a full disk: an empty `.lost` file records that an event was lost. Pids can be reused, so the name must be unused. */
function markLost(path) {
  let lostPath = path.replace(/\.evt$/, "");
  while (existsSync(`${lostPath}.lost`)) lostPath += "-";
  try {
    truncateSync(path);
    renameSync(path, `${lostPath}.lost`);
  } catch {
    unlinkSync(path);
  }
}

let nextNumber = 0;

function reserve(inboxDir, stem) {
  let hasFolder = false;
  for (let attempts = 0; ; ) {
    const path = join(inboxDir, `${stem}-${nextNumber}.evt`);
    try {
      const fd = openSync(path, "wx", 0o600);
      nextNumber++;
      return { path, fd };
    } catch (error) {
      // Pids are reused, and two containers can share the folder
      if (error?.code === "EEXIST" && attempts++ < 1_000) nextNumber++;
      else if (error?.code === "ENOENT" && !hasFolder) {
        hasFolder = true;
        mkdirSync(inboxDir, { recursive: true, mode: 0o700 });
      } else throw error;
    }
  }
}

/** Starts `openhook-otel drain` in a separate process group, without waiting; it continues after this process ends. */
export const startDrain = (...options) => startProgram("drain", "--quiet", ...options);

function startProgram(...args) {
  const { installed, stateDir, isStateRecorded, node, program } = paths();
  if (!installed || process.env.OPENHOOK_OTEL_DRAIN === "off") return undefined;
  if (program === undefined || !existsSync(program)) return undefined;
  // Little memory for a long drain, little time for a short one; hook.sh and hook.ts use the same flags
  const memoryFlags = ["--max-semi-space-size=2", "--optimize-for-size", "--initial-heap-size=48"];
  const child = spawn(node !== undefined && existsSync(node) ? node : "node", [...memoryFlags, program, ...args], {
    cwd: existsSync(stateDir) ? stateDir : parse(program).root,
    detached: true,
    // Variables can come from the repository. The drain checks them; until then, none may change what Node does
    env: {
      ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !STARTUP_VARIABLES.includes(name))),
      NODE_OPTIONS: "",
      OPENHOOK_OTEL_HOOK_NODE_OPTIONS: allowedNodeOptions(process.env.NODE_OPTIONS),
      OPENHOOK_OTEL_HOOK_FOLDER: process.cwd(),
      OPENHOOK_OTEL_HOOK_STATE: isStateRecorded ? "recorded" : "environment",
      OPENHOOK_OTEL_HOME: stateDir,
    },
    stdio: "ignore",
    windowsHide: true,
  });
  child.on("error", () => {});
  child.unref();
  return child.pid;
}

/** Starts the receiver of agents' own telemetry if it is used and does not run. The same as in hook.sh. */
function startReceiver() {
  const receiver = join(paths().stateDir, "native", "receiver");
  if (!existsSync(`${receiver}.json`) || isRunning(`${receiver}.live`)) return;
  // Another program has the port: only tried again when this process is new
  if (hasTriedReceiver && ignoringErrors(() => readFileSync(`${receiver}.live`, "utf8").trim()) === "port taken")
    return;
  hasTriedReceiver = true;
  writeFileSync(`${receiver}.live`, `${startProgram("receive", "--quiet") ?? ""}\n`, { mode: 0o600 });
}
let hasTriedReceiver = false;

/**
 * With the bridge on, every event starts a drain, unless one is reading new events or a command of the bridge runs this agent. The
 * same as in hook.sh.
 */
function startDrainForBridge() {
  const { stateDir } = paths();
  if (process.env.OPENHOOK_BRIDGE || !existsSync(join(stateDir, "bridge.json"))) return;
  const live = join(stateDir, "bridge.live");
  if (isRunning(live)) return;
  const pid = startDrain("--events");
  if (pid !== undefined) writeFileSync(live, `${pid}\n`, { mode: 0o600 });
}

/** Whether the process whose id is in a file is running. */
function isRunning(path) {
  try {
    const pid = Number(readFileSync(path, "utf8"));
    return Number.isSafeInteger(pid) && pid > 1 && process.kill(pid, 0) && !isZombie(pid);
  } catch {
    return false;
  }
}

/** In a container without init a killed process stays, as a zombie. */
function isZombie(pid) {
  try {
    return readFileSync(`/proc/${pid}/stat`, "latin1").includes(") Z ");
  } catch {
    return false;
  }
}

/** They say which agent's command started this process. */
// command variables: written by scripts/hook-variables.mjs
const COMMAND_VARIABLES = [
  "CLAUDE_CODE_SESSION_ID",
  "COPILOT_AGENT_SESSION_ID",
  "CODEX_SESSION_ID",
  "CODEX_THREAD_ID",
  "CODEX_TOOL_CALL_ID",
  "OPENCODE_PID",
  "KILO_PID",
  "PI_SESSION_ID",
  "OPENHOOK_OTEL_PI_CALL",
  "GEMINI_CLI",
  "KIRO_SESSION_ID",
  "QWEN_CODE_SESSION_ID",
  "CRUSH_SESSION_ID",
  "GROK_SESSION_ID",
];
// /command variables

// node options: written by scripts/hook-variables.mjs
const STARTUP_VARIABLES = [
  "NODE_COMPILE_CACHE",
  "NODE_ICU_DATA",
  "NODE_PATH",
  "NODE_REDIRECT_WARNINGS",
  "NODE_V8_COVERAGE",
  "OPENSSL_CONF",
  "OPENSSL_ENGINES",
  "OPENSSL_MODULES",
];

const ALLOWED_NODE_OPTIONS = [
  "--use-*-ca",
  "--use-env-proxy",
  "--network-family-*",
  "--no-network-family-*",
  "--dns-result-order=*",
  "--max-*-size=*",
  "--tls-min-*",
  "--tls-max-*",
  "--tls-cipher-*",
];
// /node options

/** The options in NODE_OPTIONS that a drain may use. */
function allowedNodeOptions(options = "") {
  const allowed = new RegExp(`^(?:${ALLOWED_NODE_OPTIONS.join("|").replaceAll("*", ".*")})$`);
  return options
    .split(/\s+/)
    .filter((option) => allowed.test(option))
    .join(" ");
}

/** Starts a drain if an earlier process left files. Up to two files can be from this process. */
export function startDrainIfWaiting() {
  const { inboxDir } = paths();
  if (readdirSync(inboxDir).filter((name) => name.endsWith(".evt")).length > 2) startDrain();
}

// --- paths ---

let cachedPaths;

/**
 * Paths from hook.conf. The file is checked before every event, because `disable` can remove it while the agent runs, and read
 * again when it changed.
 */
function paths() {
  // Not from OPENHOOK_OTEL_HOME, which can come from a repository's .env
  const confPath = [absolute(INSTALLED_IN.replace(/^~/, home)), defaultHookDir()]
    .filter((dir) => dir !== undefined)
    .map((dir) => join(dir, "hook.conf"))
    .find(existsSync);
  if (confPath === undefined) return { installed: false, inboxDir: "", stateDir: "" };
  const { mtimeMs, size } = statSync(confPath);
  const fileVersion = `${confPath} ${mtimeMs} ${size}`;
  if (cachedPaths?.fileVersion === fileVersion) return cachedPaths;
  const conf = settingsIn(readFileSync(confPath, "utf8"));
  const stateDir = conf.state || absolute(process.env.OPENHOOK_OTEL_HOME) || join(stateRoot(), "openhook-otel");
  cachedPaths = {
    fileVersion,
    installed: true,
    stateDir,
    isStateRecorded: Boolean(conf.state),
    inboxDir: join(stateDir, "inbox"),
    node: conf.node,
    program: conf.program,
  };
  return cachedPaths;
}

/** Reads lines of `name='value'`, quoted for sh. */
function settingsIn(text) {
  const found = {};
  for (const line of text.split("\n")) {
    const match = /^(state|node|program)='(.*)'$/.exec(line);
    if (match !== null) found[match[1]] = match[2].replaceAll("'\\''", "'");
  }
  return found;
}

const home = () => process.env.HOME || homedir();

const defaultHookDir = () =>
  process.platform === "win32" ? join(stateRoot(), "openhook-otel") : join(home(), ".local", "share", "openhook-otel");

function stateRoot() {
  if (process.platform === "win32") return process.env.LOCALAPPDATA ?? join(home(), "AppData", "Local");
  const xdg = absolute(process.env.XDG_STATE_HOME);
  if (xdg !== undefined) return xdg;
  return process.platform === "darwin"
    ? join(home(), "Library", "Application Support")
    : join(home(), ".local", "state");
}

const absolute = (path) =>
  path !== undefined && (path.startsWith("/") || /^[A-Za-z]:[\\/]/.test(path)) ? path : undefined;

// --- helpers ---

/** Ignores every error, so that none reaches the agent. */
export function ignoringErrors(work, fallback) {
  try {
    return work();
  } catch {
    return fallback;
  }
}

/** A text that is not empty, cut to a limit. */
export const textOf = (value) => (typeof value === "string" && value !== "" ? value.slice(0, MAX_TEXT) : undefined);

let cachedVersion;

/** How far above a program its package can be: `bin/x.js`, `dist/bundle/x.js`. */
const MAX_FOLDERS_UP = 4;

/** The version in the package of a program: the nearest one that has a version. `undefined` if there is none. Read once. */
export function versionBeside(program) {
  if (cachedVersion !== undefined || typeof program !== "string") return cachedVersion || undefined;
  cachedVersion = "";
  // A program that is one file has no script on disk
  let folder = ignoringErrors(() => dirname(realpathSync(existsSync(program) ? program : process.execPath)), "");
  for (let up = 0; cachedVersion === "" && up < MAX_FOLDERS_UP; up++) {
    const path = join(folder, "package.json");
    cachedVersion = ignoringErrors(() => textOf(JSON.parse(readFileSync(path, "utf8")).version), undefined) ?? "";
    folder = dirname(folder);
  }
  return cachedVersion || undefined;
}

/** A path is never cut, because it would be another path. */
export const pathOf = (value) =>
  typeof value === "string" && value !== "" && value.length <= 4_096 ? value : undefined;

export const numberOf = (value) => (typeof value === "number" && Number.isFinite(value) ? value : undefined);

/** A list, cut to a limit; empty for any other value. */
export const list = (value) => (Array.isArray(value) ? value.slice(0, MAX_PARTS) : []);

/** Sets an entry, and removes the oldest one beyond the limit. */
export function remember(map, key, value) {
  map.delete(key);
  map.set(key, value);
  if (map.size > MAX_REMEMBERED) map.delete(map.keys().next().value);
}
