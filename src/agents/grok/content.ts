import type { Content, ContentUpdate } from "#core/model/content.ts";
import type { TranscriptEntry } from "#core/model/transcript.ts";
import { pendingKey } from "#core/rules/keys.ts";
import { contentOf, plainText } from "../shared/payload/content.ts";
import { asObject, asString, parsedObject } from "../shared/payload/json.ts";
import { shownResult } from "./adapter.ts";
import type { LineState } from "./line-context.ts";

/** The content of a line, for the facts that were read from it. Answers are in the hooks. */
export function lineContent(
  line: Buffer,
  entries: readonly TranscriptEntry[],
  { prompt, turn }: LineState,
): readonly ContentUpdate[] {
  const isPrompt = line.includes('"user_message_chunk"');
  if (!isPrompt && !entries.some(({ kind }) => KINDS_WITH_CONTENT.has(kind))) return [];
  const update = asObject(asObject(parsedObject(line)?.["params"])?.["update"]);
  const isWaiting = isPrompt && prompt !== undefined && !entries.some(({ kind }) => kind === "prompt");
  const text = plainText(update?.["content"]);
  if (isWaiting) return contentOf(pendingKey(prompt.key), "prompt", text);
  return entries.flatMap((entry): readonly ContentUpdate[] => {
    switch (entry.kind) {
      case "prompt":
        if (isPrompt) return contentOf(entry.key, "prompt", text);
        // A later line named the prompt's id
        return turn?.claims === undefined ? [] : [{ fact: entry.key, claims: pendingKey(turn.claims) }];
      case "tool_use":
        return contentOf(entry.key, "arguments", update?.["rawInput"]);
      case "tool_result":
        return resultContent(entry.key, update);
      default:
        return [];
    }
  });
}

// --- internal ---

const KINDS_WITH_CONTENT: ReadonlySet<string> = new Set(["prompt", "tool_use", "tool_result"]);

function resultContent(key: string, update: Readonly<Record<string, unknown>> | undefined): readonly Content[] {
  const shown = shownResult(update?.["rawOutput"]);
  return contentOf(key, "result", asString(shown) ?? plainText(update?.["content"]) ?? shown);
}
