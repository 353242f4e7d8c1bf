import type { PayloadFacts } from "#core/model/agent.ts";
import type { Content } from "#core/model/content.ts";
import type { TranscriptEntry } from "#core/model/transcript.ts";
import { toolCallPart } from "#core/rules/keys.ts";
import { answerPiece, contentOf, contentOfEvents, plainText } from "../shared/payload/content.ts";
import { asArray, asObject, asString, parsedObject } from "../shared/payload/json.ts";
import { answerKeyOf, callsIn, type Message, messagesIn } from "./messages.ts";

/** Content of a payload. Our extension sends none: at levels that store content, it is read from the session's file. */
export function toContent(payload: unknown, { events }: PayloadFacts): readonly Content[] {
  const event = asObject(asObject(payload)?.["event"]) ?? {};
  const message = asObject(event["message"]);
  const result = asObject(event["result"])?.["content"] ?? event["content"];
  const isReduced = asObject(asObject(payload)?.["extension"]) !== undefined;
  return isReduced
    ? []
    : contentOfEvents(events, {
        prompt: message?.["content"],
        arguments: event["args"] ?? event["input"],
        result: plainText(result),
      });
}

/** Content of a line, for the entries that were read from it. Reasoning is not part of an answer. */
export function lineContent(line: Buffer, entries: readonly TranscriptEntry[]): readonly Content[] {
  if (entries.length === 0) return [];
  const message = asObject(parsedObject(line)?.["message"]);
  if (message === undefined) return [];
  const results = messagesIn(asObject(message["details"])?.["results"]).flatMap((result) =>
    messagesIn(result["messages"]),
  );
  return [message, ...results].flatMap((one) => messageContent(one, entries));
}

// --- internal ---

function messageContent(message: Message, entries: readonly TranscriptEntry[]): readonly Content[] {
  if (message["role"] === "user") {
    const prompt = entries.find((entry) => entry.kind === "prompt");
    return prompt === undefined ? [] : contentOf(prompt.key, "prompt", plainText(message["content"]));
  }
  if (message["role"] === "toolResult") {
    const given = asString(message["toolCallId"]);
    const result = entries.find((entry) => entry.kind === "tool_result" && isOf(entry.callId, given));
    return result === undefined ? [] : contentOf(result.key, "result", plainText(message["content"]));
  }
  const key = `call:${answerKeyOf(message)}`;
  const answer = entries.some((entry) => entry.key === key) ? key : undefined;
  const texts = asArray(message["content"]).flatMap((block) => {
    const text = asString(asObject(block)?.["text"]);
    return text === undefined ? [] : [text];
  });
  return [
    ...(answer === undefined ? [] : texts.flatMap((text) => answerPiece(answer, text))),
    ...callsIn(message).flatMap((call) => {
      const use = entries.find((entry) => entry.kind === "tool_use" && isOf(entry.callId, asString(call["id"])));
      if (use?.kind !== "tool_use") return [];
      return [
        ...contentOf(use.key, "arguments", call["arguments"]),
        ...(answer === undefined ? [] : answerPiece(answer, toolCallPart(use.callId, use.name))),
      ];
    }),
  ];
}

/** Repeated ids have a suffix. */
const isOf = (callId: string, given: string | undefined): boolean =>
  given !== undefined && (callId === given || callId.startsWith(`${given}#`));
