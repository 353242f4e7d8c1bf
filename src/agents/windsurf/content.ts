import type { PayloadFacts } from "#core/model/agent.ts";
import type { Content } from "#core/model/content.ts";
import { contentOfEvents, firstOf } from "../shared/payload/content.ts";
import { asObject } from "../shared/payload/json.ts";

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
