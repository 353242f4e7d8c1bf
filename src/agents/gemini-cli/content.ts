import type { Content } from "#core/model/content.ts";
import type { TranscriptEntry } from "#core/model/transcript.ts";
import { hasGivenId } from "#core/rules/call-ids.ts";
import { toolCallPart } from "#core/rules/keys.ts";
import { textOf } from "../shared/gemini/tool-result.ts";
import { answerPiece, contentOf, plainText } from "../shared/payload/content.ts";
import { asArray, asObject, asString, type Fields } from "../shared/payload/json.ts";

/** Content of a message, for the entries that were read from it. Thoughts are left out. */
export function messageContent(o: Fields, entries: readonly TranscriptEntry[]): readonly Content[] {
  const calls = asArray(o["toolCalls"]).map((call) => asObject(call) ?? {});
  const callOf = (callId: string): Fields => calls.find((call) => hasGivenId(callId, String(call["id"]))) ?? {};
  return entries.flatMap((entry): readonly Content[] => {
    switch (entry.kind) {
      case "prompt":
        return contentOf(entry.key, "prompt", promptOf(o["content"]));
      case "model_call":
        return [
          ...answerPiece(entry.key, textOf(o["content"])),
          ...calls.flatMap((call) => {
            const [id, name] = [asString(call["id"]), asString(call["name"])];
            return id === undefined || name === undefined ? [] : answerPiece(entry.key, toolCallPart(id, name));
          }),
        ];
      case "tool_use":
        return contentOf(entry.key, "arguments", callOf(entry.callId)["args"]);
      case "tool_result":
        return contentOf(entry.key, "result", resultOf(callOf(entry.callId)));
      default:
        return [];
    }
  });
}

// --- internal ---

/** The prompt, without context that hooks added. */
function promptOf(content: unknown): string | undefined {
  const parts = Array.isArray(content) ? content : [content];
  return plainText(parts.filter((part) => !/^<hook_context>/.test(textOf(part) ?? "")));
}

/** What the model received: the output, an error, or the tool's whole response. */
function resultOf(call: Fields): unknown {
  for (const part of asArray(call["result"])) {
    const response = asObject(asObject(asObject(part)?.["functionResponse"])?.["response"]);
    if (response !== undefined) return asString(response["output"]) ?? asString(response["error"]) ?? response;
  }
  return call["result"] ?? call["resultDisplay"];
}
