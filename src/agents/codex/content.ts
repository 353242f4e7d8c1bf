import type { ContentUpdate } from "#core/model/content.ts";
import type { TranscriptEntry } from "#core/model/transcript.ts";
import { pendingKey, toolCallPart } from "#core/rules/keys.ts";
import { answerPiece, contentOf, plainText } from "../shared/payload/content.ts";
import { asObject, parsedJson } from "../shared/payload/json.ts";
import type { LineState } from "./line-context.ts";

/**
 * The content of a rollout line, for the entries that were read from it. The lines of an answer precede the line of its usage; an
 * answer that was cut off is followed only by the end of the turn.
 *
 * @param state after the line
 */
export function lineContent(
  line: Buffer,
  entries: readonly TranscriptEntry[],
  state: LineState,
): readonly ContentUpdate[] {
  if (state.copied === true) return [];
  const isSpoken = entries.length === 0 && isAnswer(line.toString("latin1", 0, HEAD_BYTES));
  if (!isSpoken && !entries.some(({ kind }) => KINDS_WITH_CONTENT.has(kind))) return [];
  const p = asObject(asObject(parsedJson(line.toString("utf8")))?.["payload"]) ?? {};
  const answer = pendingKey(`answer:${state.threadId ?? ""}`);
  if (isSpoken) return answerPiece(answer, plainText(p["content"]));
  return entries.flatMap((entry): readonly ContentUpdate[] => {
    switch (entry.kind) {
      case "prompt":
        return contentOf(entry.key, "prompt", plainText(p["message"] ?? asObject(p["item"])?.["content"]));
      case "tool_use":
        return [
          ...contentOf(entry.key, "arguments", parsedJson(p["arguments"] ?? p["input"] ?? p["action"])),
          ...answerPiece(answer, toolCallPart(entry.givenId ?? entry.callId, entry.name)),
        ];
      case "tool_result":
        return contentOf(entry.key, "result", outputOf(p["output"] ?? p["tools"]));
      case "model_call":
      case "turn_end":
        return [{ fact: entry.key, claims: answer }];
      default:
        return [];
    }
  });
}

// --- internal ---

const HEAD_BYTES = 400;
const KINDS_WITH_CONTENT: ReadonlySet<string> = new Set([
  "prompt",
  "tool_use",
  "tool_result",
  "model_call",
  "turn_end",
]);

const isAnswer = (head: string): boolean =>
  /"type":\s*"response_item"/.test(head) && /"type":\s*"message"/.test(head) && /"role":\s*"assistant"/.test(head);

/** A text, a list of texts and images, or either as the content of an object. */
const outputOf = (output: unknown): unknown => plainText(asObject(output)?.["content"] ?? output) ?? output;
