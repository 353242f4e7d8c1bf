import type { PayloadFacts } from "#core/model/agent.ts";
import type { Content } from "#core/model/content.ts";
import { answerPiece, contentOfEvents, firstOf } from "../shared/payload/content.ts";
import { asObject, asString, parsedJson } from "../shared/payload/json.ts";

/**
 * Content of a payload. A response has no event in the turn, so its text is attached to the turn's usage, in versions that report
 * usage.
 */
export function toContent(payload: unknown, { events, entries }: PayloadFacts): readonly Content[] {
  const p = asObject(payload) ?? {};
  const text = asString(p["text"]);
  const usage = entries.find(({ kind }) => kind === "model_call");
  const command = asString(p["command"]);
  return [
    ...contentOfEvents(events, {
      prompt: p["prompt"],
      arguments: p["tool_input"] ?? (command === undefined ? undefined : { command }),
      result: parsedJson(firstOf(p, ["tool_output", "tool_response", "error_message", "error"])),
      answer: firstOf(p, ["last_assistant_message", "summary"]),
    }),
    ...(usage === undefined || text === undefined ? [] : answerPiece(usage.key, text)),
  ];
}
