// https://code.visualstudio.com/docs/agents/reference/hooks-reference, read 2026-11-21; from documentation and public code

import type { Recognition } from "#core/model/agent.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import { isSequenceNumber } from "#core/rules/call-ids.ts";
import { adapterOf, type Payload } from "../shared/payload/adapter-of.ts";
import {
  CLAUDE_EVENTS,
  CLAUDE_LIKE,
  callIdIn,
  FAMILY_FIELDS,
  FAMILY_NOT_NEEDED,
  outcomeIn,
  promptIn,
  toolEnd,
  toolStart,
} from "../shared/payload/claude-like.ts";
import { payloadDigest } from "../shared/payload/identity.ts";
import { asObject, asString, asTimeMs, first } from "../shared/payload/json.ts";
import { VSCODE_NAMES } from "./own-names.ts";

export const adapter = adapterOf({
  ...CLAUDE_LIKE,
  source: "copilot-vscode",
  recognises,
  events: {
    SessionStart: CLAUDE_EVENTS.SessionStart,
    UserPromptSubmit: {
      type: "prompt.submit",
      // A subagent's task: only sessions of the user have a transcript
      read: (p) => ({
        ...promptIn(p),
        extras: { prompt_origin: p["transcript_path"] === undefined ? "machine" : undefined },
      }),
    },
    PreToolUse: { type: "tool.start", read: (p) => ({ ...toolStart(p), key: callKey(p) }) },
    PostToolUse: { type: "tool.end", read: (p) => ({ ...toolEnd(p, outcomeIn(p)), key: callKey(p) }) },
    Stop: CLAUDE_EVENTS.Stop,
    SubagentStart: CLAUDE_EVENTS.SubagentStart,
    SubagentStop: CLAUDE_EVENTS.SubagentStop,
    PreCompact: CLAUDE_EVENTS.PreCompact,
  },
  notNeeded: `SessionEnd PostToolUseFailure StopFailure ${FAMILY_NOT_NEEDED}`,
  fields: `timestamp agent_display_name ${FAMILY_FIELDS}`,
  // The same payload from several registrations is one event
  keyOf: payloadDigest,
});

// --- internal ---

const callKey = (p: Payload): string | undefined => {
  const callId = callIdIn(p);
  return callId === undefined || isSequenceNumber(callId) ? undefined : callId;
};

/**
 * VS Code also runs hooks registered for Claude Code and Copilot CLI, so the command line may name either. Its payloads equal
 * Claude Code's except for an ISO time and its own tools. Payloads of subagents have no transcript path, like those of Copilot
 * CLI, which is recognised by its environment.
 */
function recognises(payload: unknown, intake: IntakeFacts): Recognition {
  const p = asObject(payload);
  if (p === undefined) return "no";
  const native = first(p, ["hook_event_name", "hookEventName"]);
  const path = p["transcript_path"];
  if (
    native === undefined ||
    !Object.hasOwn(adapter.events, native) ||
    first(p, ["session_id", "sessionId"]) === undefined
  )
    return "no";
  if (typeof path === "string" && OWN_PATH.test(path)) return "certain";
  if (FOREIGN_FIELDS.some((mark) => p[mark] !== undefined)) return "no";
  if (typeof path === "string" && OTHERS_PATH.test(path)) return "no";
  const isTimed = asTimeMs(p["timestamp"]) !== undefined;
  const callId = asString(p["tool_use_id"]) ?? "";
  const isOwnTool = OWN_CALL.test(callId) || (OWN_TOOLS.has(asString(p["tool_name"]) ?? "") && callId !== "");
  const isVsCodeOnly = isOwnTool || path === null || (path === undefined && isFromOtherRegistration(intake));
  if (isTimed && isVsCodeOnly && p["permission_mode"] === undefined) return "certain";
  if (isTimed && path !== undefined && p["permission_mode"] === undefined) return "likely";
  return intake.source === adapter.source ? "possible" : "no";
}

const FOREIGN_FIELDS = ["openhook", "cursor_version", "clineVersion", "conversationId", "trajectory_id", "toolName"];

/** True if the hook is registered for Copilot CLI or Claude Code but was not run by Copilot CLI. */
const isFromOtherRegistration = ({ source, env }: IntakeFacts): boolean =>
  (source === "copilot" || source === "claude-code") && env["COPILOT_CLI"] === undefined;

/** VS Code appends this to call ids, because some models repeat theirs. */
const OWN_CALL = /__vscode-\d+$/;

/** VS Code's own storage, in any build. */
const OWN_PATH = /[/\\](?:workspaceStorage|GitHub\.copilot-chat|github\.copilot-chat)[/\\]/;
const OTHERS_PATH = /[/\\]\.(?:claude|codex|gemini|qwen|factory|cursor|continue|copilot|kiro)[/\\]/;

/** From documentation and public handlers; later versions have more. */
const OWN_TOOLS: ReadonlySet<string> = new Set(VSCODE_NAMES.tools);
