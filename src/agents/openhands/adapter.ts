// openhands/sdk/hooks of openhands-sdk 1.21.0 and recordings of OpenHands CLI 1.16.0, read 2026-11-26

import type { PayloadFacts } from "#core/model/agent.ts";
import type { Content } from "#core/model/content.ts";
import { executableOf } from "../shared/names/executables.ts";
import { skillOf } from "../shared/names/skill.ts";
import { adapterOf, type Members, type Payload } from "../shared/payload/adapter-of.ts";
import { contentOfEvents } from "../shared/payload/content.ts";
import { momentKey } from "../shared/payload/identity.ts";
import { asCode, asObject, asString } from "../shared/payload/json.ts";
import { actionDigest, isCorrection } from "./inputs.ts";
import { outcomeIn } from "./outcome.ts";

export const adapter = adapterOf({
  source: "openhands",
  // Certain by three members that every payload has and no other agent sends together
  recognises: { members: [["event_type", "working_dir", "metadata"]] },
  events: {
    SessionStart: { type: "session.start" },
    UserPromptSubmit: {
      type: "prompt.submit",
      read(p) {
        const prompt = asString(p["message"]);
        return {
          promptLength: prompt?.length,
          extras: { prompt_origin: isCorrection(prompt) ? "machine" : undefined },
        };
      },
    },
    PreToolUse: {
      type: "tool.start",
      read(p) {
        const { tool, extras } = callIn(p);
        // The event file is written as soon as the hooks have run
        return { tool, extras: { ...extras, in_transcript: true } };
      },
    },
    PostToolUse: {
      type: "tool.end",
      read(p) {
        const { tool, extras } = callIn(p);
        const { status, exitCode } = outcomeIn(p["tool_response"]);
        return {
          tool: { ...tool, status },
          // The ends of parallel calls are reported together, after the last of them
          extras: { ...extras, exit_code: exitCode, status_origin: "native", reported_late: true },
        };
      },
    },
    Stop: {
      type: "turn.end",
      read: (p) => ({ extras: { native_reason: asCode(asObject(p["metadata"])?.["reason"]) } }),
    },
    SessionEnd: { type: "session.end", read: () => ({ reason: "completed" }) },
  },
  fields: "event_type tool_name tool_input tool_response message session_id working_dir metadata",
  nameIn: ["event_type"],
  inAnyCase: true,
  cwdOf: (p) => asString(p["working_dir"]),
  // No payload has a time or a call's id, and a session can send equal ones
  keyOf: momentKey,
});

/** Prompts, inputs and results. */
export function toContent(payload: unknown, { events }: PayloadFacts): readonly Content[] {
  const p = asObject(payload);
  if (p === undefined) return [];
  return contentOfEvents(events, {
    prompt: p["message"],
    arguments: p["tool_input"],
    result: p["tool_response"],
  });
}

// --- internal ---

const callIn = (p: Payload) =>
  ({
    tool: { name: asString(p["tool_name"]) },
    extras: {
      input_digest: actionDigest(p["tool_input"]),
      executable: executableOf(asObject(p["tool_input"])?.["command"]),
      skill: skillOf(asString(p["tool_name"]), p["tool_input"]),
    },
  }) satisfies Members;
