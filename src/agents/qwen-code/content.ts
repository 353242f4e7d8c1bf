import type { Content } from "#core/model/content.ts";
import type { TranscriptEntry } from "#core/model/transcript.ts";
import { hasGivenId } from "#core/rules/call-ids.ts";
import { toolCallPart } from "#core/rules/keys.ts";
import { answerPiece, contentOf, plainText } from "../shared/payload/content.ts";
import { asObject, asString, type Fields, parsedObject } from "../shared/payload/json.ts";
import { functionCalls, promptText } from "./lines.ts";
import { responseOf } from "./tool-calls.ts";

/** Content of a line, for the entries that were read from it. Thoughts are left out. */
export function lineContent(line: Buffer, entries: readonly TranscriptEntry[]): readonly Content[] {
  if (entries.length === 0) return [];
  const o = parsedObject(line) ?? {};
  const event = asObject(asObject(o["systemPayload"])?.["uiEvent"]) ?? {};
  const calls = functionCalls(o);
  return entries.flatMap((entry): readonly Content[] => {
    switch (entry.kind) {
      case "prompt":
        return contentOf(entry.key, "prompt", promptText(o) ?? plainText(asObject(o["message"])?.["parts"]));
      case "model_call":
        return [
          ...(event["event.name"] === "qwen-code.api_response" ? answerPiece(entry.key, event["response_text"]) : []),
          ...calls.flatMap((call) => callPart(entry.key, call)),
        ];
      case "tool_use": {
        const call = calls.find(({ id }) => hasGivenId(entry.callId, String(id)));
        return contentOf(entry.key, "arguments", call?.["args"] ?? event["function_args"]);
      }
      case "tool_result": {
        if (o["type"] !== "tool_result") return [];
        const { response } = responseOf(o);
        return contentOf(entry.key, "result", response["output"] ?? response["error"]);
      }
      default:
        return [];
    }
  });
}

// --- internal ---

function callPart(key: string, call: Fields): readonly Content[] {
  const [id, name] = [asString(call["id"]), asString(call["name"])];
  return id === undefined || name === undefined ? [] : answerPiece(key, toolCallPart(id, name));
}
