// https://docs.cline.bot/customization/hooks, recordings of the CLI 3.0.65 and its public source, read 2026-11-21

import type { Recognition } from "#core/model/agent.ts";
import type { SessionEndReason } from "#core/model/envelope.ts";
import type { Event, Extras, NativeEventType } from "#core/model/event-schema.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import type { TranscriptEntry } from "#core/model/transcript.ts";
import { defined } from "#kit/defined.ts";
import { executableOf } from "../shared/names/executables.ts";
import { inputDigest } from "../shared/payload/digest.ts";
import { payloadDigest } from "../shared/payload/identity.ts";
import { asArray, asCode, asCount, asObject, asString, asTimeMs } from "../shared/payload/json.ts";
import { eventOf, type PayloadEvent } from "../shared/payload/payload-event.ts";
import { messagesPath, sessionsFolder } from "./places.ts";
import { type CallResult, callResultOf } from "./tool-result.ts";

export const SOURCE = "cline";

/** Every payload has the version, even if empty, and no other agent's has one. Without it, the command line decides. */
export function recognises(payload: unknown): Recognition {
  const p = asObject(payload);
  if (asString(p?.["hookName"]) === undefined) return "no";
  return typeof p?.["clineVersion"] === "string" ? "certain" : "possible";
}

/** One payload → its events. The end of a run ends its turn and, until the next prompt, the session. */
export function toEvents(payload: unknown, intake: IntakeFacts): readonly Event[] {
  const run = runOf(payload, intake);
  if (run === undefined) return [];
  const { p, native, isMain } = run;
  const event = (type: NativeEventType, more: Partial<PayloadEvent> = {}): Event =>
    eventOf({ ...baseEvent(run, type), ...more }, intake);
  const endEvents = (end: NativeEventType, reason: SessionEndReason, extras: Extras = {}): readonly Event[] =>
    isMain
      ? [
          event(end, { extras: { ...run.extras, ...extras } }),
          event("session.end", { reason, extras: { ...run.extras, native_reason: native } }),
        ]
      : [event("subagent.end")];

  switch (native) {
    case "agent_start":
    case "TaskStart":
      return [isMain ? event("session.start", startOf(run, "task_start")) : event("subagent.start")];
    case "agent_resume":
    case "TaskResume":
      return [isMain ? event("session.start", startOf(run, "resume")) : event("subagent.start")];
    case "prompt_submit":
    case "UserPromptSubmit": {
      const prompt = asObject(p["userPromptSubmit"])?.["prompt"];
      const length = typeof prompt === "string" ? prompt.length : undefined;
      return isMain ? [event("prompt.submit", { promptLength: length })] : [];
    }
    case "tool_call":
    case "PreToolUse":
      return [event("tool.start", callOf(run, asObject(p["tool_call"]), asObject(p["preToolUse"])))];
    case "tool_result":
    case "PostToolUse":
      return [event("tool.end", endOf(run))];
    case "agent_end":
    case "TaskComplete":
      return endEvents("turn.end", "completed");
    case "agent_error":
    case "TaskError":
      return endEvents("turn.error", "error", { error_type: errorTypeOf(asObject(p["error"])?.["name"]) });
    case "agent_abort":
    case "TaskCancel":
    case "session_shutdown":
    case "SessionShutdown":
      return endEvents("turn.end", "user_exit");
    case "pre_compact":
    case "PreCompact":
      return [event("compaction")];
    default:
      return [];
  }
}

/** Only hooks report that a run was interrupted; its messages just end. */
export function toEntries(payload: unknown, intake: IntakeFacts): readonly TranscriptEntry[] {
  const run = runOf(payload, intake);
  if (run === undefined || !/^(?:agent_abort|TaskCancel|session_shutdown|SessionShutdown)$/.test(run.native)) return [];
  const agentId = run.extras.agent_id;
  return [
    {
      kind: "interruption",
      key: `interruption:${run.digest}`,
      timeMs: run.timeMs,
      ...(agentId !== undefined && { agentId }),
    },
  ];
}

// --- internal ---

/** The common members of all payloads. */
interface Run {
  readonly p: Readonly<Record<string, unknown>>;
  readonly native: string;
  readonly sessionId: string;
  readonly cwd: string | undefined;
  readonly timeMs: number;
  readonly isMain: boolean;
  readonly extras: Extras;
  readonly digest: string;
}

function runOf(payload: unknown, intake: IntakeFacts): Run | undefined {
  const p = asObject(payload);
  const native = asString(p?.["hookName"]);
  // The root's id stays the same for subagents and resumed sessions; a task's id does not
  const root = asString(asObject(p?.["sessionContext"])?.["rootSessionId"]);
  const sessionId = root ?? asString(p?.["taskId"]);
  if (p === undefined || native === undefined || sessionId === undefined) return undefined;
  const home = intake.env["HOME"];
  const isMain = asString(p["parent_agent_id"]) === undefined;
  return {
    p,
    native,
    sessionId,
    cwd: asString(asArray(p["workspaceRoots"])[0]) ?? asString(asObject(p["workspaceInfo"])?.["rootPath"]),
    timeMs: timeOf(p["timestamp"]) ?? intake.timeMs,
    isMain,
    extras: defined<Extras>({
      agent_id: isMain ? undefined : asString(p["agent_id"]),
      agent_version: asString(p["clineVersion"]),
      // Without a root session it is the editor extension, which stores its files elsewhere
      transcript_path:
        root === undefined || home === undefined
          ? undefined
          : messagesPath(sessionsFolder(intake.env, home), sessionId),
    }),
    digest: payloadDigest(payload),
  };
}

const baseEvent = (run: Run, type: NativeEventType): PayloadEvent => ({
  source: SOURCE,
  type,
  native: run.native,
  session: { id: run.sessionId },
  cwd: run.cwd,
  timeMs: run.timeMs,
  // One payload can contain two events
  key: `${type}:${run.digest}`,
  extras: run.extras,
});

/** The CLI writes ISO 8601, the extension milliseconds as text. */
const timeOf = (value: unknown): number | undefined =>
  typeof value === "string" && /^\d{12,14}$/.test(value) ? Number(value) : asTimeMs(value);

/** Each prompt is reported as a session start. The origin distinguishes two starts soon after each other. */
const startOf = ({ p, extras }: Run, origin: string): Partial<PayloadEvent> => ({
  model: asString(asObject(p["model"])?.["slug"]),
  extras: {
    ...extras,
    start_origin: origin,
    ...(origin === "resume" && { continues: "same-session" as const }),
  },
});

type Fields = Readonly<Record<string, unknown>>;

/**
 * @param call the CLI's form, with the model's call id
 * @param extensionCall the extension's form, without a call id
 */
function callOf({ extras }: Run, call: Fields | undefined, extensionCall: Fields | undefined): Partial<PayloadEvent> {
  const callId = asString(call?.["id"]);
  const name = asString(call?.["name"]) ?? asString(extensionCall?.["toolName"]);
  const input = call?.["input"] ?? extensionCall?.["parameters"];
  return {
    tool: { name, callId },
    extras: defined<Extras>({
      ...extras,
      input_digest: callId === undefined ? extensionDigest(input) : undefined,
      executable: executableIn(input),
      mcp_server: mcpServerIn(name, input),
    }),
  };
}

function endOf(run: Run): Partial<PayloadEvent> {
  const result = asObject(run.p["tool_result"]);
  const extensionFields = asObject(run.p["postToolUse"]);
  const call = callOf(run, result, extensionFields);
  const callResult: CallResult =
    result === undefined
      ? extensionResult(extensionFields)
      : callResultOf(result["output"], isError(result["error"]) || extensionFields?.["success"] === false);
  return {
    ...call,
    timeMs: asTimeMs(result?.["endedAt"]) ?? run.timeMs,
    tool: {
      name: call.tool?.name,
      callId: call.tool?.callId,
      status: callResult.status === "success" ? "success" : "error",
      durationMs: asCount(result?.["durationMs"]) ?? asCount(extensionFields?.["executionTimeMs"]),
    },
    extras: defined<Extras>({
      ...call.extras,
      denied: callResult.status === "denied" ? true : undefined,
      error_type: callResult.errorType,
      exit_code: callResult.exitCode,
    }),
  };
}

/** An error is a text, or the thrown value, which can be an empty object in JSON. */
const isError = (error: unknown): boolean => Boolean(error);

/** The extension writes proto3 JSON, which omits false: a failed call has no `success` member. */
const extensionResult = (extensionFields: Fields | undefined): CallResult => ({
  status: extensionFields === undefined || extensionFields["success"] === true ? "success" : "error",
});

/** `_OTHER` also for `Error`, which has no meaning. */
function errorTypeOf(name: unknown): string {
  const code = asCode(name);
  return code === undefined || code === "Error" ? "_OTHER" : code;
}

/** The executable of a single command; a call may contain several. */
export function executableIn(input: unknown): string | undefined {
  const commands = asObject(input)?.["commands"];
  return Array.isArray(commands) && commands.length === 1
    ? executableOf(commands[0])
    : executableOf(asObject(input)?.["command"]);
}

/** Tools of an MCP server are named `<server>__<tool>`. */
export const mcpServerOf = (name: string | undefined): string | undefined => /^(.+?)__./.exec(name ?? "")?.[1];

/** The same for the extension, where one tool calls those of all MCP servers. */
export const mcpServerIn = (name: string | undefined, input: unknown): string | undefined =>
  mcpServerOf(name) ?? (name === "use_mcp_tool" ? asString(asObject(input)?.["server_name"]) : undefined);

/**
 * Digest of what a call of the extension is about. Hooks have every argument as text, task files have it as the model wrote it:
 * only short texts are the same in both. Calls that it does not distinguish are paired by their times.
 */
export function extensionDigest(input: unknown): string | undefined {
  if (input === undefined) return undefined;
  const given = asObject(input) ?? {};
  const about = ABOUT.flatMap((name) => {
    const value = asString(given[name])?.trim();
    return value === undefined || value === "" ? [] : [[name, value] as const];
  });
  // Also if all of them are missing, because settled calls are found by their digest
  return inputDigest({ about });
}

/** Arguments that distinguish calls of one tool. */
const ABOUT = [
  "command",
  "path",
  "absolutePath",
  "url",
  "uri",
  "regex",
  "query",
  "tool_name",
  "skill_name",
  "question",
];
