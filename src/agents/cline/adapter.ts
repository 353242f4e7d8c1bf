// https://docs.cline.bot/customization/hooks, recordings of the CLI 3.0.65 and its public source, read 2026-11-21

import type { Recognition } from "#core/model/agent.ts";
import type { SessionEndReason } from "#core/model/envelope.ts";
import type { Extras, NativeEventType } from "#core/model/event-schema.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import type { TranscriptEntry } from "#core/model/transcript.ts";
import { executableOf } from "../shared/names/executables.ts";
import { skillOf } from "../shared/names/skill.ts";
import { inputDigest } from "../shared/payload/digest.ts";
import {
  type Frame,
  type FramedMembers,
  type FramedRow,
  type FramedTable,
  framedAdapter,
} from "../shared/payload/framed-adapter.ts";
import { payloadDigest } from "../shared/payload/identity.ts";
import { asArray, asCode, asCount, asObject, asString, asTimeMs, type Fields, ownOf } from "../shared/payload/json.ts";
import { eventIn } from "../shared/payload/known.ts";
import { messagesPath, sessionsFolder } from "./places.ts";
import { type CallResult, callResultOf } from "./tool-result.ts";

const SOURCE = "cline";

const START = startRow("task_start");
const RESUME = startRow("resume", { continues: "same-session" });

const PROMPT: FramedRow<Run> = {
  type: "prompt.submit",
  or: ["nothing"],
  read({ p, isMain }) {
    // Prompts of subagents are their tasks
    if (!isMain) return undefined;
    const prompt = asObject(p["userPromptSubmit"])?.["prompt"];
    return { promptLength: typeof prompt === "string" ? prompt.length : undefined };
  },
};

const CALL: FramedRow<Run> = {
  type: "tool.start",
  read: ({ p }) => callOf(asObject(p["tool_call"]), asObject(p["preToolUse"])),
};
const RESULT: FramedRow<Run> = { type: "tool.end", read: endOf };
const COMPACTION: FramedRow<Run> = { type: "compaction" };

const COMPLETED = endRow("turn.end", "completed");
const FAILED = endRow("turn.error", "error", ({ p }) => ({ error_type: errorTypeOf(asObject(p["error"])?.["name"]) }));
const STOPPED = endRow("turn.end", "user_exit");

/**
 * The CLI's names; and TaskResume, TaskCancel, UserPromptSubmit and PreCompact, whose files exist in 3.0.65 but were never run; the
 * messages contain the same facts.
 */
const unregistered = (row: FramedRow<Run>): FramedRow<Run> => ({ ...row, hook: "none" });

/** Names in the CLI, and those of its hook files and the extension. */
const EVENTS = {
  agent_start: unregistered(START),
  TaskStart: START,
  agent_resume: unregistered(RESUME),
  TaskResume: unregistered(RESUME),
  prompt_submit: unregistered(PROMPT),
  UserPromptSubmit: unregistered(PROMPT),
  tool_call: unregistered(CALL),
  PreToolUse: CALL,
  tool_result: unregistered(RESULT),
  PostToolUse: RESULT,
  agent_end: unregistered(COMPLETED),
  TaskComplete: COMPLETED,
  agent_error: unregistered(FAILED),
  TaskError: FAILED,
  agent_abort: unregistered(STOPPED),
  TaskCancel: unregistered(STOPPED),
  session_shutdown: unregistered(STOPPED),
  SessionShutdown: STOPPED,
  pre_compact: unregistered(COMPACTION),
  PreCompact: unregistered(COMPACTION),
} as const satisfies FramedTable<Run>;

export const adapter = framedAdapter({
  source: SOURCE,
  recognises,
  events: EVENTS,
  notNeeded: "Notification",
  fields: `clineVersion hookName timestamp taskId sessionContext userId workspaceRoots workspaceInfo agent_id
    parent_agent_id iteration turn model error tool_call tool_result taskStart taskResume taskComplete taskCancel taskError
    userPromptSubmit preToolUse postToolUse preCompact notification reason`,
  nameOf: eventIn("hookName"),
  frameOf,
});

/** Only hooks report that a run was interrupted; its messages just end. */
export function toEntries(payload: unknown, intake: IntakeFacts): readonly TranscriptEntry[] {
  const run = frameOf(payload, intake);
  if (run === undefined || ownOf<FramedRow<Run>>(EVENTS, run.native)?.read !== STOPPED.read) return [];
  const agentId = run.extras?.agent_id;
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
interface Run extends Frame {
  readonly p: Fields;
  readonly timeMs: number;
  readonly isMain: boolean;
  readonly digest: string;
}

/** Every payload has the version, even if empty, and no other agent's has one. Without it, the command line decides. */
function recognises(payload: unknown): Recognition {
  const p = asObject(payload);
  if (asString(p?.["hookName"]) === undefined) return "no";
  return typeof p?.["clineVersion"] === "string" ? "certain" : "possible";
}

function frameOf(payload: unknown, intake: IntakeFacts): Run | undefined {
  const p = asObject(payload);
  const native = asString(p?.["hookName"]);
  // The root's id stays the same for subagents and resumed sessions; a task's id does not
  const root = asString(asObject(p?.["sessionContext"])?.["rootSessionId"]);
  const sessionId = root ?? asString(p?.["taskId"]);
  if (p === undefined || native === undefined || sessionId === undefined) return undefined;
  const home = intake.env["HOME"];
  const isMain = asString(p["parent_agent_id"]) === undefined;
  const digest = payloadDigest(payload);
  return {
    p,
    native,
    session: { id: sessionId },
    cwd: asString(asArray(p["workspaceRoots"])[0]) ?? asString(asObject(p["workspaceInfo"])?.["rootPath"]),
    timeMs: timeOf(p["timestamp"]) ?? intake.timeMs,
    isMain,
    digest,
    key: digest,
    isKeyedByType: true,
    extras: {
      agent_id: isMain ? undefined : asString(p["agent_id"]),
      agent_version: asString(p["clineVersion"]),
      // Without a root session it is the editor extension, which stores its files elsewhere
      transcript_path:
        root === undefined || home === undefined
          ? undefined
          : messagesPath(sessionsFolder(intake.env, home), sessionId),
    },
  };
}

/** Each prompt is reported as a session start. The origin distinguishes two starts soon after each other. */
function startRow(origin: string, extras: Extras = {}): FramedRow<Run> {
  return {
    type: "session.start",
    or: ["subagent.start"],
    read: ({ p, isMain }) =>
      isMain
        ? { model: asString(asObject(p["model"])?.["slug"]), extras: { ...extras, start_origin: origin } }
        : { type: "subagent.start" },
  };
}

/** The end of a run ends its turn and, until the next prompt, the session. */
function endRow(
  type: NativeEventType,
  reason: SessionEndReason,
  extrasOf: (run: Run) => Extras = () => ({}),
): FramedRow<Run> {
  return {
    type,
    or: ["session.end", "subagent.end"],
    read: (run) =>
      run.isMain
        ? [{ extras: extrasOf(run) }, { type: "session.end", reason, extras: { native_reason: run.native } }]
        : { type: "subagent.end" },
  };
}

/** The CLI writes ISO 8601, the extension milliseconds as text. */
const timeOf = (value: unknown): number | undefined =>
  typeof value === "string" && /^\d{12,14}$/.test(value) ? Number(value) : asTimeMs(value);

/**
 * @param call the CLI's form, with the model's call id
 * @param extensionCall the extension's form, without a call id
 */
function callOf(call: Fields | undefined, extensionCall: Fields | undefined) {
  const callId = asString(call?.["id"]);
  const name = asString(call?.["name"]) ?? asString(extensionCall?.["toolName"]);
  const input = call?.["input"] ?? extensionCall?.["parameters"];
  return {
    tool: { name, callId },
    extras: {
      input_digest: callId === undefined ? extensionDigest(input) : undefined,
      executable: executableIn(input),
      skill: skillOf(name, input),
      mcp_server: mcpServerIn(name, input),
    },
  };
}

function endOf(run: Run): FramedMembers {
  const result = asObject(run.p["tool_result"]);
  const extensionFields = asObject(run.p["postToolUse"]);
  const { tool, extras } = callOf(result, extensionFields);
  const callResult: CallResult =
    result === undefined
      ? extensionResult(extensionFields)
      : callResultOf(result["output"], isError(result["error"]) || extensionFields?.["success"] === false);
  return {
    timeMs: asTimeMs(result?.["endedAt"]),
    tool: {
      ...tool,
      status: callResult.status === "success" ? "success" : "error",
      durationMs: asCount(result?.["durationMs"]) ?? asCount(extensionFields?.["executionTimeMs"]),
    },
    extras: {
      ...extras,
      denied: callResult.status === "denied" ? true : undefined,
      error_type: callResult.errorType,
      exit_code: callResult.exitCode,
    },
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
