import type { PayloadFacts } from "#core/model/agent.ts";
import type { Content } from "#core/model/content.ts";
import { contentOfEvents } from "../shared/payload/content.ts";
import { asObject } from "../shared/payload/json.ts";

/** Content of either contract's payload; a subagent's task and result belong to its call. */
export function toContent(payload: unknown, { events }: PayloadFacts): readonly Content[] {
  const p = asObject(payload) ?? {};
  const input = asObject(p["tool_input"]);
  return contentOfEvents(events, {
    prompt: p["prompt"] ?? input?.["prompt"],
    arguments: p["tool_input"] ?? (p["task"] === undefined ? undefined : { task: p["task"] }),
    result: p["tool_response"] ?? p["tool_output"] ?? p["result"] ?? p["error"],
    answer: p["last_assistant_message"],
  });
}
