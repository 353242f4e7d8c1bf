// https://docs.windsurf.com/windsurf/cascade/hooks, read 2026-11-21

import type { PayloadFacts } from "#core/model/agent.ts";
import type { Content } from "#core/model/content.ts";
import { executableOf } from "../shared/names/executables.ts";
import { adapterOf, type EventRow, type Members, type Payload } from "../shared/payload/adapter-of.ts";
import { contentOfEvents, firstOf } from "../shared/payload/content.ts";
import { inputDigest } from "../shared/payload/digest.ts";
import { arrivalKey, payloadDigest } from "../shared/payload/identity.ts";
import { asObject, asString, asTimeMs } from "../shared/payload/json.ts";

const starts = (action: string): EventRow => ({ type: "tool.start", read: (p) => callIn(p, action) });

const ends = (action: string): EventRow => ({
  type: "tool.end",
  read(p) {
    const { tool, extras } = callIn(p, action);
    return { tool: { ...tool, status: "success" }, extras: { ...extras, status_origin: "assumed" } };
  },
});

export const adapter = adapterOf({
  source: "windsurf",
  recognises: (payload) =>
    ["agent_action_name", "trajectory_id"].some((name) => asString(asObject(payload)?.[name]) === undefined)
      ? "no"
      : "certain",
  // `pre_` and `post_` pairs are tool calls; there are no events for failures or for a session's start or end
  events: {
    pre_user_prompt: {
      type: "prompt.submit",
      read: (p) => ({ promptLength: asString(infoIn(p)["user_prompt"])?.length }),
    },
    pre_read_code: starts("read_code"),
    post_read_code: ends("read_code"),
    pre_write_code: starts("write_code"),
    post_write_code: ends("write_code"),
    pre_run_command: starts("run_command"),
    post_run_command: ends("run_command"),
    pre_mcp_tool_use: starts("mcp_tool_use"),
    post_mcp_tool_use: ends("mcp_tool_use"),
    // If both names are registered, the second one reports the same end again
    post_cascade_response: { type: "turn.end" },
    post_cascade_response_with_transcript: { type: "turn.end" },
  },
  notNeeded: "post_setup_worktree",
  fields: "agent_action_name trajectory_id execution_id timestamp model_name tool_info",
  nameIn: ["agent_action_name"],
  sessionIn: ["trajectory_id"],
  cwdOf: () => undefined,
  timeOf: (p) => asTimeMs(p["timestamp"]),
  keyOf: (p, intake) => (asTimeMs(p["timestamp"]) === undefined ? arrivalKey(intake) : payloadDigest(p)),
});

/** Content of a payload. The result is in the same object as the arguments. */
export function toContent(payload: unknown, { events }: PayloadFacts): readonly Content[] {
  const info = asObject(asObject(payload)?.["tool_info"]) ?? {};
  const { mcp_result: _, response: __, ...given } = info;
  return contentOfEvents(events, {
    prompt: info["user_prompt"],
    arguments: given,
    result: info["mcp_result"],
    answer: firstOf(info, ["response", "cascade_response"]),
  });
}

// --- internal ---

const infoIn = (p: Payload): Payload => asObject(p["tool_info"]) ?? {};

function callIn(p: Payload, action: string) {
  const info = infoIn(p);
  const server = asString(info["mcp_server_name"]);
  const tool = asString(info["mcp_tool_name"]);
  return {
    tool: { name: action === "mcp_tool_use" ? `mcp:${server ?? ""}/${tool ?? ""}` : action },
    extras: {
      input_digest: inputDigest(sharedMembers(p, info)),
      mcp_server: server,
      executable: executableOf(info["command_line"]),
    },
  } satisfies Members;
}

/** Members that a call's start and end share. An execution id identifies a call or a whole turn. */
const sharedMembers = (p: Payload, info: Payload) =>
  Object.fromEntries(
    [
      ["execution_id", p["execution_id"]],
      ...["command_line", "file_path", "mcp_server_name", "mcp_tool_name", "mcp_tool_arguments"].map(
        (name): [string, unknown] => [name, info[name]],
      ),
    ].filter(([, value]) => value !== undefined),
  );
