import type { Content } from "#core/model/content.ts";
import type { TranscriptEntry } from "#core/model/transcript.ts";
import { toolCallPart } from "#core/rules/keys.ts";
import { answerPiece, contentOf } from "../shared/payload/content.ts";
import { asString, parsedJson } from "../shared/payload/json.ts";
import type { Row, View } from "../shared/transcript/sqlite.ts";
import { contentRows, type MessageRow } from "./rows.ts";

/** Content of messages, for the entries that were read from them. Reasoning is not part of an answer. */
export function messagesContent(
  db: View,
  rows: readonly MessageRow[],
  entries: readonly TranscriptEntry[],
): readonly Content[] {
  const byKey = new Map(entries.map((entry) => [entry.key, entry]));
  return rows.flatMap((row) => contentRows(db, row.id).flatMap((part, index) => partContent(row, index, part, byKey)));
}

// --- internal ---

function partContent(
  row: MessageRow,
  index: number,
  part: Row,
  byKey: ReadonlyMap<string, TranscriptEntry>,
): readonly Content[] {
  const answer = `message:${row.id}`;
  const text = asString(part["text"]);
  if (part["type"] === "text" && text !== undefined) {
    const prompt = `prompt:${row.id}`;
    if (byKey.has(prompt)) {
      return part["hidden"] === 1 ? [] : [{ fact: prompt, part: "prompt", piece: String(index), value: text }];
    }
    return byKey.has(answer) ? answerPiece(answer, text) : [];
  }
  if (part["type"] === "tool_result") {
    const result = `result:${row.id}:${String(part["result_of"])}`;
    return byKey.has(result) ? contentOf(result, "result", part["content"]) : [];
  }
  const use = byKey.get(`use:${row.id}:${String(part["call_id"])}`);
  if (part["type"] !== "tool_call" || use?.kind !== "tool_use") return [];
  const input = row.parts.find((one) => one.type === "tool_call" && one.callId === part["call_id"])?.input;
  return [
    ...contentOf(use.key, "arguments", parsedJson(input)),
    ...(byKey.has(answer) ? answerPiece(answer, toolCallPart(use.callId, use.name)) : []),
  ];
}
