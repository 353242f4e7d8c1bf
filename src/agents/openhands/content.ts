import type { Content } from "#core/model/content.ts";
import type { TranscriptEntry } from "#core/model/transcript.ts";
import { toolCallPart } from "#core/rules/keys.ts";
import { answerPiece, contentOf, plainText } from "../shared/payload/content.ts";
import type { Fields } from "./event-files.ts";
import { messageText, observationText } from "./walk.ts";

/** The content of an event, for the entries that were read from it. Reasoning is left out. */
export function eventContent(event: Fields, entries: readonly TranscriptEntry[]): readonly Content[] {
  const use = entries.find((entry) => entry.kind === "tool_use");
  return entries.flatMap((entry): readonly Content[] => {
    switch (entry.kind) {
      case "prompt":
        return contentOf(entry.key, "prompt", messageText(event));
      case "model_call": {
        const text =
          event["kind"] === "Condensation" ? event["summary"] : (messageText(event) ?? plainText(event["thought"]));
        const call = use === undefined ? [] : answerPiece(entry.key, toolCallPart(use.callId, use.name));
        return [...answerPiece(entry.key, text), ...call];
      }
      case "tool_use":
        return contentOf(entry.key, "arguments", event["action"]);
      case "tool_result":
        return entry.status === "unfinished" ? [] : contentOf(entry.key, "result", observationText(event));
      default:
        return [];
    }
  });
}
