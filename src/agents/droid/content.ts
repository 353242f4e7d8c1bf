import type { Content } from "#core/model/content.ts";
import type { TranscriptEntry } from "#core/model/transcript.ts";
import { contentOf, plainText } from "../shared/payload/content.ts";
import { asArray, asObject, parsedObject } from "../shared/payload/json.ts";

/** The content of a line, for the facts that were read from it. */
export function lineContent(line: Buffer, entries: readonly TranscriptEntry[]): readonly Content[] {
  if (!entries.some(({ kind }) => KINDS_WITH_CONTENT.has(kind))) return [];
  const blocks = asArray(asObject(parsedObject(line)?.["message"])?.["content"]).map(asObject);
  return entries.flatMap((entry): readonly Content[] => {
    switch (entry.kind) {
      case "prompt":
        return contentOf(entry.key, "prompt", plainText(blocks));
      case "tool_use":
        return contentOf(entry.key, "arguments", blocks.find((block) => block?.["id"] === entry.callId)?.["input"]);
      case "tool_result": {
        const content = blocks.find((block) => block?.["tool_use_id"] === entry.callId)?.["content"];
        return contentOf(entry.key, "result", plainText(content) ?? content);
      }
      default:
        return [];
    }
  });
}

// --- internal ---

const KINDS_WITH_CONTENT: ReadonlySet<string> = new Set(["prompt", "tool_use", "tool_result"]);
