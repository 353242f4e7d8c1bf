// The part of our plugins that OpenCode and the programs built from its code share.
//
// They wait for their plugins, and a plugin that throws breaks tools and whole runs. So this code awaits nothing, catches every
// error, and does nothing if openhook-otel is not installed. It writes only names, ids, times, counts and the beginnings of
// error messages: no prompt, no argument, no output.
import {
  ignoringErrors,
  list,
  numberOf,
  pathOf,
  remember,
  startDrain,
  startDrainIfWaiting,
  textOf,
  writeEvent,
} from "../plugin/inbox.js";

/** A fork sends its whole history as events; an event that ended longer ago than this is a copy. */
const RECENT_MS = 60_000;
/** An event that ended further in the future than this was copied after the clock was set back. */
const SAME_SECOND_MS = 1_000;

/**
 * Directory → active instance. If the plugin is loaded from two folders, or twice without `dispose`, only the last instance
 * reports.
 */
const ACTIVE_INSTANCES = Symbol.for("openhook-otel.opencode");

/** The plugin for a program that is built from OpenCode's code. `source`: the agent, if the program does not have the name of one. */
export const pluginOf = (source) => async (given) =>
  ignoringErrors(() => hooksFor(runningVariant() ?? source, pathOf(given?.directory) ?? ""), {});

/** A setting can make one variant load the plugins of another. */
const runningVariant = () => /(?:^|[\\/])\.?(opencode|kilo)(?:\.exe)?$/.exec(process.execPath)?.[1];

/** The hooks of one instance, which has one working directory. */
function hooksFor(source, directory) {
  const instance = {};
  globalThis[ACTIVE_INSTANCES] ??= new Map();
  const activeInstances = globalThis[ACTIVE_INSTANCES];
  activeInstances.set(directory, instance);
  const state = {
    source,
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

/** Writes an event. `at`: its time, in milliseconds since the epoch. */
function write(state, event, input, output, sessionID, at = Date.now()) {
  const promptID = state.prompts.get(sessionID);
  const { source, directory } = state;
  writeEvent(
    { source, keptEnv: ["XDG_DATA_HOME", "OPENCODE_DB", "KILO_DB"], cwd: directory, event },
    {
      input,
      output,
      directory,
      plugin: {
        agent: source,
        at,
        sequence: state.sequence++,
        parentID: state.parents.get(sessionID),
        promptID: promptID === "" ? undefined : promptID,
      },
    },
  );
}

function forget(state, sessionID) {
  state.prompts.delete(sessionID);
  state.parents.delete(sessionID);
  state.idle.delete(sessionID);
}

/**
 * `session.status` with `idle` replaces `session.idle`, which is deprecated. Versions that send both send the status
 * first: it is written as `session.idle` immediately, because the process can end, and the following `session.idle` is
 * not written again.
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
