import type { PayloadFacts } from "#core/model/agent.ts";
import type { Content } from "#core/model/content.ts";
import type { TranscriptEntry } from "#core/model/transcript.ts";
import { responseContentKey, toolCallPart } from "#core/rules/keys.ts";
import { answerPiece, contentOf, contentOfEvents, plainText } from "../shared/payload/content.ts";
import { asArray, asObject, asString, parsedJson } from "../shared/payload/json.ts";
import { type LineState, lineType } from "./line-context.ts";

/** Content of a hook payload, in either of its two forms. */
export function toContent(payload: unknown, { events }: PayloadFacts): readonly Content[] {
  const p = asObject(payload) ?? {};
  const result = p["toolResult"] ?? p["tool_result"];
  return contentOfEvents(events, {
    prompt: p["prompt"],
    arguments: parsedJson(p["toolArgs"] ?? p["toolInput"] ?? p["tool_input"]),
    result:
      asString(asObject(result)?.["textResultForLlm"] ?? asObject(result)?.["text_result_for_llm"]) ??
      result ??
      p["tool_response"] ??
      p["error"],
    answer: p["last_assistant_message"],
  });
}

/** Content of a line of the session file, for the entries that were read from it. */
export function lineContent(
  line: Buffer,
  entries: readonly TranscriptEntry[],
  { isInDatabase, promptKey }: LineState,
): readonly Content[] {
  const mayBeAnswer = (lineType(line) ?? ANSWER) === ANSWER;
  if (!mayBeAnswer && !entries.some(({ kind }) => HAS_CONTENT.has(kind))) return [];
  const o = asObject(parsedJson(line.toString("utf8")));
  const data = asObject(o?.["data"]) ?? {};
  if (o?.["type"] === ANSWER && isInDatabase === true) {
    // The database's calls do not name their answers, so the last one is the turn's
    const isOfSubagent = o["agentId"] !== undefined || data["parentToolCallId"] !== undefined;
    const isOfTurn = promptKey !== undefined && !isOfSubagent;
    return isOfTurn ? contentOf(`prompt:${promptKey}`, "answer", plainText(data["content"])) : [];
  }
  if (o?.["type"] === ANSWER) return answerOf(data, entries);
  return entries.flatMap((entry): readonly Content[] => {
    switch (entry.kind) {
      case "prompt":
        return contentOf(entry.key, "prompt", plainText(data["content"]));
      case "tool_use":
        return contentOf(entry.key, "arguments", parsedJson(data["arguments"]));
      case "tool_result":
        return contentOf(entry.key, "result", resultOf(data));
      default:
        return [];
    }
  });
}

// --- internal ---

const ANSWER = "assistant.message";
const HAS_CONTENT: ReadonlySet<string> = new Set(["prompt", "tool_use", "tool_result"]);

/** Content of an answer. If model calls have separate records, answer and record have only the provider's id in common. */
function answerOf(data: Readonly<Record<string, unknown>>, entries: readonly TranscriptEntry[]): readonly Content[] {
  const id = asString(data["apiCallId"]);
  const fact =
    entries.find(({ kind }) => kind === "model_call")?.key ?? (id === undefined ? undefined : responseContentKey(id));
  if (fact === undefined) return [];
  return [
    ...answerPiece(fact, plainText(data["content"])),
    ...asArray(data["toolRequests"]).flatMap((request) => {
      const r = asObject(request);
      const [callId, name] = [asString(r?.["toolCallId"]), asString(r?.["name"])];
      return callId === undefined || name === undefined ? [] : answerPiece(fact, toolCallPart(callId, name));
    }),
  ];
}

function resultOf(data: Readonly<Record<string, unknown>>): unknown {
  const result = asObject(data["result"]);
  return asString(result?.["content"]) ?? plainText(result?.["contents"]) ?? data["result"] ?? errorOf(data["error"]);
}

const errorOf = (error: unknown): unknown => asString(asObject(error)?.["message"]) ?? error;
