import type { Content } from "#core/model/content.ts";
import type { TranscriptEntry } from "#core/model/transcript.ts";
import { toolCallPart } from "#core/rules/keys.ts";
import { answerPiece, contentOf } from "../payload/content.ts";
import { asString, parsedJson } from "../payload/json.ts";
import type { Row, View } from "../transcript/sqlite.ts";
import { IS_JSON, type MessageRow } from "./rows.ts";

/** Content of messages, for the entries that were read from them. Reasoning is not part of an answer. */
export function messagesContent(
  db: View,
  rows: readonly MessageRow[],
  entries: readonly TranscriptEntry[],
): readonly Content[] {
  const byKey = new Map(entries.map((entry) => [entry.key, entry]));
  return rows.flatMap(({ id }) => db.all(SELECT_PARTS, id).flatMap((part) => partContent(id, part, byKey)));
}

// --- internal ---

const field = (path: string): string => `CASE WHEN ${IS_JSON} THEN json_extract(data, '${path}') END`;

const SELECT_PARTS = `SELECT id, ${field("$.type")} AS type, ${field("$.text")} AS text,
    ${field("$.state.input")} AS input, ${field("$.state.output")} AS output, ${field("$.state.error")} AS error,
    ${field("$.synthetic")} AS synthetic, ${field("$.ignored")} AS ignored
  FROM part WHERE message_id = ? ORDER BY id`;

function partContent(messageId: string, part: Row, byKey: ReadonlyMap<string, TranscriptEntry>): readonly Content[] {
  const answer = `message:${messageId}`;
  const text = asString(part["text"]);
  if (part["type"] === "text" && text !== undefined) {
    if (part["synthetic"] === 1 || part["ignored"] === 1) return [];
    const prompt = `prompt:${messageId}`;
    if (byKey.has(prompt)) return [{ fact: prompt, part: "prompt", piece: String(part["id"]), value: text }];
    return byKey.has(answer) ? answerPiece(answer, text) : [];
  }
  const use = byKey.get(`use:${String(part["id"])}`);
  if (use?.kind !== "tool_use") return [];
  const result = `result:${String(part["id"])}`;
  return [
    ...contentOf(use.key, "arguments", objectIn(part["input"])),
    ...(byKey.has(result) ? contentOf(result, "result", part["output"] ?? part["error"]) : []),
    ...(byKey.has(answer) ? answerPiece(answer, toolCallPart(use.callId, use.name)) : []),
  ];
}

const objectIn = (json: unknown): unknown => (typeof json === "string" ? parsedJson(json) : undefined);
