// https://opencode.ai/docs/plugins, the types of @opencode-ai/plugin 1.18.33 and recordings of 1.18.33, read 2026-11-21

import { join } from "node:path";
import type { Agent, Recognition } from "#core/model/agent.ts";
import type { Extras } from "#core/model/event-schema.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import type { EntryOf, TranscriptEntry } from "#core/model/transcript.ts";
import { isSequenceNumber } from "#core/rules/call-ids.ts";
import { defined } from "#kit/defined.ts";
import { executableOf } from "../names/executables.ts";
import { payloadDigest } from "../payload/identity.ts";
import { asArray, asCode, asCount, asObject, asString } from "../payload/json.ts";
import { eventOf, type PayloadEvent } from "../payload/payload-event.ts";
import { isCopy, isOlderCopy } from "./ids.ts";
import { completedMsOf, createdMsOf, errorOf, failureOf, modelCallOf, type PromptPart, promptOf } from "./messages.ts";
import { callIdOf, completedOutcome, failedOutcome, type ToolOutcome, toolNameOf } from "./tools.ts";
import { isVariant, type Variant } from "./variant.ts";

/** The adapter of one of OpenCode's variants. */
export const adapterOf = (
  variant: Variant,
): Pick<Agent, "recognises" | "toEvents"> & { toEntries: typeof toEntries } => ({
  recognises: (payload, intake) => recognises(variant, payload, intake),
  toEvents(payload, intake) {
    const payloadEvent = payloadEventOf(variant, payload, intake);
    return payloadEvent === undefined ? [] : [eventOf(payloadEvent, intake)];
  },
  toEntries,
});

// --- internal ---

/** Hooks of a whole instance, which have no session. */
const INSTANCE_EVENTS = new Set(["plugin.init", "config", "dispose"]);

type Fields = Readonly<Record<string, unknown>>;

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

/** The members of an event besides those of its envelope. */
type EventParts = Pick<PayloadEvent, "type"> & Partial<PayloadEvent>;

/** Most bus events are not needed. */
function payloadEventOf(variant: Variant, payload: unknown, intake: IntakeFacts): PayloadEvent | undefined {
  const p = asObject(payload);
  const native = p === undefined ? undefined : nativeOf(p, intake);
  const sessionId = p === undefined ? undefined : sessionIdOf(p);
  if (p === undefined || native === undefined || sessionId === undefined) return undefined;
  const bus = busOf(p);
  const parts = bus === undefined ? hookEvent(native, p) : busEvent(native, bus.properties, p);
  if (parts === undefined) return undefined;
  const plugin = asObject(p["plugin"]);
  return {
    source: variant.source,
    native,
    session: { id: sessionId },
    cwd: asString(p["directory"]),
    timeMs: asCount(plugin?.["at"]),
    key: keyOf(p),
    ...parts,
    extras: defined<Extras>({
      transcript_path: databaseOf(variant, intake),
      prompt_id: asString(plugin?.["promptID"]),
      parent_session_id: asString(plugin?.["parentID"]),
      ...parts.extras,
    }),
  };
}

/** Hooks, called with an input and an output. */
function hookEvent(native: string, p: Fields): EventParts | undefined {
  const input = asObject(p["input"]) ?? {};
  const output = asObject(p["output"]);
  const tool = asString(input["tool"]);
  const callId = asString(input["callID"]);
  switch (native) {
    case "chat.message":
      return isChild(p) ? undefined : promptNews(output);
    case "tool.execute.before": {
      if (tool === undefined) return undefined;
      const args = asObject(output?.["args"]);
      return {
        type: "tool.start",
        ...keyWith(callId),
        tool: { name: toolNameOf(tool, args), callId },
        extras: defined<Extras>({ executable: executableOf(args?.["command"]) }),
      };
    }
    case "tool.execute.after": {
      if (tool === undefined) return undefined;
      const name = toolNameOf(tool, input["args"]);
      // A failed subtask has no output; the failure is in its part
      if (output === undefined) return { type: "tool.end", ...keyWith(callId), tool: { name, callId } };
      const outcome = completedOutcome(tool, output["metadata"], output["isError"]);
      return { type: "tool.end", ...keyWith(callId), ...endOf(name, callId, outcome) };
    }
    // From our plugin: its process closes a session
    case "dispose":
      return { type: "session.end", reason: "completed", extras: { native_reason: "dispose" } };
    case "session.resumed":
      return { type: "session.start", extras: { start_origin: "resume", continues: "same-session" } };
    default:
      return undefined;
  }
}

/** Events of OpenCode's bus. */
function busEvent(native: string, properties: Fields, p: Fields): EventParts | undefined {
  switch (native) {
    case "event:session.created":
    case "event:session.updated":
      return sessionEvent(native, asObject(properties["info"]));
    case "event:session.idle":
      return { type: isChild(p) ? "subagent.end" : "turn.end" };
    case "event:session.error":
      return { type: "turn.error", extras: errorExtras(properties["error"]) };
    case "event:session.deleted":
      // A subagent's session ends with the session that started it
      if (asString(asObject(properties["info"])?.["parentID"]) !== undefined) return undefined;
      return { type: "session.end", reason: "completed", extras: { native_reason: "deleted" } };
    case "event:session.compacted":
      return { type: "compaction" };
    case "event:session.status":
      return isRetry(properties) ? { type: "notice" } : undefined;
    case "event:message.updated": {
      const answer = answerOf(properties);
      if (answer === undefined) return undefined;
      return { type: "model.end", key: answer.id, timeMs: completedMsOf(answer.info) };
    }
    case "event:message.part.updated":
      return failedTool(asObject(properties["part"]));
    default:
      return undefined;
  }
}

/** The start of a session, or of a subagent if the task tool created the session. */
function sessionEvent(native: string, info: Fields | undefined): EventParts | undefined {
  const id = asString(info?.["id"]);
  const parentId = asString(info?.["parentID"]);
  if (info === undefined || id === undefined) return undefined;
  const shared = { timeMs: createdMsOf(info), cwd: asString(info["directory"]), key: id };
  const version = asString(info["version"]);
  if (parentId !== undefined) {
    // Two bus events report it; the same key makes them one event
    return {
      type: "subagent.start",
      native: "event:session.created",
      ...shared,
      extras: defined<Extras>({
        agent_id: id,
        agent_type: asCode(info["agent"]),
        agent_version: version,
        parent_session_id: parentId,
      }),
    };
  }
  if (native !== "event:session.created") return undefined;
  return {
    type: "session.start",
    ...shared,
    model: asString(asObject(info["model"])?.["id"]),
    extras: defined<Extras>({ start_origin: "created", agent_version: version }),
  };
}

function promptNews(output: Fields | undefined): EventParts | undefined {
  const message = asObject(output?.["message"]);
  const id = asString(message?.["id"]);
  const prompt = promptOf(asArray(output?.["parts"]).map(partOf));
  if (message === undefined || id === undefined || prompt === undefined) return undefined;
  return {
    type: "prompt.submit",
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
function failedTool(part: Fields | undefined): EventParts | undefined {
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
    type: "tool.end",
    ...keyWith(callId, partId),
    timeMs: endMs,
    ...endOf(toolNameOf(tool, state["input"]), callId, failedOutcome(state["error"], state["metadata"]), durationMs),
  };
}

function endOf(name: string, callId: string | undefined, outcome: ToolOutcome, durationMs?: number) {
  const { status } = outcome;
  return {
    tool: { name, callId, status: status === "success" ? "success" : "error", durationMs },
    extras: defined<Extras>({
      denied: status === "denied" ? true : undefined,
      exit_code: outcome.exitCode,
      error_type: outcome.errorType,
      lines_added: outcome.linesAdded,
      lines_removed: outcome.linesRemoved,
      spawned_agent_id: outcome.spawnedAgentId,
    }),
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

const errorExtras = (error: unknown): Extras => {
  const { errorType, httpStatus } = errorOf(error);
  return { error_type: errorType, ...(httpStatus !== undefined && { http_status: httpStatus }) };
};

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
const keyWith = (callId: string | undefined, counted?: string): { key?: string } => {
  const key = callId !== undefined && isSequenceNumber(callId) ? counted : callId;
  return key === undefined ? {} : { key };
};

/** The database of this process, by OpenCode's rules. If the session is not in it, the reader searches other databases. */
function databaseOf({ source, databaseVariable }: Variant, { env }: IntakeFacts): string | undefined {
  const home = asString(env["HOME"]);
  const dataHome = asString(env["XDG_DATA_HOME"]) ?? (home === undefined ? undefined : join(home, ".local", "share"));
  const named = asString(env[databaseVariable]);
  if (named === ":memory:") return undefined;
  if (named !== undefined && /^(?:[/\\]|[A-Za-z]:[\\/])/.test(named)) return named;
  return dataHome === undefined ? undefined : join(dataHome, source, named ?? `${source}.db`);
}
