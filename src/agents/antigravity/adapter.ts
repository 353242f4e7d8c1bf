// https://antigravity.google/docs/hooks as quoted by public projects, and their tests, read 2026-11-21

import type { PayloadFacts, Recognition } from "#core/model/agent.ts";
import type { Content } from "#core/model/content.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import { executableOf } from "../shared/names/executables.ts";
import { adapterOf, type Members, type Payload } from "../shared/payload/adapter-of.ts";
import { contentOfEvents, firstOf } from "../shared/payload/content.ts";
import { arrivalKey } from "../shared/payload/identity.ts";
import { asArray, asCount, asObject, asString } from "../shared/payload/json.ts";
import { outcomeOf } from "../shared/payload/outcome.ts";
import { absolutePath } from "../shared/payload/payload-event.ts";

export const adapter = adapterOf({
  source: "antigravity",
  recognises,
  events: {
    // Precedes every model call; it is not the start of a session
    PreInvocation: { type: "model.start" },
    PostInvocation: { type: "model.end" },
    PreToolUse: { type: "tool.start", read: callIn },
    PostToolUse: {
      type: "tool.end",
      read(p, intake) {
        const call = callIn(p);
        if (nameIn(p, intake) === undefined) return { ...call, native: "toolCall" };
        const { status, exitCode, origin } = outcomeOf(p["toolResult"] ?? p["result"] ?? p);
        return { ...call, tool: { ...call.tool, status }, extras: { exit_code: exitCode, status_origin: origin } };
      },
    },
    Stop: { type: "turn.end" },
  },
  fields: `conversationId stepIdx toolCall toolResult result error workspacePaths invocationNum transcriptPath
    artifactDirectoryPath fullyIdle hookEventName timestamp model`,
  nameIn: ["hookEventName"],
  // A tool call without an event name may be the start or the end of the call; it is reported as its end
  nameOf: (p, intake) => nameIn(p, intake) ?? (asObject(p["toolCall"]) === undefined ? undefined : "PostToolUse"),
  inAnyCase: true,
  sessionIn: ["conversationId"],
  cwdOf: (p) => asString(asArray(p["workspacePaths"])[0]),
  keyOf: (p, intake) => (asObject(p["toolCall"]) === undefined ? undefined : callIdIn(p)) ?? arrivalKey(intake),
  extrasOf: (p, intake) => ({
    transcript_path: absolutePath(p["transcriptPath"], intake),
    executable: executableOf(asObject(asObject(p["toolCall"])?.["args"])?.["CommandLine"]),
  }),
});

/** Content of tool calls only, because there is no prompt event. */
export function toContent(payload: unknown, { events }: PayloadFacts): readonly Content[] {
  const p = asObject(payload) ?? {};
  return contentOfEvents(events, {
    arguments: asObject(p["toolCall"])?.["args"],
    result: firstOf(p, ["toolResult", "result", "error"]),
  });
}

// --- internal ---

/** Payloads do not name their event; `--event` does. */
function recognises(payload: unknown): Recognition {
  const p = asObject(payload);
  if (p === undefined || asString(p["conversationId"]) === undefined) return "no";
  if (asObject(p["toolCall"]) !== undefined) return "certain";
  if (p["hook_event_name"] !== undefined) return "possible";
  return MARKS.some((name) => p[name] !== undefined) ? "likely" : "possible";
}

const MARKS = ["invocationNum", "fullyIdle", "workspacePaths", "artifactDirectoryPath", "stepIdx"];

const nameIn = (p: Payload, intake: IntakeFacts): string | undefined => asString(p["hookEventName"]) ?? intake.event;

function callIdIn(p: Payload): string | undefined {
  const step = asCount(p["stepIdx"]);
  return step === undefined ? undefined : `step-${step}`;
}

function callIn(p: Payload) {
  const callId = callIdIn(p);
  return { key: callId, tool: { name: asString(asObject(p["toolCall"])?.["name"]), callId } } satisfies Members;
}
