// https://opencode.ai/docs/plugins, the types of @opencode-ai/plugin 1.18.33 and recordings of 1.18.33, read 2026-11-21

import { join } from "node:path";
import type { Recognition } from "#core/model/agent.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import type { EntryOf, TranscriptEntry } from "#core/model/transcript.ts";
import { isSequenceNumber } from "#core/rules/call-ids.ts";
import { executableOf } from "../names/executables.ts";
import { skillOf } from "../names/skill.ts";
import { type Frame, type FramedMembers, type FramedTable, framedAdapter } from "../payload/framed-adapter.ts";
import { payloadDigest } from "../payload/identity.ts";
import { asArray, asCode, asCount, asObject, asString, type Fields } from "../payload/json.ts";
import { isCopy, isOlderCopy } from "./ids.ts";
import { completedMsOf, createdMsOf, errorOf, failureOf, modelCallOf, type PromptPart, promptOf } from "./messages.ts";
import { callIdOf, completedOutcome, failedOutcome, type ToolOutcome, toolNameOf } from "./tools.ts";
import { isVariant, type Variant } from "./variant.ts";

/** Hooks, called with an input and an output, and bus events with `event:` before their names. */
const EVENTS = {
  "chat.message": { type: "prompt.submit", or: ["nothing"], read: ({ p }) => (isChild(p) ? undefined : promptNews(p)) },
  "tool.execute.before": { type: "tool.start", read: toolStart },
  "tool.execute.after": { type: "tool.end", read: toolEnd },
  // From our plugin: its process closes a session
  dispose: {
    type: "session.end",
    or: ["nothing"],
    read: () => ({ reason: "completed", extras: { native_reason: "dispose" } }),
  },
  "session.resumed": {
    type: "session.start",
    read: () => ({ extras: { start_origin: "resume", continues: "same-session" } }),
  },
  "event:session.created": {
    type: "session.start",
    or: ["subagent.start", "nothing"],
    read: ({ info }) => subagentStart(info) ?? sessionStart(info),
  },
  // Two bus events report a subagent; the same key makes them one event
  "event:session.updated": { type: "subagent.start", or: ["nothing"], read: ({ info }) => subagentStart(info) },
  "event:session.idle": {
    type: "turn.end",
    or: ["subagent.end"],
    read: ({ p }) => (isChild(p) ? { type: "subagent.end" } : {}),
  },
  "event:session.error": {
    type: "turn.error",
    read({ properties }) {
      const { errorType, httpStatus } = errorOf(properties["error"]);
      return { extras: { error_type: errorType, http_status: httpStatus } };
    },
  },
  "event:session.deleted": {
    type: "session.end",
    or: ["nothing"],
    // A subagent's session ends with the session that started it
    read: ({ info }) =>
      asString(info["parentID"]) === undefined
        ? { reason: "completed", extras: { native_reason: "deleted" } }
        : undefined,
  },
  "event:session.compacted": { type: "compaction" },
  "event:session.status": {
    type: "notice",
    or: ["nothing"],
    read: ({ properties }) => (isRetry(properties) ? {} : undefined),
  },
  "event:message.updated": {
    type: "model.end",
    or: ["nothing"],
    read({ properties }) {
      const answer = answerOf(properties);
      return answer === undefined ? undefined : { key: answer.id, timeMs: completedMsOf(answer.info) };
    },
  },
  "event:message.part.updated": {
    type: "tool.end",
    or: ["nothing"],
    read: ({ properties }) => failedTool(asObject(properties["part"])),
  },
} as const satisfies FramedTable<Payload>;

/** The adapter of one of OpenCode's variants. */
export const variantAdapter = (variant: Variant) => ({
  ...framedAdapter({
    source: variant.source,
    recognises: (payload, intake) => recognises(variant, payload, intake),
    events: EVENTS,
    // Messages and sessions are reported again with every change. Other plugins may forward all bus events
    notNeeded: `plugin.init config tool auth provider chat.params chat.headers permission.ask command.execute.before
      tool.definition shell.env experimental.chat.messages.transform experimental.chat.system.transform
      experimental.session.compacting experimental.compaction.autocontinue experimental.text.complete
      event:server.connected event:server.heartbeat event:server.instance.disposed event:global.disposed
      event:installation.updated event:installation.update-available event:project.updated event:catalog.updated
      event:integration.updated event:reference.updated event:plugin.added event:ide.installed event:lsp.updated
      event:lsp.client.diagnostics event:mcp.tools.changed event:mcp.browser.open.failed event:command.executed
      event:file.edited event:file.watcher.updated event:vcs.branch.updated event:worktree.ready event:worktree.failed
      event:pty.created event:pty.updated event:pty.exited event:pty.deleted event:tui.prompt.append
      event:tui.command.execute event:tui.toast.show event:tui.session.select event:todo.updated event:question.asked
      event:question.replied event:question.rejected event:permission.asked event:permission.updated
      event:permission.replied event:session.diff event:session.drained event:message.removed event:message.part.removed
      event:message.part.delta`,
    fields: "input output directory plugin worktree project",
    nameOf(payload, intake) {
      const bus = busOf(asObject(payload));
      return bus === undefined ? intake.event : `event:${bus.type}`;
    },
    frameOf: (payload, intake) => frameOf(variant, payload, intake),
  }),
  toEntries,
});

// --- internal ---

/** Hooks of a whole instance, which have no session. */
const INSTANCE_EVENTS = new Set(["plugin.init", "config", "dispose"]);

/**
 * The two arguments of a plugin's hook; only session ids of OpenCode and its variants begin with `ses_`. Our plugin names the variant.
 * Without a name the payload is OpenCode's, or that of the variant on the command line.
 */
function recognises({ source, isOriginal }: Variant, payload: unknown, intake: IntakeFacts): Recognition {
  const p = asObject(payload);
  const input = asObject(p?.["input"]);
  if (p === undefined || input === undefined) return "no";
  const isNamed = intake.source === source;
  const origin = asString(asObject(p["plugin"])?.["agent"]) ?? (isVariant(intake.source) ? intake.source : undefined);
  if (origin === undefined ? isOriginal !== true : origin !== source) return "no";
  const native = nativeOf(p, intake);
  const sessionId = sessionIdOf(p);
  if (sessionId !== undefined && /^ses_\w+$/.test(sessionId) && native !== undefined) return "certain";
  if (busOf(p) !== undefined || INSTANCE_EVENTS.has(intake.event ?? "")) return "certain";
  if (asString(input["tool"]) !== undefined && asString(input["callID"]) !== undefined) return "likely";
  return isNamed ? "possible" : "no";
}

/**
 * Answers from the bus, in the database's form. They are merged with the database's rows, and replace them if the database cannot
 * be read or the session was deleted. Failed attempts are only in bus events.
 */
function toEntries(payload: unknown, intake: IntakeFacts): readonly TranscriptEntry[] {
  const p = asObject(payload);
  const native = p === undefined ? undefined : nativeOf(p, intake);
  const properties = busOf(p)?.properties;
  if (p === undefined || properties === undefined) return [];
  if (native === "event:session.status" && isRetry(properties)) {
    return [
      {
        kind: "model_error",
        key: `retry:${keyOf(p)}`,
        timeMs: asCount(asObject(p["plugin"])?.["at"]) ?? intake.timeMs,
        errorType: retryReason(asObject(properties["status"])?.["message"]),
        final: false,
      } satisfies EntryOf<"model_error">,
    ];
  }
  const answer = native === "event:message.updated" ? answerOf(properties) : undefined;
  if (answer === undefined) return [];
  const call = modelCallOf(answer.id, answer.info);
  const isCall = call?.usage !== undefined || answer.info["isAsked"] !== false;
  return [isCall ? call : undefined, failureOf(answer.id, answer.info)].filter((entry) => entry !== undefined);
}

interface Payload extends Frame {
  readonly p: Fields;
  /** Of a bus event, otherwise empty. */
  readonly properties: Fields;
  /** A session or message that a bus event reports. */
  readonly info: Fields;
}

function frameOf(variant: Variant, payload: unknown, intake: IntakeFacts): Payload | undefined {
  const p = asObject(payload);
  const native = p === undefined ? undefined : nativeOf(p, intake);
  const sessionId = p === undefined ? undefined : sessionIdOf(p);
  if (p === undefined || native === undefined || sessionId === undefined) return undefined;
  const bus = busOf(p);
  // A hook's payload, although the command line names a bus event
  if (bus === undefined && native.startsWith("event:")) return undefined;
  const plugin = asObject(p["plugin"]);
  return {
    p,
    properties: bus?.properties ?? {},
    info: asObject(bus?.properties["info"]) ?? {},
    native,
    session: { id: sessionId },
    cwd: asString(p["directory"]),
    timeMs: asCount(plugin?.["at"]),
    key: keyOf(p),
    extras: {
      transcript_path: databaseOf(variant, intake),
      prompt_id: asString(plugin?.["promptID"]),
      parent_session_id: asString(plugin?.["parentID"]),
    },
  };
}

function toolStart({ p }: Payload): FramedMembers | undefined {
  const { tool, callId } = callIn(p);
  if (tool === undefined) return undefined;
  const args = asObject(asObject(p["output"])?.["args"]);
  return {
    key: keyWith(callId),
    tool: { name: toolNameOf(tool, args), callId },
    extras: { executable: executableOf(args?.["command"]), skill: skillOf(tool, args) },
  };
}

function toolEnd({ p }: Payload): FramedMembers | undefined {
  const { tool, callId } = callIn(p);
  if (tool === undefined) return undefined;
  const output = asObject(p["output"]);
  const name = toolNameOf(tool, asObject(p["input"])?.["args"]);
  // A failed subtask has no output; the failure is in its part
  if (output === undefined) return { key: keyWith(callId), tool: { name, callId } };
  const outcome = completedOutcome(tool, output["metadata"], output["isError"]);
  return { key: keyWith(callId), ...endOf(name, callId, outcome) };
}

/** The tool and the call's id in a hook's input. */
const callIn = (p: Fields) => {
  const input = asObject(p["input"]);
  return { tool: asString(input?.["tool"]), callId: asString(input?.["callID"]) };
};

/** A subagent, if the task tool created the session. */
function subagentStart(info: Fields): FramedMembers | undefined {
  const parentId = asString(info["parentID"]);
  const shared = parentId === undefined ? undefined : sessionIn(info);
  if (parentId === undefined || shared === undefined) return undefined;
  return {
    type: "subagent.start",
    native: "event:session.created",
    ...shared,
    extras: {
      ...shared.extras,
      agent_id: shared.key,
      agent_type: asCode(info["agent"]),
      parent_session_id: parentId,
    },
  };
}

function sessionStart(info: Fields): FramedMembers | undefined {
  const shared = sessionIn(info);
  if (shared === undefined) return undefined;
  const model = asString(asObject(info["model"])?.["id"]);
  return { ...shared, model, extras: { ...shared.extras, start_origin: "created" } };
}

function sessionIn(info: Fields) {
  const id = asString(info["id"]);
  if (id === undefined) return undefined;
  const extras = { agent_version: asString(info["version"]) };
  return { timeMs: createdMsOf(info), cwd: asString(info["directory"]), key: id, extras };
}

function promptNews(p: Fields): FramedMembers | undefined {
  const output = asObject(p["output"]);
  const message = asObject(output?.["message"]);
  const id = asString(message?.["id"]);
  const prompt = promptOf(asArray(output?.["parts"]).map(partOf));
  if (message === undefined || id === undefined || prompt === undefined) return undefined;
  return {
    key: id,
    timeMs: createdMsOf(message),
    promptLength: prompt.length,
    extras: { prompt_id: id },
  };
}

function partOf(part: unknown): PromptPart {
  const p = asObject(part) ?? {};
  return {
    type: asString(p["type"]),
    isOwn: p["synthetic"] === true || p["ignored"] === true,
    // Our plugin sends the length instead of the text
    length: typeof p["text"] === "string" ? p["text"].length : asCount(p["length"]),
  };
}

/** `tool.execute.after` is not called for a tool that fails, is refused or stopped: only its part reports it. */
function failedTool(part: Fields | undefined): FramedMembers | undefined {
  const state = asObject(part?.["state"]);
  const tool = asString(part?.["tool"]);
  const partId = asString(part?.["id"]);
  if (part?.["type"] !== "tool" || state?.["status"] !== "error" || tool === undefined) return undefined;
  const time = asObject(state["time"]);
  const [startMs, endMs] = [asCount(time?.["start"]), asCount(time?.["end"])];
  if (endMs !== undefined && partId !== undefined && isCopy(partId, endMs)) return undefined;
  const callId = callIdOf(tool, asString(part["callID"]), partId);
  const durationMs = startMs === undefined || endMs === undefined ? undefined : Math.max(0, endMs - startMs);
  return {
    key: keyWith(callId, partId),
    timeMs: endMs,
    ...endOf(toolNameOf(tool, state["input"]), callId, failedOutcome(state["error"], state["metadata"]), durationMs),
  };
}

function endOf(name: string, callId: string | undefined, outcome: ToolOutcome, durationMs?: number) {
  const { status } = outcome;
  return {
    tool: { name, callId, status: status === "success" ? "success" : "error", durationMs },
    extras: {
      denied: status === "denied" ? true : undefined,
      exit_code: outcome.exitCode,
      error_type: outcome.errorType,
      lines_added: outcome.linesAdded,
      lines_removed: outcome.linesRemoved,
      spawned_agent_id: outcome.spawnedAgentId,
    },
  } as const;
}

/** A completed answer that is not a fork's copy. */
function answerOf(properties: Fields): { readonly id: string; readonly info: Fields } | undefined {
  const info = asObject(properties["info"]);
  const id = asString(info?.["id"]);
  if (info === undefined || id === undefined || info["role"] !== "assistant") return undefined;
  const completedMs = completedMsOf(info);
  if (completedMs === undefined || isCopy(id, completedMs)) return undefined;
  return isOlderCopy(id, createdMsOf(info) ?? completedMs) ? undefined : { id, info };
}

const isRetry = (properties: Fields): boolean => asObject(properties["status"])?.["type"] === "retry";

/** The reason of a retry, from the provider's text, which is not stored. */
function retryReason(message: unknown): string {
  const text = asString(message) ?? "";
  if (/rate.?limit|too many requests|\b429\b/i.test(text)) return "rate_limit";
  if (/overloaded|unavailable|\b5(?:03|29)\b/i.test(text)) return "overloaded";
  return /usage.?limit|quota/i.test(text) ? "usage_limit" : "_OTHER";
}

/** Bus events contain their name; the name of a hook is on the command line, or follows from its shape. */
function nativeOf(p: Fields, intake: IntakeFacts): string | undefined {
  const bus = busOf(p);
  if (bus !== undefined) return `event:${bus.type}`;
  if (intake.event !== undefined) return intake.event;
  const input = asObject(p["input"]);
  const output = asObject(p["output"]);
  if (asString(input?.["tool"]) !== undefined) {
    const isOver = ["title", "output", "metadata", "content"].some((name) => output?.[name] !== undefined);
    if (isOver || asObject(input?.["args"]) !== undefined) return "tool.execute.after";
    return output === undefined || output["args"] === undefined ? undefined : "tool.execute.before";
  }
  return asObject(output?.["message"]) !== undefined ? "chat.message" : undefined;
}

function busOf(p: Fields | undefined): { readonly type: string; readonly properties: Fields } | undefined {
  const event = asObject(asObject(p?.["input"])?.["event"]);
  const type = asString(event?.["type"]);
  return type === undefined ? undefined : { type, properties: asObject(event?.["properties"]) ?? {} };
}

function sessionIdOf(p: Fields): string | undefined {
  const properties = busOf(p)?.properties;
  const info = asObject(properties?.["info"]);
  return (
    asString(asObject(p["input"])?.["sessionID"]) ??
    asString(properties?.["sessionID"]) ??
    asString(info?.["sessionID"]) ??
    asString(asObject(properties?.["part"])?.["sessionID"]) ??
    // `info` of a session event is the session
    (info?.["role"] === undefined ? asString(info?.["id"]) : undefined)
  );
}

const isChild = (p: Fields): boolean => asString(asObject(p["plugin"])?.["parentID"]) !== undefined;

/** Bus events have ids; our plugin adds a time and a number to each payload. */
const keyOf = (p: Fields): string => asString(asObject(asObject(p["input"])?.["event"])?.["id"]) ?? payloadDigest(p);

/** @param counted replaces a numbered id, which later calls share; absent: the payload's own key */
const keyWith = (callId: string | undefined, counted?: string): string | undefined =>
  callId !== undefined && isSequenceNumber(callId) ? counted : callId;

/** The database of this process, by OpenCode's rules. If the session is not in it, the reader searches other databases. */
function databaseOf({ source, databaseVariable }: Variant, { env }: IntakeFacts): string | undefined {
  const home = asString(env["HOME"]);
  const dataHome = asString(env["XDG_DATA_HOME"]) ?? (home === undefined ? undefined : join(home, ".local", "share"));
  const named = asString(env[databaseVariable]);
  if (named === ":memory:") return undefined;
  if (named !== undefined && /^(?:[/\\]|[A-Za-z]:[\\/])/.test(named)) return named;
  return dataHome === undefined ? undefined : join(dataHome, source, named ?? `${source}.db`);
}
