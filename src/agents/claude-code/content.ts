import type { Content } from "#core/model/content.ts";
import type { TranscriptEntry } from "#core/model/transcript.ts";
import { hasGivenId } from "#core/rules/call-ids.ts";
import { toolCallPart } from "#core/rules/keys.ts";
import { answerPiece, contentOf, plainText } from "../shared/payload/content.ts";
import { asArray, asObject, asString } from "../shared/payload/json.ts";
import { parsedLine } from "./lines.ts";
import { typedText } from "./texts.ts";

/** The content of a transcript line, for the entries that were read from it. Thinking is not part of an answer. */
export function lineContent(line: Buffer, entries: readonly TranscriptEntry[]): readonly Content[] {
  if (!entries.some(({ kind }) => KINDS_WITH_CONTENT.has(kind))) return [];
  const o = parsedLine(line);
  const blocks = asObject(o?.["message"])?.["content"];
  const blockOf = (name: string, callId: string) =>
    asArray(blocks)
      .map(asObject)
      .find((block) => hasGivenId(callId, asString(block?.[name]) ?? ""));
  return entries.flatMap((entry): readonly Content[] => {
    switch (entry.kind) {
      case "prompt":
        return contentOf(entry.key, "prompt", promptText(plainText(blocks)));
      case "tool_use":
        return contentOf(entry.key, "arguments", blockOf("id", entry.callId)?.["input"]);
      case "tool_result": {
        const text = plainText(blockOf("tool_use_id", entry.callId)?.["content"]);
        return contentOf(entry.key, "result", text ?? asString(o?.["toolUseResult"]));
      }
      case "model_call":
        return asArray(blocks).flatMap((block) => messageText(entry.key, block));
      default:
        return [];
    }
  });
}

// --- internal ---

const KINDS_WITH_CONTENT: ReadonlySet<string> = new Set(["prompt", "tool_use", "tool_result", "model_call"]);

/** As hooks report it. */
const promptText = (text: string | undefined): string | undefined => typedText(text) ?? text;

function messageText(key: string, block: unknown): readonly Content[] {
  const b = asObject(block);
  if (b?.["type"] === "text") return answerPiece(key, asString(b["text"]));
  const [id, name] = [asString(b?.["id"]), asString(b?.["name"])];
  return id === undefined || name === undefined ? [] : answerPiece(key, toolCallPart(id, name));
}
