// https://docs.augmentcode.com/cli/hooks.md and the program 0.36.0, read 2026-11-26; not run

import type { Recognition } from "#core/model/agent.ts";
import type { Event, Extras, NativeEventType } from "#core/model/event-schema.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import type { TranscriptEntry } from "#core/model/transcript.ts";
import { defined } from "#kit/defined.ts";
import { executableOf } from "../shared/names/executables.ts";
import { first } from "../shared/payload/claude-like.ts";
import { inputDigest } from "../shared/payload/digest.ts";
import { payloadDigest } from "../shared/payload/identity.ts";
import { asArray, asCode, asObject, asString, asTimeMs, ownOf } from "../shared/payload/json.ts";
import { type Marks, recogniseByMarks } from "../shared/payload/marks.ts";
import { eventOf, sessionOf } from "../shared/payload/payload-event.ts";

export const SOURCE = "auggie";

export const EVENTS = {
  SessionStart: "session.start",
  SessionEnd: "session.end",
  PromptSubmit: "prompt.submit",
  PreToolUse: "tool.start",
  PostToolUse: "tool.end",
  Stop: "turn.end",
} as const satisfies Readonly<Record<string, NativeEventType>>;

/** Certain by its conversation: the variable with its id, or the two members that Cursor has too, which always names its version. */
export const recognises = (payload: unknown, intake: IntakeFacts): Recognition =>
  recogniseByMarks(MARKS, payload, intake);

const MARKS: Marks = {
  isOwn: (p, { env }) => {
    const id = asString(p["conversation_id"]);
    if (id === undefined || p["cursor_version"] !== undefined || p["generation_id"] !== undefined) return false;
    if (id === env["AUGMENT_CONVERSATION_ID"]) return true;
    return Array.isArray(p["workspace_roots"]) && typeIn(p) !== undefined;
  },
};

/** One payload → its event. No payload has a call's id or, by default, a time: equal payloads differ only in their arrival. */
export function toEvents(payload: unknown, intake: IntakeFacts): readonly Event[] {
  const p = asObject(payload);
  const type = p === undefined ? undefined : typeIn(p, intake);
  if (p === undefined || type === undefined) return [];
  const cwd = asString(asArray(p["workspace_roots"])[0]);
  const isTool = type === "tool.start" || type === "tool.end";
  const outcome = type === "tool.end" ? outcomeIn(p) : undefined;
  const context = asObject(p["context"]);
  const cause = type === "turn.end" ? asCode(p["agent_stop_cause"]) : undefined;
  return [
    eventOf(
      {
        source: SOURCE,
        type: cause === "error" ? "turn.error" : type,
        native: nameIn(p, intake) ?? "",
        session: sessionOf(SOURCE, intake, {
          payload: p["conversation_id"],
          environment: intake.env["AUGMENT_CONVERSATION_ID"],
          cwd,
        }),
        cwd,
        timeMs: asTimeMs(context?.["timestamp"]),
        // Two equal payloads are two events, unless they arrive at the same time, from two registrations
        key: `${intake.timeMs}:${payloadDigest(payload)}`,
        reason: "completed",
        promptLength: type === "prompt.submit" ? asString(p["user_prompt"])?.length : undefined,
        ...(isTool && { tool: { name: asString(p["tool_name"]), status: outcome?.status } }),
        extras: defined<Extras>({
          agent_version: asString(context?.["toolVersion"]),
          ...(isTool && {
            input_digest: inputDigest(p["tool_input"]),
            executable: executableOf(asObject(p["tool_input"])?.["command"]),
            exit_code: outcome?.exitCode,
            status_origin: outcome === undefined ? undefined : "native",
          }),
          error_type: cause === "error" ? "_OTHER" : undefined,
        }),
      },
      intake,
    ),
  ];
}

/** A turn that the user interrupted, if Auggie sends its end: documentation and program disagree on whether it does. */
export function toEntries(payload: unknown, intake: IntakeFacts): readonly TranscriptEntry[] {
  const p = asObject(payload);
  if (p === undefined || typeIn(p, intake) !== "turn.end" || p["agent_stop_cause"] !== "interrupted") return [];
  return [{ kind: "interruption", key: `interruption:${intake.timeMs}`, timeMs: intake.timeMs }];
}

/** The exit code in a command's output, as the program itself finds it. */
export function exitCodeIn(output: unknown): number | undefined {
  const code = /<return-code>\s*(\d{1,10})\s*<\/return-code>/.exec(asString(output)?.slice(0, MAX_HEAD) ?? "")?.[1];
  return code === undefined ? undefined : Number(code);
}

// --- internal ---

type Fields = Readonly<Record<string, unknown>>;

/** The exit code precedes the output. */
const MAX_HEAD = 2_000;

/** `hook_type` in the second generation of the program, whose payloads have no conversation. */
const nameIn = (p: Fields, intake?: IntakeFacts): string | undefined =>
  first(p, ["hook_event_name", "hook_type"]) ?? intake?.event;

const typeIn = (p: Fields, intake?: IntakeFacts): NativeEventType | undefined => ownOf(EVENTS, nameIn(p, intake));

function outcomeIn(p: Fields): { readonly status: "success" | "error"; readonly exitCode?: number } {
  const exitCode = exitCodeIn(p["tool_output"] ?? p["tool_result"]);
  const isFailed = asString(p["tool_error"]) !== undefined || p["tool_is_error"] === true;
  return {
    status: isFailed || (exitCode !== undefined && exitCode !== 0) ? "error" : "success",
    ...(exitCode !== undefined && { exitCode }),
  };
}
