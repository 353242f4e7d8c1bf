import type { Content } from "#core/model/content.ts";
import type { TranscriptEntry } from "#core/model/transcript.ts";
import { toolCallPart } from "#core/rules/keys.ts";
import { answerPiece, contentOf, plainText } from "../shared/payload/content.ts";
import { asString, parsedJson } from "../shared/payload/json.ts";
import type { Row, View } from "../shared/transcript/sqlite.ts";
import { contentRows } from "./rows.ts";

/** Content of a session's messages, for the entries that were read from them. Thinking is not part of an answer. */
export function sessionContent(db: View, sessionId: string, entries: readonly TranscriptEntry[]): readonly Content[] {
  const byKey = new Map(entries.map((entry) => [entry.key, entry]));
  const answers = new Map(
    entries.flatMap((entry) =>
      entry.kind === "model_call" && entry.responseId !== undefined ? [[entry.responseId, entry.key] as const] : [],
    ),
  );
  return contentRows(db, sessionId).flatMap((part) => partContent(part, byKey, answers));
}

// --- internal ---

function partContent(
  part: Row,
  byKey: ReadonlyMap<string, TranscriptEntry>,
  answers: ReadonlyMap<string, string>,
): readonly Content[] {
  const rowId = String(part["row_id"]);
  const answer = answers.get(rowId);
  const text = asString(part["text"]);
  if (part["type"] === "text" && text !== undefined) {
    const prompt = `prompt:${rowId}`;
    if (byKey.has(prompt)) return [{ fact: prompt, part: "prompt", piece: String(part["place"]), value: text }];
    return answer === undefined ? [] : answerPiece(answer, text);
  }
  const [use, result] = ["use", "result"].map((kind) => byKey.get(`${kind}:${rowId}:${String(part["call_id"])}`));
  if (part["type"] === "toolResponse" && result !== undefined) {
    return contentOf(result.key, "result", plainText(parsedJson(part["result"])));
  }
  if (part["type"] !== "toolRequest" || use?.kind !== "tool_use") return [];
  return [
    ...contentOf(use.key, "arguments", parsedJson(part["arguments"])),
    ...(answer === undefined ? [] : answerPiece(answer, toolCallPart(use.callId, use.name))),
  ];
}
