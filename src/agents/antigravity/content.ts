import type { PayloadFacts } from "../../model/agent.ts";
import type { Content } from "../../model/content.ts";
import { contentOfEvents, firstOf } from "../shared/payload/content.ts";
import { asObject } from "../shared/payload/json.ts";

/** What a payload says: of tool calls alone, since there is no event of a prompt. */
export function toContent(payload: unknown, { events }: PayloadFacts): readonly Content[] {
  const p = asObject(payload) ?? {};
  return contentOfEvents(events, {
    arguments: asObject(p["toolCall"])?.["args"],
    result: firstOf(p, ["toolResult", "result", "error"]),
  });
}
