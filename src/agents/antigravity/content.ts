import type { PayloadFacts } from "#core/model/agent.ts";
import type { Content } from "#core/model/content.ts";
import { contentOfEvents, firstOf } from "../shared/payload/content.ts";
import { asObject } from "../shared/payload/json.ts";

/** Content of tool calls only, because there is no prompt event. */
export function toContent(payload: unknown, { events }: PayloadFacts): readonly Content[] {
  const p = asObject(payload) ?? {};
  return contentOfEvents(events, {
    arguments: asObject(p["toolCall"])?.["args"],
    result: firstOf(p, ["toolResult", "result", "error"]),
  });
}
