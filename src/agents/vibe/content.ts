import type { Content } from "#core/model/content.ts";
import type { TranscriptEntry } from "#core/model/transcript.ts";
import { hasGivenId } from "#core/rules/call-ids.ts";
import { toolCallPart } from "#core/rules/keys.ts";
import { answerPiece, contentOf, plainText } from "../shared/payload/content.ts";
import { asArray, asObject, asString, type Fields, parsedJson, parsedObject } from "../shared/payload/json.ts";
import { fieldsIn } from "./journal-state.ts";

/** Content of a line, for the entries that were read from it. Thoughts are left out. */
export function lineContent(line: Buffer, entries: readonly TranscriptEntry[]): readonly Content[] {
  if (entries.length === 0) return [];
  const payload = fieldsIn(parsedObject(line), "payload");
  const event = fieldsIn(fieldsIn(payload, "input"), "command");
  const request = fieldsIn(payload, "request");
  const result = fieldsIn(event, "result");
  const parts = asArray(result["parts"]).map((part) => asObject(part) ?? {});
  return entries.flatMap((entry): readonly Content[] => {
    switch (entry.kind) {
      case "prompt":
        return contentOf(entry.key, "prompt", plainText(event["content"]));
      case "model_call":
        return parts.flatMap((part) => piece(entry.key, part));
      case "tool_use": {
        const call = parts.find((part) => hasGivenId(entry.callId, String(part["id"])));
        const given = call === undefined ? fieldsIn(request, "call")["arguments"] : parsedJson(call["arguments_json"]);
        return contentOf(entry.key, "arguments", given);
      }
      case "tool_result":
        return contentOf(entry.key, "result", outputOf(result) ?? messageFor(request, entry.callId));
      default:
        return [];
    }
  });
}

// --- internal ---

function piece(key: string, part: Fields): readonly Content[] {
  if (part["type"] === "text") return answerPiece(key, part["text"]);
  const [id, name] = [asString(part["id"]), asString(part["name"])];
  return part["type"] === "tool_call" && id !== undefined && name !== undefined
    ? answerPiece(key, toolCallPart(id, name))
    : [];
}

const outputOf = (result: Fields): unknown =>
  result["structured_content"] ?? plainText(result["content"]) ?? asString(fieldsIn(result, "error")["message"]);

function messageFor(request: Fields, callId: string): unknown {
  const messages = asArray(fieldsIn(fieldsIn(request, "model_input"), "messages")["messages"]);
  const own = messages
    .map((message) => asObject(message) ?? {})
    .find((message) => hasGivenId(callId, String(message["tool_call_id"])));
  return plainText(own?.["content"]);
}
