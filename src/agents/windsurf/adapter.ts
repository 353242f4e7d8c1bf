// https://docs.windsurf.com/windsurf/cascade/hooks, read 2026-11-21

import type { Recognition } from "#core/model/agent.ts";
import type { Event, Extras } from "#core/model/event-schema.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import { defined } from "#kit/defined.ts";
import { executableOf } from "../shared/names/executables.ts";
import { arrivalKey } from "../shared/payload/derived-ids.ts";
import { inputDigest } from "../shared/payload/digest.ts";
import { payloadDigest } from "../shared/payload/identity.ts";
import { asObject, asString, asTimeMs } from "../shared/payload/json.ts";
import { eventOf, type PayloadEvent } from "../shared/payload/payload-event.ts";

export const SOURCE = "windsurf";

export function recognises(payload: unknown): Recognition {
  const p = asObject(payload);
  return asString(p?.["agent_action_name"]) === undefined || asString(p?.["trajectory_id"]) === undefined
    ? "no"
    : "certain";
}

/** `pre_` and `post_` pairs are tool calls; there are no events for failures or for a session's start or end. */
export function toEvents(payload: unknown, intake: IntakeFacts): readonly Event[] {
  const p = asObject(payload);
  const native = asString(p?.["agent_action_name"]);
  const sessionId = asString(p?.["trajectory_id"]);
  if (p === undefined || native === undefined || sessionId === undefined) return [];
  const info = asObject(p["tool_info"]) ?? {};
  const timeMs = asTimeMs(p["timestamp"]);
  const base = {
    source: SOURCE,
    native,
    session: { id: sessionId },
    timeMs,
    key: timeMs === undefined ? arrivalKey(intake) : payloadDigest(payload),
  } satisfies Partial<PayloadEvent>;

  if (native === "pre_user_prompt") {
    const prompt = asString(info["user_prompt"]);
    return [eventOf({ ...base, type: "prompt.submit", promptLength: prompt?.length }, intake)];
  }
  // If both names are registered, the second one reports the same end again
  if (native.startsWith("post_cascade_response")) return [eventOf({ ...base, type: "turn.end" }, intake)];
  const [, phase, action] = /^(pre|post)_(read_code|write_code|run_command|mcp_tool_use)$/.exec(native) ?? [];
  if (phase === undefined || action === undefined) return [];
  const server = asString(info["mcp_server_name"]);
  const tool = asString(info["mcp_tool_name"]);
  const name = action === "mcp_tool_use" ? `mcp:${server ?? ""}/${tool ?? ""}` : action;
  const extras = defined<Extras>({
    input_digest: inputDigest(sharedMembers(p, info)),
    mcp_server: server,
    executable: executableOf(info["command_line"]),
    status_origin: phase === "post" ? "assumed" : undefined,
  });
  return [
    phase === "pre"
      ? eventOf({ ...base, type: "tool.start", tool: { name }, extras }, intake)
      : eventOf({ ...base, type: "tool.end", tool: { name, status: "success" }, extras }, intake),
  ];
}

// --- internal ---

/** Members that a call's start and end share. An execution id identifies a call or a whole turn. */
const sharedMembers = (p: Readonly<Record<string, unknown>>, info: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(
    [
      ["execution_id", p["execution_id"]],
      ...["command_line", "file_path", "mcp_server_name", "mcp_tool_name", "mcp_tool_arguments"].map(
        (name): [string, unknown] => [name, info[name]],
      ),
    ].filter(([, value]) => value !== undefined),
  );
