// openhook-otel extension for pi
//
// Written by `openhook-otel enable pi`, removed by `openhook-otel disable pi`; changes to it are lost.
//
// Passes pi's events to openhook-otel: writes one small file per event, and starts a drain when a turn or the process ends. pi
// waits for its extensions, and what a handler returns can change a tool's call or result. So this file awaits and returns
// nothing, catches every error, and does nothing if openhook-otel is not installed. It writes only names, ids, times, counts
// and the ends of error messages: no prompt, no argument, no output.
import {
  ignoringErrors,
  list,
  numberOf,
  pathOf,
  startDrain,
  startDrainIfWaiting,
  textOf,
  versionBeside,
  writeEvent,
} from "../shared/plugin/inbox.js";

/** The session of this process, and its open call, for helpers: further processes of pi that inherit the environment. */
const PARENT_VARIABLE = "OPENHOOK_OTEL_PI_PARENT";
const CALL_VARIABLE = "OPENHOOK_OTEL_PI_CALL";
/** Tools that start no process. */
const SMALL_TOOLS = new Set(["read", "write", "edit", "grep", "find", "ls"]);
/** pi repeats a failed request this often; a setting can change it. */
const MAX_RETRIES = 3;
// After which errors pi repeats a request; the same two rules are in messages.ts
/** Limits of an account: waiting a moment does not help. */
const FINAL =
  /GoUsageLimitError|FreeUsageLimitError|Monthly usage limit reached|available balance|insufficient_quota|out of budget|quota exceeded|billing|subscription_sharing_(?:usage_limit|workplace_individual_usage_limit)_exceeded|"code"\s*:\s*"?1308(?!\d)/i;
const RETRYABLE =
  /overloaded|server_busy|servers are currently busy|currently experiencing high demand|model is at capacity|rate.?limit|too many requests|(?<![a-z0-9])(?:429|500|502|503|504|520|524)(?![a-z0-9])|service.?(?:is.?)?(?:temporarily.?)?unavailable|server.?error|internal.?error|provider.?returned.?(?:an.?)?error|exceeded request buffer limit while retrying upstream|unable to forward upstream|upstream.?request.?failed|upstream_stream_read_error|stream was interrupted|http\/?2 stream failed|network.?error|connection.?error|connection.?refused|connection.?lost|connection.?closed|other side closed|fetch failed|request to \S+ failed, reason:|getaddrinfo|(?<![a-z0-9_])(?:ECONNRESET|ECONNABORTED|ECONNREFUSED|ETIMEDOUT|EPIPE)(?![a-z0-9_])|connection reset by peer|ENOTFOUND|EAI_AGAIN|upstream.?connect|reset before headers|socket hang up|socket connection was closed|timed? out|timeout|terminated|websocket.?closed|websocket.?error|websocket.?connection.?limit.?reached|ended without|stream ended before|http2 request did not get a response|stream disconnected before completion|cut short after the reply had begun|pending stream has been canceled|retry delay|you can retry your request|try your request again|please retry your request|ResourceExhausted|subscription_sharing_(?:usage|user)_unavailable/i;

/** If the extension is loaded from two folders, or again, only the last instance reports. */
const ACTIVE_INSTANCE = Symbol.for("openhook-otel.pi");

/** pi calls it once, and again when extensions are reloaded. */
export default function openhookOtel(pi) {
  ignoringErrors(() => {
    const state = { sequence: 0, failures: 0, open: new Map(), waiting: [] };
    // Kept from an earlier instance: this process then has its own session's id in the variable
    globalThis[ACTIVE_INSTANCE] ??= { parent: process.env[PARENT_VARIABLE], call: process.env[CALL_VARIABLE] };
    const shared = globalThis[ACTIVE_INSTANCE];
    shared.instance = state;
    state.shared = shared;
    for (const [name, handle] of Object.entries(HANDLERS)) {
      pi.on(name, async (event, ctx) => {
        if (shared.instance === state) ignoringErrors(() => handle(state, event ?? {}, ctx ?? {}));
      });
    }
  });
}

const HANDLERS = {
  session_start(state, event, ctx) {
    state.failures = 0;
    state.promptID = undefined;
    state.open.clear();
    const session = sessionOf(state, ctx);
    if (session.isHelper) return;
    write(state, session, { type: "session_start", reason: textOf(event.reason) });
    startDrainIfWaiting();
  },
  message_end(state, { message }, ctx) {
    const session = sessionOf(state, ctx);
    const timestamp = numberOf(message?.timestamp);
    if (message?.role === "user") {
      finishFailure(state, session);
      state.promptID = timestamp === undefined ? undefined : String(timestamp);
      state.startedMs ??= timestamp;
      if (session.isHelper) return;
      write(state, session, { type: "message_end", message: { role: "user", timestamp, length: lengthOf(message) } });
      return;
    }
    if (message?.role === "toolResult") writeToolUsage(state, session, message);
    if (message?.role !== "assistant") return;
    const answer = answerOf(message);
    if (session.isHelper) startHelper(state, session, answer);
    state.failures = answer.stopReason === "error" ? state.failures + 1 : 0;
    const isFinal = answer.stopReason === "error" && !isRepeated(state, answer);
    write(state, session, { type: "message_end", message: answer }, isFinal ? { is_final: true } : {});
  },
  tool_execution_start(state, event, ctx) {
    const session = sessionOf(state, ctx);
    const call = callOf(event);
    if (!SMALL_TOOLS.has(call.toolName)) state.open.set(call.toolCallId, textOf(event.parentToolCallId));
    setHelperVariables(state, session);
    write(state, session, { type: "tool_execution_start", ...call });
  },
  tool_result(state, event, ctx) {
    if (event.isError === true || (event.toolName !== "write" && event.toolName !== "edit")) return;
    const { content } = event.input ?? {};
    const lines = typeof content === "string" ? linesIn(content) : undefined;
    write(state, sessionOf(state, ctx), {
      type: "tool_result",
      ...callOf(event),
      isError: false,
      input: { path: pathOf(event.input?.path), lines },
      details: { counts: countsOf(event.details?.diff) },
    });
  },
  tool_execution_end(state, event, ctx) {
    const session = sessionOf(state, ctx);
    const call = callOf(event);
    state.open.delete(call.toolCallId);
    setHelperVariables(state, session);
    const content = event.isError === true ? [{ type: "text", text: endOf(event.result?.content) }] : undefined;
    write(state, session, {
      type: "tool_execution_end",
      ...call,
      isError: event.isError === true,
      result: content === undefined ? undefined : { content },
    });
  },
  agent_end(state, event, ctx) {
    const session = sessionOf(state, ctx);
    const last = list([...list(event.messages)].reverse()).find((message) => message?.role === "assistant");
    const answer = last === undefined ? undefined : answerOf(last);
    if (session.isHelper) return;
    const end = { type: "agent_end", messages: answer === undefined ? [] : [answer] };
    if (answer?.stopReason === "error") {
      state.failed = { ...end, is_final: true };
      // If pi starts another run, that run drops this failure; otherwise the next prompt or the shutdown reports it
      if (isRepeated(state, answer)) return;
      finishFailure(state, session);
    } else {
      state.failed = undefined;
      write(state, session, end);
    }
    startDrain();
  },
  agent_start(state) {
    state.failed = undefined;
  },
  // Newer than 0.73: pi will not go on by itself, whatever its settings say about repeating
  agent_settled(state, _, ctx) {
    if (state.failed === undefined) return;
    finishFailure(state, sessionOf(state, ctx));
    startDrain();
  },
  session_compact(state, { compactionEntry }, ctx) {
    write(state, sessionOf(state, ctx), { type: "session_compact", compactionEntry: summaryOf(compactionEntry, ctx) });
  },
  session_tree(state, { summaryEntry }, ctx) {
    if (summaryEntry?.usage === undefined) return;
    write(state, sessionOf(state, ctx), { type: "session_tree", summaryEntry: summaryOf(summaryEntry, ctx) });
  },
  session_shutdown(state, event, ctx) {
    const session = sessionOf(state, ctx);
    finishFailure(state, session);
    write(state, session, { type: "session_shutdown", reason: textOf(event.reason) });
    if (!session.isHelper) startDrain();
  },
};

/** Reports a failed turn that pi did not repeat. */
function finishFailure(state, session) {
  if (state.failed !== undefined && !session.isHelper) write(state, session, state.failed);
  state.failed = undefined;
}

const isRepeated = (state, { errorMessage = "" }) =>
  state.failures <= MAX_RETRIES && RETRYABLE.test(errorMessage) && !FINAL.test(errorMessage);

/**
 * The session. A process without a session file that another one of pi started is a helper: its events belong to that one's session.
 * The parent knows no id of its helper, so the first answer identifies it.
 */
function sessionOf({ shared, helperID }, ctx) {
  const manager = ctx.sessionManager;
  const file = pathOf(manager?.getSessionFile?.());
  const isHelper = file === undefined && Boolean(shared.parent);
  return {
    isHelper,
    id: isHelper ? helperID : textOf(manager?.getSessionId?.()),
    file,
    parentID: isHelper ? shared.parent : undefined,
    cwd: pathOf(ctx.cwd),
  };
}

function startHelper(state, session, answer) {
  if (state.helperID !== undefined || answer.timestamp === undefined) return;
  state.helperID = `${answer.timestamp}:${answer.responseId ?? answer.model}`;
  session.id = state.helperID;
  const start = { type: "helper_start", timestamp: state.startedMs ?? answer.timestamp };
  write(state, session, start, { call_id: textOf(state.shared.call) });
}

/**
 * Names the session and the call in the environment of processes that a tool starts: they may be helpers. The call is
 * only named if no other one is open.
 */
function setHelperVariables({ open }, { id }) {
  if (id === undefined) return;
  process.env[PARENT_VARIABLE] = id;
  // A tool that waits for its own call starts nothing meanwhile
  const waiting = new Set(open.values());
  const [call, ...others] = [...open.keys()].filter((id) => !waiting.has(id));
  if (call !== undefined && others.length === 0) process.env[CALL_VARIABLE] = call;
  else delete process.env[CALL_VARIABLE];
}

function write(state, { id, file, parentID, cwd }, event, more = {}) {
  if (id === undefined) return;
  const extension = {
    at: Date.now(),
    sequence: state.sequence++,
    version: versionBeside(process.argv[1]),
    prompt_id: parentID === undefined ? state.promptID : undefined,
    ...more,
  };
  const context = { cwd, session_id: id, session_file: file, parent_session_id: parentID };
  const keptEnv = ["PI_CODING_AGENT_DIR", "PI_CODING_AGENT_SESSION_DIR"];
  writeEvent({ source: "pi", keptEnv, cwd, event: event.type }, { event, context, extension });
}

const callOf = (event) => ({ toolCallId: textOf(event.toolCallId), toolName: textOf(event.toolName) });

/**
 * What a tool's own requests used. With a session file, the file has it; with helpers, they report their requests themselves, and the sum
 * may include them.
 */
function writeToolUsage(state, session, { timestamp, toolCallId, usage, details }) {
  if (session.file !== undefined || usage === undefined || Array.isArray(details?.results)) return;
  const message = { role: "toolResult", timestamp: numberOf(timestamp), toolCallId: textOf(toolCallId) };
  write(state, session, { type: "message_end", message: { ...message, usage: usageOf(usage) } });
}

/** The request for a summary, and the model that is selected. */
function summaryOf(entry, { model }) {
  if (entry?.usage === undefined) return undefined;
  return {
    id: textOf(entry.id),
    timestamp: textOf(entry.timestamp),
    usage: usageOf(entry.usage),
    isOfTwo: isOfTwoRequests(entry.summary),
    provider: entry.fromHook === true ? undefined : textOf(model?.provider),
    model: entry.fromHook === true ? undefined : textOf(model?.id),
  };
}

/** In the middle of a turn, pi asks for two summaries, of what was before it and of the turn so far, and records one sum. */
const isOfTwoRequests = (text) =>
  typeof text === "string" && text.includes(OF_TURN) && !text.startsWith(`No prior history.${OF_TURN}`);
const OF_TURN = "\n\n---\n\n**Turn Context (split turn):**\n\n";

const usageOf = (usage) => ({
  input: numberOf(usage?.input),
  output: numberOf(usage?.output),
  cacheRead: numberOf(usage?.cacheRead),
  cacheWrite: numberOf(usage?.cacheWrite),
  cacheWrite1h: numberOf(usage?.cacheWrite1h),
  reasoning: numberOf(usage?.reasoning),
});

function answerOf(message) {
  return {
    role: "assistant",
    timestamp: numberOf(message.timestamp),
    responseId: textOf(message.responseId),
    provider: textOf(message.provider),
    model: textOf(message.model),
    responseModel: textOf(message.responseModel),
    stopReason: textOf(message.stopReason),
    errorMessage: textOf(message.errorMessage),
    usage: usageOf(message.usage),
  };
}

function lengthOf({ content }) {
  const texts = typeof content === "string" ? [content] : list(content).map((block) => block?.text);
  const known = texts.filter((text) => typeof text === "string");
  return known.length === 0 ? undefined : known.reduce((sum, text) => sum + text.length, 0);
}

/** How a command ended; the rest of its output is not written. */
function endOf(content) {
  const text = list(content)
    .map((block) => (typeof block?.text === "string" ? block.text : ""))
    .join("\n");
  const end =
    /(?:Command exited with code \d+|(?:Command|Operation) aborted|Command timed out after [\d.]+ seconds)\s*$/;
  return text === "Tool execution was blocked" ? text : (end.exec(text)?.[0] ?? "");
}

const linesIn = (text) => (text === "" ? 0 : text.split("\n").length - (text.endsWith("\n") ? 1 : 0));

function countsOf(diff) {
  if (typeof diff !== "string") return undefined;
  const lines = diff.split("\n");
  return {
    added: lines.filter((line) => line.startsWith("+")).length,
    removed: lines.filter((line) => line.startsWith("-")).length,
  };
}
