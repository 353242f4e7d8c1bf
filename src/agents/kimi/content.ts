import type { Content } from "#core/model/content.ts";
import type { TranscriptEntry } from "#core/model/transcript.ts";
import { hasGivenId } from "#core/rules/call-ids.ts";
import { toolCallPart } from "#core/rules/keys.ts";
import { answerPiece, contentOf, plainText } from "../shared/payload/content.ts";
import { asObject, asString, parsedObject } from "../shared/payload/json.ts";
import type { WireState } from "./line-context.ts";
import { loopEvent } from "./lines.ts";

/** Content of a line, for the entries that were read from it and for the current answer. Thoughts are left out. */
export function lineContent(
  line: Buffer,
  entries: readonly TranscriptEntry[],
  { answer }: WireState,
): readonly Content[] {
  const o = parsedObject(line) ?? {};
  const event = loopEvent(o);
  if (event["type"] === "content.part") {
    const part = asObject(event["part"]);
    return answer === undefined || part?.["type"] !== "text" ? [] : answerPiece(answer.place.key, part["text"]);
  }
  return entries.flatMap((entry): readonly Content[] => {
    switch (entry.kind) {
      case "prompt":
        return contentOf(entry.key, "prompt", plainText(o["input"]));
      case "model_call": {
        const [id, name] = [asString(event["toolCallId"]), asString(event["name"])];
        return id === undefined || name === undefined ? [] : answerPiece(entry.key, toolCallPart(id, name));
      }
      case "tool_use":
        return hasGivenId(entry.callId, String(event["toolCallId"]))
          ? contentOf(entry.key, "arguments", event["args"])
          : [];
      case "tool_result":
        return contentOf(entry.key, "result", asObject(event["result"])?.["output"]);
      default:
        return [];
    }
  });
}
