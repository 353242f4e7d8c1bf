import type { PayloadFacts } from "#core/model/agent.ts";
import type { Content } from "#core/model/content.ts";
import type { TranscriptEntry } from "#core/model/transcript.ts";
import { hasGivenId } from "#core/rules/call-ids.ts";
import { toolCallPart } from "#core/rules/keys.ts";
import { answerPiece, contentOf, contentOfEvents, plainText } from "../shared/payload/content.ts";
import { asArray, asObject, asString, parsedJson } from "../shared/payload/json.ts";
import { type Message, typedText } from "./messages.ts";

/** Content of a hook payload: the CLI's form first, then the extension's. */
export function toContent(payload: unknown, { events }: PayloadFacts): readonly Content[] {
  const p = asObject(payload) ?? {};
  const call = asObject(p["tool_call"]) ?? asObject(p["tool_result"]);
  const result = asObject(p["tool_result"]);
  const plain = asObject(p["preToolUse"]) ?? asObject(p["postToolUse"]);
  return contentOfEvents(events, {
    prompt: asObject(p["userPromptSubmit"])?.["prompt"],
    arguments: call?.["input"] ?? plain?.["parameters"],
    result: result?.["output"] ?? result?.["error"] ?? parsedJson(asObject(p["postToolUse"])?.["result"]),
    answer: asObject(p["turn"])?.["outputText"],
  });
}

/** Content of a message, for the entries that were read from it. */
export function messageContent(message: Message, entries: readonly TranscriptEntry[]): readonly Content[] {
  const blocks = asArray(message["content"]).map((block) => asObject(block) ?? {});
  const activities = asArray(asObject(message["metadata"])?.["modelToolActivities"]).map((one) => asObject(one) ?? {});
  const activityOf = (callId: string) => activities.find((one) => hasGivenId(callId, String(one["toolCallId"])));
  return entries.flatMap((entry): readonly Content[] => {
    switch (entry.kind) {
      case "prompt":
        return contentOf(entry.key, "prompt", typedText(message));
      case "model_call":
        return typeof message["content"] === "string"
          ? answerPiece(entry.key, message["content"])
          : blocks.flatMap((block) => answerPieces(entry.key, block));
      case "tool_use": {
        const block = blocks.find((one) => one["type"] === "tool_use" && hasGivenId(entry.callId, String(one["id"])));
        return contentOf(entry.key, "arguments", (block ?? activityOf(entry.callId))?.["input"]);
      }
      case "tool_result": {
        const block = blocks.find(
          (one) => one["type"] === "tool_result" && hasGivenId(entry.callId, String(one["tool_use_id"])),
        );
        const given = block?.["content"] ?? activityOf(entry.callId)?.["output"];
        return contentOf(entry.key, "result", parsedJson(plainText(given) ?? given));
      }
      default:
        return [];
    }
  });
}

// --- internal ---

function answerPieces(key: string, block: Message): readonly Content[] {
  if (block["type"] === "text") return answerPiece(key, asString(block["text"]));
  const [id, name] = [asString(block["id"]), asString(block["name"])];
  if (block["type"] !== "tool_use" || id === undefined || name === undefined) return [];
  return answerPiece(key, toolCallPart(id, name));
}
