// openhook-otel plugin for OpenCode
//
// Written by `openhook-otel enable opencode`, removed by `openhook-otel disable opencode`; changes to it are lost.
//
// Passes OpenCode's plugin events to openhook-otel: writes one small file per event, and starts a drain when a turn or the
// process ends. OpenCode waits for its plugins, and a plugin that throws breaks tools and whole runs. So this file awaits
// nothing, catches every error, and does nothing if openhook-otel is not installed. It writes only names, ids, times, counts
// and the beginnings of error messages: no prompt, no argument, no output.
//
// Paths and files follow the rules of hook.sh in the openhook-otel package.
import { spawn } from "node:child_process";
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { homedir } from "node:os";
import { join, parse } from "node:path";

/** The folder of the hook program, if `enable` did not use the default one. */
const INSTALLED_IN = "";

const SOURCE = "opencode";
const KEPT_ENV = ["HOME", "XDG_DATA_HOME", "OPENCODE_DB", "OPENHOOK_BRIDGE"];
/** Limits for strings, lists and whole payloads. */
const MAX_TEXT = 300;
const MAX_PARTS = 200;
const MAX_BYTES = 64 * 1024;
/** A fork sends its whole history as events; an event that ended longer ago than this is a copy. */
const RECENT_MS = 60_000;
/** An event that ended further in the future than this was copied after the clock was set back. */
const SAME_SECOND_MS = 1_000;
/** Limit for each map of a long-running server. */
const MAX_REMEMBERED = 2_000;

/** Directory → active instance. If the plugin is loaded from two folders, or twice without `dispose`, only the last instance reports. */
const ACTIVE_INSTANCES = Symbol.for("openhook-otel.opencode");

/** The plugin. OpenCode calls every exported function. */
export const OpenhookOtel = async (given) => ignoringErrors(() => hooksFor(pathOf(given?.directory) ?? ""), {});

/** The hooks of one instance of OpenCode, which has one working directory. */
function hooksFor(directory) {
  const instance = {};
  globalThis[ACTIVE_INSTANCES] ??= new Map();
  const activeInstances = globalThis[ACTIVE_INSTANCES];
  activeInstances.set(directory, instance);
  const state = {
    directory,
    parents: new Map(),
    prompts: new Map(),
    requested: new Map(),
    idle: new Map(),
    sequence: 0,
  };
  const hook = (handle) => async (input, output) => {
    if (activeInstances.get(directory) === instance) ignoringErrors(() => handle(state, input, output));
  };
  return {
    "chat.message": hook(chatMessage),
    "tool.execute.before": hook(toolBefore),
    "tool.execute.after": hook(toolAfter),
    event: hook(busEvent),
    dispose: hook((...args) => {
      activeInstances.delete(directory);
      dispose(...args);
    }),
  };
}

// --- events ---

function chatMessage(state, input, output) {
  const sessionID = textOf(input?.sessionID);
  const message = output?.message;
  const id = textOf(message?.id);
  if (sessionID === undefined || id === undefined) return;
  state.idle.delete(sessionID);
  const created = numberOf(message.time?.created);
  const parts = list(output.parts).map((part) => ({
    type: textOf(part?.type),
    synthetic: part?.synthetic === true,
    ignored: part?.ignored === true,
    length: typeof part?.text === "string" ? part.text.length : undefined,
  }));
  if (!state.parents.has(sessionID)) {
    // OpenCode has no event for a resumed session, so the first prompt reports it
    if (!state.prompts.has(sessionID)) {
      write(state, "session.resumed", { sessionID }, null, sessionID, created);
      startDrainIfWaiting();
    }
    const isPrompt = parts.some((part) => part.type !== undefined && !part.synthetic && !part.ignored);
    remember(state.prompts, sessionID, isPrompt ? id : (state.prompts.get(sessionID) ?? ""));
  }
  const reported = { id, role: "user", sessionID, time: { created }, agent: textOf(message.agent) };
  write(state, "chat.message", { sessionID }, { message: reported, parts }, sessionID);
}

function toolBefore(state, input, output) {
  const call = callOf(input);
  if (call === undefined) return;
  state.idle.delete(call.sessionID);
  write(state, "tool.execute.before", call, { args: argumentsOf(call.tool, output?.args) }, call.sessionID);
}

function toolAfter(state, input, output) {
  const call = callOf(input);
  if (call === undefined) return;
  const result =
    output === undefined || output === null
      ? null
      : { isError: output.isError === true, metadata: metadataOf(output.metadata) };
  const args = argumentsOf(call.tool, input.args);
  write(state, "tool.execute.after", { ...call, args }, result, call.sessionID);
}

const callOf = (input) => {
  const [tool, sessionID, callID] = [textOf(input?.tool), textOf(input?.sessionID), textOf(input?.callID)];
  return tool === undefined || sessionID === undefined ? undefined : { tool, sessionID, callID };
};

/** OpenCode runs a call that it cannot parse as the tool `invalid`, with the intended name in the arguments. */
function argumentsOf(tool, args) {
  if (tool === "invalid") return { tool: textOf(args?.tool) };
  return tool === "write" && typeof args?.content === "string" ? { lines: linesIn(args.content) } : {};
}

const linesIn = (text) => (text === "" ? 0 : text.split("\n").length - (text.endsWith("\n") ? 1 : 0));

/** A unified diff without the texts of its lines: the headers of its hunks, and the first character of each line. */
function hunksOf(diff) {
  if (typeof diff !== "string" || diff.length > MAX_DIFF) return undefined;
  const lines = diff.split("\n");
  const from = lines.findIndex((line) => HUNK.test(line));
  if (from === -1) return undefined;
  return lines
    .slice(from)
    .map((line) => HUNK.exec(line)?.[0] ?? line.slice(0, 1))
    .join("\n");
}
const HUNK = /^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@/;
const MAX_DIFF = 1_000_000;

function metadataOf(metadata) {
  if (typeof metadata !== "object" || metadata === null) return undefined;
  const changes = (file) => ({
    additions: numberOf(file?.additions),
    deletions: numberOf(file?.deletions),
    file: pathOf(file?.file),
    filePath: pathOf(file?.filePath),
    movePath: pathOf(file?.movePath),
    type: textOf(file?.type),
    diff: hunksOf(file?.diff ?? file?.patch),
  });
  return {
    ...("exit" in metadata ? { exit: numberOf(metadata.exit) ?? null } : {}),
    interrupted: metadata.interrupted === true ? true : undefined,
    sessionId: textOf(metadata.sessionId),
    filediff: metadata.filediff === undefined ? undefined : changes(metadata.filediff),
    diff: Array.isArray(metadata.files) ? undefined : hunksOf(metadata.diff),
    filepath: pathOf(metadata.filepath),
    exists: typeof metadata.exists === "boolean" ? metadata.exists : undefined,
    files: Array.isArray(metadata.files) ? list(metadata.files).map(changes) : undefined,
  };
}

function busEvent(state, input) {
  const event = input?.event;
  const type = textOf(event?.type);
  if (type === undefined || !Object.hasOwn(BUS, type)) return;
  const record = BUS[type](state, event.properties ?? {}, textOf(event.id));
  if (record === undefined) return;
  const { properties, sessionID, drain } = record;
  write(state, `event:${type}`, { event: { id: textOf(event.id), type, properties } }, null, sessionID);
  if (type === "session.deleted") forget(state, sessionID);
  if (drain === "yes") startDrain();
  if (drain === "if-waiting") startDrainIfWaiting();
}

/** Handlers for bus events. Each returns the record to write, or `undefined`. */
const BUS = {
  "session.created": (state, { info }) => {
    const session = sessionOf(info);
    if (session === undefined) return undefined;
    if (session.parentID === undefined) remember(state.prompts, session.id, "");
    else remember(state.parents, session.id, session.parentID);
    const drain = session.parentID === undefined ? "if-waiting" : "no";
    return { properties: { sessionID: session.id, info: session }, sessionID: session.id, drain };
  },
  // Sent often. It is the only event for a subagent's session that an earlier process created
  "session.updated": (state, { info }) => {
    const session = sessionOf(info);
    if (session?.parentID === undefined || state.parents.has(session.id)) return undefined;
    remember(state.parents, session.id, session.parentID);
    state.prompts.delete(session.id);
    return { properties: { sessionID: session.id, info: session }, sessionID: session.id };
  },
  "session.deleted": (_, { sessionID, info }) => {
    const session = sessionOf(info);
    const id = session?.id ?? textOf(sessionID);
    return id === undefined ? undefined : { properties: { sessionID: id, info: session }, sessionID: id, drain: "yes" };
  },
  "session.idle": (state, { sessionID }) => {
    const id = textOf(sessionID);
    if (id === undefined) return undefined;
    const isReported = state.idle.get(id) === BY_STATUS;
    remember(state.idle, id, BY_IDLE);
    return isReported ? undefined : idle(state, id);
  },
  "session.error": (_, { sessionID, error }) => {
    const id = textOf(sessionID);
    return id === undefined ? undefined : { properties: { sessionID: id, error: errorOf(error) }, sessionID: id };
  },
  "session.compacted": (_, { sessionID }) => {
    const id = textOf(sessionID);
    return id === undefined ? undefined : { properties: { sessionID: id }, sessionID: id };
  },
  "session.status": (state, { sessionID, status }, eventId) => {
    const id = textOf(sessionID);
    if (id !== undefined && status?.type === "idle") idleByStatus(state, id, eventId);
    else state.idle.delete(id);
    if (id === undefined || status?.type !== "retry") return undefined;
    const retry = { type: "retry", attempt: numberOf(status.attempt), message: textOf(status.message) };
    return { properties: { sessionID: id, status: retry }, sessionID: id };
  },
  "message.updated": (state, { info }) => {
    const completed = numberOf(info?.time?.completed);
    const sessionID = textOf(info?.sessionID);
    if (info?.role !== "assistant" || sessionID === undefined || !isRecent(completed)) return undefined;
    const { tokens } = info;
    const answer = {
      id: textOf(info.id),
      sessionID,
      role: "assistant",
      modelID: textOf(info.modelID),
      providerID: textOf(info.providerID),
      finish: textOf(info.finish),
      isAsked: state.requested.has(info.id),
      error: errorOf(info.error),
      time: { created: numberOf(info.time.created), completed },
      tokens: {
        total: numberOf(tokens?.total),
        input: numberOf(tokens?.input),
        output: numberOf(tokens?.output),
        reasoning: numberOf(tokens?.reasoning),
        cache: { read: numberOf(tokens?.cache?.read), write: numberOf(tokens?.cache?.write) },
      },
    };
    return { properties: { sessionID, info: answer }, sessionID };
  },
  // `tool.execute.after` is not called for a tool that fails
  "message.part.updated": (state, { part }) => {
    const sessionID = textOf(part?.sessionID);
    // An answer without this part is a slash command's subtask, not a model call
    if (part?.type === "step-start") remember(state.requested, part.messageID, true);
    const call = part?.state;
    if (part?.type !== "tool" || call?.status !== "error" || sessionID === undefined) return undefined;
    const end = numberOf(call.time?.end);
    if (!isRecent(end)) return undefined;
    const tool = textOf(part.tool);
    const failed = {
      id: textOf(part.id),
      sessionID,
      messageID: textOf(part.messageID),
      type: "tool",
      tool,
      callID: textOf(part.callID),
      state: {
        status: "error",
        input: argumentsOf(tool, call.input),
        error: textOf(call.error),
        metadata: metadataOf(call.metadata),
        time: { start: numberOf(call.time?.start), end },
      },
    };
    return { properties: { sessionID, part: failed }, sessionID };
  },
};

/** OpenCode closes the directory, which ends its sessions. There is no other event for the end of a session. */
function dispose(state) {
  for (const sessionID of state.prompts.keys()) write(state, "dispose", { sessionID }, null, sessionID);
  state.prompts.clear();
  state.parents.clear();
  startDrain();
}

const sessionOf = (info) => {
  const id = textOf(info?.id);
  if (id === undefined) return undefined;
  return {
    id,
    parentID: textOf(info.parentID),
    directory: pathOf(info.directory),
    version: textOf(info.version),
    agent: textOf(info.agent),
    model: { id: textOf(info.model?.id) },
    time: { created: numberOf(info.time?.created) },
  };
};

const errorOf = (error) =>
  typeof error === "object" && error !== null
    ? { name: textOf(error.name), data: { statusCode: numberOf(error.data?.statusCode) } }
    : undefined;

function isRecent(endMs) {
  const ageMs = Date.now() - (endMs ?? 0);
  return ageMs > -SAME_SECOND_MS && ageMs < RECENT_MS;
}

// --- inbox files ---

function write(state, event, input, output, sessionID, at = Date.now()) {
  const { installed, inboxDir } = paths();
  if (!installed) return;
  const promptID = state.prompts.get(sessionID);
  const payload = JSON.stringify({
    input,
    output,
    directory: state.directory,
    plugin: {
      at,
      sequence: state.sequence++,
      parentID: state.parents.get(sessionID),
      promptID: promptID === "" ? undefined : promptID,
    },
  });
  if (Buffer.byteLength(payload) > MAX_BYTES) return;
  const fields = [
    ["source", SOURCE],
    ["event", event],
    ["ppid", String(process.pid)],
    ["pid", String(process.pid)],
    ["cwd", state.directory],
    ...KEPT_ENV.map((name) => [`env.${name}`, name === "HOME" ? home() : process.env[name]]),
  ];
  const head = fields
    .filter(([, value]) => value !== undefined && value !== "" && !value.includes("\n"))
    .map(([name, value]) => `${name}=${value}\n`);
  writeFile(inboxDir, `${process.pid}-${process.pid}`, `openhook-inbox 1\n${head.join("")}\n${payload}\nend=whole\n`);
  startDrainForBridge();
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
function startDrain(...options) {
  const { installed, stateDir, isStateRecorded, node, program } = paths();
  if (!installed || process.env.OPENHOOK_OTEL_DRAIN === "off") return undefined;
  if (program === undefined || !existsSync(program)) return undefined;
  // In the background, memory matters more than time; hook.sh and hook.ts use the same flags
  const memoryFlags = ["--max-semi-space-size=2", "--optimize-for-size"];
  const child = spawn(
    node !== undefined && existsSync(node) ? node : "node",
    [...memoryFlags, program, "drain", "--quiet", ...options],
    {
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
    },
  );
  child.on("error", () => {});
  child.unref();
  return child.pid;
}

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
function startDrainIfWaiting() {
  const { inboxDir } = paths();
  if (readdirSync(inboxDir).filter((name) => name.endsWith(".evt")).length > 2) startDrain();
}

// --- paths ---

let cachedPaths;

/**
 * Paths from hook.conf. The file is checked before every event, because `disable` can remove it while OpenCode runs, and read
 * again when it changed.
 */
function paths() {
  // Not from OPENHOOK_OTEL_HOME, which can come from a repository's .env
  const confPath = [absolute(INSTALLED_IN), defaultHookDir()]
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

/** Ignores every error, so that none reaches OpenCode. */
function ignoringErrors(work, fallback) {
  try {
    return work();
  } catch {
    return fallback;
  }
}

const textOf = (value) => (typeof value === "string" && value !== "" ? value.slice(0, MAX_TEXT) : undefined);

/** A path is never cut, because it would be another path. */
const pathOf = (value) => (typeof value === "string" && value !== "" && value.length <= 4_096 ? value : undefined);

const numberOf = (value) => (typeof value === "number" && Number.isFinite(value) ? value : undefined);

const list = (value) => (Array.isArray(value) ? value.slice(0, MAX_PARTS) : []);

/** Sets an entry, and removes the oldest one beyond the limit. */
function remember(map, key, value) {
  map.delete(key);
  map.set(key, value);
  if (map.size > MAX_REMEMBERED) map.delete(map.keys().next().value);
}

function forget(state, sessionID) {
  state.prompts.delete(sessionID);
  state.parents.delete(sessionID);
  state.idle.delete(sessionID);
}

/**
 * `session.status` with `idle` replaces `session.idle`, which is deprecated. Versions that send both send the status first: it is
 * written as `session.idle` at once, because the process can end, and the following `session.idle` is not written again.
 */
function idleByStatus(state, sessionID, id) {
  if (state.idle.has(sessionID)) return;
  remember(state.idle, sessionID, BY_STATUS);
  const { properties, drain } = idle(state, sessionID);
  write(state, "event:session.idle", { event: { id, type: "session.idle", properties } }, null, sessionID);
  if (drain === "yes") startDrain();
}

/** The event that reported the end of a session's last turn. */
const [BY_STATUS, BY_IDLE] = ["status", "idle"];

/** The record of a turn's end. The end of a subagent's turn starts no drain. */
const idle = (state, sessionID) => ({
  properties: { sessionID },
  sessionID,
  drain: state.parents.has(sessionID) ? "no" : "yes",
});
