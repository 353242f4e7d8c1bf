// openhook-otel plugin for OpenCode
//
// Written by `openhook-otel enable opencode`, taken away by `openhook-otel disable opencode`; changes to it are lost.
//
// Hands what OpenCode tells its plugins to openhook-otel: one small file per event, and a program that is started when a turn
// or the process ends. OpenCode waits for its plugins, and a plugin that throws breaks tools and whole runs. So nothing here
// waits, nothing throws, and where openhook-otel is not installed nothing happens at all. Only names, ids, times, counts and
// the beginnings of error messages are written: no prompt, no argument, no output.
//
// The rules for places and files are those of hook.sh in the openhook-otel package.
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
  writeSync,
} from "node:fs";
import { homedir } from "node:os";
import { join, parse, sep } from "node:path";

/** Where `enable` put the hook program, if not at the usual place. */
const INSTALLED_IN = "";

const SOURCE = "opencode";
const KEPT_ENV = ["HOME", "XDG_DATA_HOME", "OPENCODE_DB"];
/** No string of a payload is longer, no list, and no payload. */
const MAX_TEXT = 300;
const MAX_PARTS = 200;
const MAX_BYTES = 64 * 1024;
/** A fork tells all its history again as events; what ended longer ago than this is history. */
const NEWS_MS = 60_000;
/** What ended later than now was copied after the clock had been set back. */
const SAME_SECOND_MS = 1_000;
/** Sessions a long-lived server remembers. */
const MAX_REMEMBERED = 2_000;

/** Loaded from two folders, or once more without being let go of, the last one speaks. By directory. */
const SPEAKERS = Symbol.for("openhook-otel.opencode");

/** The plugin: OpenCode calls every exported function. */
export const OpenhookOtel = async (given) => quietly(() => hooksFor(pathOf(given?.directory) ?? ""), {});

/** All hooks of one instance of OpenCode: one working directory. */
function hooksFor(directory) {
  const me = {};
  globalThis[SPEAKERS] ??= new Map();
  const speakers = globalThis[SPEAKERS];
  speakers.set(directory, me);
  const state = { directory, parents: new Map(), prompts: new Map(), asked: new Map(), sequence: 0 };
  const hook = (tell) => async (input, output) => {
    if (speakers.get(directory) === me) quietly(() => tell(state, input, output));
  };
  return {
    "chat.message": hook(chatMessage),
    "tool.execute.before": hook(toolBefore),
    "tool.execute.after": hook(toolAfter),
    event: hook(busEvent),
    dispose: hook((...args) => {
      speakers.delete(directory);
      dispose(...args);
    }),
  };
}

// --- what is told ---

function chatMessage(state, input, output) {
  const sessionID = textOf(input?.sessionID);
  const message = output?.message;
  const id = textOf(message?.id);
  if (sessionID === undefined || id === undefined) return;
  const created = numberOf(message.time?.created);
  const parts = list(output.parts).map((part) => ({
    type: textOf(part?.type),
    synthetic: part?.synthetic === true,
    ignored: part?.ignored === true,
    length: typeof part?.text === "string" ? part.text.length : undefined,
  }));
  if (!state.parents.has(sessionID)) {
    // A session that is taken up again is not created; nothing else tells that it begins
    if (!state.prompts.has(sessionID)) {
      write(state, "session.resumed", { sessionID }, null, sessionID, created);
      startDrainIfWaiting();
    }
    const isPrompt = parts.some((part) => part.type !== undefined && !part.synthetic && !part.ignored);
    remember(state.prompts, sessionID, isPrompt ? id : (state.prompts.get(sessionID) ?? ""));
  }
  const told = { id, role: "user", sessionID, time: { created }, agent: textOf(message.agent) };
  write(state, "chat.message", { sessionID }, { message: told, parts }, sessionID);
}

function toolBefore(state, input, output) {
  const called = callOf(input);
  if (called === undefined) return;
  write(state, "tool.execute.before", called, { args: argumentsOf(called.tool, output?.args) }, called.sessionID);
}

function toolAfter(state, input, output) {
  const called = callOf(input);
  if (called === undefined) return;
  const told =
    output === undefined || output === null
      ? null
      : { isError: output.isError === true, metadata: metadataOf(output.metadata) };
  const args = argumentsOf(called.tool, input.args);
  write(state, "tool.execute.after", { ...called, args }, told, called.sessionID);
}

const callOf = (input) => {
  const [tool, sessionID, callID] = [textOf(input?.tool), textOf(input?.sessionID), textOf(input?.callID)];
  return tool === undefined || sessionID === undefined ? undefined : { tool, sessionID, callID };
};

/** What a model got wrong is run as a tool named `invalid`; its arguments have the name that was wanted. */
const argumentsOf = (tool, args) => (tool === "invalid" ? { tool: textOf(args?.tool) } : {});

function metadataOf(metadata) {
  if (typeof metadata !== "object" || metadata === null) return undefined;
  const changes = (file) => ({ additions: numberOf(file?.additions), deletions: numberOf(file?.deletions) });
  return {
    ...("exit" in metadata ? { exit: numberOf(metadata.exit) ?? null } : {}),
    interrupted: metadata.interrupted === true ? true : undefined,
    sessionId: textOf(metadata.sessionId),
    filediff: metadata.filediff === undefined ? undefined : changes(metadata.filediff),
    files: Array.isArray(metadata.files) ? list(metadata.files).map(changes) : undefined,
  };
}

function busEvent(state, input) {
  const event = input?.event;
  const type = textOf(event?.type);
  if (type === undefined || !Object.hasOwn(BUS, type)) return;
  const told = BUS[type](state, event.properties ?? {});
  if (told === undefined) return;
  const { properties, sessionID, drain } = told;
  write(state, `event:${type}`, { event: { id: textOf(event.id), type, properties } }, null, sessionID);
  if (type === "session.deleted") forget(state, sessionID);
  if (drain === "yes") startDrain();
  if (drain === "if-waiting") startDrainIfWaiting();
}

/** The events of the bus that tell something; each gives what of it is written, or `undefined`. */
const BUS = {
  "session.created": (state, { info }) => {
    const session = sessionOf(info);
    if (session === undefined) return undefined;
    if (session.parentID === undefined) remember(state.prompts, session.id, "");
    else remember(state.parents, session.id, session.parentID);
    const drain = session.parentID === undefined ? "if-waiting" : "no";
    return { properties: { sessionID: session.id, info: session }, sessionID: session.id, drain };
  },
  // Comes many times; a subagent's session that an earlier process made is told of by nothing else
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
    return { properties: { sessionID: id }, sessionID: id, drain: state.parents.has(id) ? "no" : "yes" };
  },
  "session.error": (_, { sessionID, error }) => {
    const id = textOf(sessionID);
    return id === undefined ? undefined : { properties: { sessionID: id, error: errorOf(error) }, sessionID: id };
  },
  "session.compacted": (_, { sessionID }) => {
    const id = textOf(sessionID);
    return id === undefined ? undefined : { properties: { sessionID: id }, sessionID: id };
  },
  "session.status": (_, { sessionID, status }) => {
    const id = textOf(sessionID);
    if (id === undefined || status?.type !== "retry") return undefined;
    const retry = { type: "retry", attempt: numberOf(status.attempt), message: textOf(status.message) };
    return { properties: { sessionID: id, status: retry }, sessionID: id };
  },
  "message.updated": (state, { info }) => {
    const completed = numberOf(info?.time?.completed);
    const sessionID = textOf(info?.sessionID);
    if (info?.role !== "assistant" || sessionID === undefined || !isNews(completed)) return undefined;
    const { tokens } = info;
    const told = {
      id: textOf(info.id),
      sessionID,
      role: "assistant",
      modelID: textOf(info.modelID),
      providerID: textOf(info.providerID),
      finish: textOf(info.finish),
      isAsked: state.asked.has(info.id),
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
    return { properties: { sessionID, info: told }, sessionID };
  },
  // `tool.execute.after` is not called for a tool that fails
  "message.part.updated": (state, { part }) => {
    const sessionID = textOf(part?.sessionID);
    // An answer without one stands for what the user had run: a slash command's subtask
    if (part?.type === "step-start") remember(state.asked, part.messageID, true);
    const call = part?.state;
    if (part?.type !== "tool" || call?.status !== "error" || sessionID === undefined) return undefined;
    const end = numberOf(call.time?.end);
    if (!isNews(end)) return undefined;
    const tool = textOf(part.tool);
    const told = {
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
    return { properties: { sessionID, part: told }, sessionID };
  },
};

/** The process lets go of this directory: what it worked on ends. There is no other end of a session. */
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

function isNews(endMs) {
  const ageMs = Date.now() - (endMs ?? 0);
  return ageMs > -SAME_SECOND_MS && ageMs < NEWS_MS;
}

// --- how it is written ---

function write(state, event, input, output, sessionID, at = Date.now()) {
  const { installed, inboxDir } = places();
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
}

/** Under its last name at once: the end line makes it complete, and nobody else's file is ever overwritten. */
function writeFile(inboxDir, stem, text) {
  const { path, fd } = reserve(inboxDir, stem);
  try {
    try {
      const bytes = Buffer.from(text);
      for (let offset = 0; offset < bytes.length; ) offset += writeSync(fd, bytes, offset);
    } finally {
      // Over a network this is where it can say that there is no room
      closeSync(fd);
    }
  } catch {
    leaveMark(path);
  }
}

/** No room on the disk: what is left has no bytes, and says that there was an event. A pid comes back before a drain has. */
function leaveMark(path) {
  let mark = path.replace(/\.evt$/, "");
  while (existsSync(`${mark}.lost`)) mark += "-";
  try {
    truncateSync(path);
    renameSync(path, `${mark}.lost`);
  } catch {
    unlinkSync(path);
  }
}

let nextNumber = 0;

function reserve(inboxDir, stem) {
  let isMade = false;
  for (let tries = 0; ; ) {
    const path = join(inboxDir, `${stem}-${nextNumber}.evt`);
    try {
      const fd = openSync(path, "wx", 0o600);
      nextNumber++;
      return { path, fd };
    } catch (error) {
      // A pid comes back, and two containers can share the folder
      if (error?.code === "EEXIST" && tries++ < 1_000) nextNumber++;
      else if (error?.code === "ENOENT" && !isMade) {
        isMade = true;
        mkdirSync(inboxDir, { recursive: true, mode: 0o700 });
      } else throw error;
    }
  }
}

/** Starts `openhook-otel drain` in a session of its own and does not wait. It outlives us. */
function startDrain() {
  const { installed, stateDir, node, program } = places();
  if (!installed || process.env.OPENHOOK_OTEL_DRAIN === "off") return;
  if (program === undefined || !existsSync(program)) return;
  // In the background memory counts more than time; the other intakes do the same
  const lean = ["--max-semi-space-size=2", "--optimize-for-size"];
  const child = spawn(node !== undefined && existsSync(node) ? node : "node", [...lean, program, "drain", "--quiet"], {
    cwd: existsSync(stateDir) ? stateDir : parse(program).root,
    detached: true,
    // Part of this environment can be the repository's: the drain looks, and loads nothing first that it names
    env: {
      ...process.env,
      NODE_OPTIONS: harmlessOptions(process.env.NODE_OPTIONS),
      OPENHOOK_OTEL_HOOK_FOLDER: process.cwd(),
      OPENHOOK_OTEL_HOME: stateDir,
    },
    stdio: "ignore",
    windowsHide: true,
  });
  child.on("error", () => {});
  child.unref();
}

const harmlessOptions = (options = "") =>
  options
    .split(/\s+/)
    .filter((option) =>
      /^--(?:use-.*-ca|use-env-proxy|(?:no-)?network-family-.*|dns-result-order=.*|max-.*-size=.*|tls-(?:min|max|cipher)-.*)$/.test(
        option,
      ),
    )
    .join(" ");

/** Something of an earlier process may wait; ours is one of two files at the least. */
function startDrainIfWaiting() {
  const { inboxDir } = places();
  if (readdirSync(inboxDir).filter((name) => name.endsWith(".evt")).length > 2) startDrain();
}

// --- where things lie ---

let known;

/** Asked before every event, since `disable` can take the program away while OpenCode runs; read when it has changed. */
function places() {
  const moved = absolute(process.env.OPENHOOK_OTEL_HOME);
  const confPath = [absolute(INSTALLED_IN), usualHookDir(), moved]
    .filter((dir) => dir !== undefined)
    .map((dir) => join(dir, "hook.conf"))
    .find(existsSync);
  if (confPath === undefined) return { installed: false, inboxDir: "", stateDir: "" };
  const { mtimeMs, size } = statSync(confPath);
  const stamp = `${confPath} ${moved} ${mtimeMs} ${size}`;
  if (known?.stamp === stamp) return known;
  const conf = settingsIn(readFileSync(confPath, "utf8"));
  const isHeard = moved !== undefined && !(conf.state && isDoubtful(moved));
  const stateDir = isHeard ? moved : conf.state || join(stateRoot(), "openhook-otel");
  known = {
    stamp,
    installed: true,
    stateDir,
    inboxDir: join(stateDir, "inbox"),
    node: conf.node,
    program: conf.program,
  };
  return known;
}

/** A folder of the repository's: the variable can be the word of its .env. */
const isDoubtful = (folder) =>
  [process.cwd(), "/proc"].some((parent) => `${folder}${sep}`.startsWith(`${parent}${sep}`)) ||
  folder.split(/[\\/]/).includes("..");

/** `name='value'` lines, quoted for sh. */
function settingsIn(text) {
  const found = {};
  for (const line of text.split("\n")) {
    const match = /^(state|node|program)='(.*)'$/.exec(line);
    if (match !== null) found[match[1]] = match[2].replaceAll("'\\''", "'");
  }
  return found;
}

const home = () => process.env.HOME || homedir();

const usualHookDir = () =>
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

// --- small things ---

/** Whatever goes wrong, OpenCode does not hear of it. */
function quietly(work, otherwise) {
  try {
    return work();
  } catch {
    return otherwise;
  }
}

const textOf = (value) => (typeof value === "string" && value !== "" ? value.slice(0, MAX_TEXT) : undefined);

/** Cut off, a path would be another one. */
const pathOf = (value) => (typeof value === "string" && value !== "" && value.length <= 4_096 ? value : undefined);

const numberOf = (value) => (typeof value === "number" && Number.isFinite(value) ? value : undefined);

const list = (value) => (Array.isArray(value) ? value.slice(0, MAX_PARTS) : []);

/** The oldest is forgotten first. */
function remember(map, key, value) {
  map.delete(key);
  map.set(key, value);
  if (map.size > MAX_REMEMBERED) map.delete(map.keys().next().value);
}

function forget(state, sessionID) {
  state.prompts.delete(sessionID);
  state.parents.delete(sessionID);
}
