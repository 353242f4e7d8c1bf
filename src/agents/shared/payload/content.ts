import type { PayloadFacts } from "#core/model/agent.ts";
import type { Content, ContentPart } from "#core/model/content.ts";
import type { Event, EventType } from "#core/model/event-schema.ts";
import { inputDigest } from "./digest.ts";
import { asArray, asObject, asString, parsedJson } from "./json.ts";

/** Content of one payload, by part. The payload's event decides which parts are used. */
type PayloadContent = { readonly [P in ContentPart]?: unknown };

/** Content for the events of a payload: the prompt of a prompt, the arguments of a call, and so on. */
export function contentOfEvents(events: readonly Event[], content: PayloadContent): readonly Content[] {
  return events.flatMap(({ id, type }) =>
    (PARTS[type] ?? []).flatMap((part): Content[] => {
      const value = part === "prompt" || part === "answer" ? plainText(content[part]) : content[part];
      return value === undefined || value === null || value === "" ? [] : [{ fact: id, part, value }];
    }),
  );
}

/** Content of payloads with Claude Code's shape, under the field names of any agent. */
export function hookContent(payload: unknown, { events }: PayloadFacts): readonly Content[] {
  const p = asObject(payload);
  return p === undefined
    ? []
    : contentOfEvents(events, {
        prompt: firstOf(p, ["prompt", "message", "user_prompt"]),
        arguments: parsedJson(firstOf(p, ["tool_input", "toolInput", "toolArgs", "tool_args"])),
        result: firstOf(p, ["tool_response", "toolResponse", "tool_output", "toolOutput", "tool_result", "error"]),
        answer: firstOf(p, [
          "last_assistant_message",
          "lastAssistantMessage",
          "last-assistant-message",
          "prompt_response",
          "assistant_response",
        ]),
      });
}

/** A piece of an answer. Its key is derived from its text, so a repeated piece is stored once. */
export const answerPiece = (fact: string, value: unknown): readonly Content[] => {
  const piece = inputDigest(value);
  return piece === undefined ? [] : [{ fact, part: "answer", piece, value }];
};

/** Content of the given part, if there is a value. */
export const contentOf = (fact: string, part: ContentPart, value: unknown): readonly Content[] =>
  value === undefined || value === null || value === "" ? [] : [{ fact, part, value }];

/** A text, or the texts in a list of blocks, with the kinds of other blocks in between. `undefined` if there is none. */
export function plainText(value: unknown): string | undefined {
  if (typeof value === "string") return value === "" ? undefined : value;
  const blocks = Array.isArray(value) ? value : asObject(value) === undefined ? [] : [value];
  const texts = blocks.flatMap((block) => textIn(block) ?? []);
  return texts.length === 0 ? undefined : texts.join("\n");
}

/** The first of several members that exists. */
export const firstOf = (p: Readonly<Record<string, unknown>>, names: readonly string[]): unknown =>
  p[names.find((name) => p[name] !== undefined && p[name] !== null) ?? ""];

// --- internal ---

const PARTS: { readonly [T in EventType]?: readonly ContentPart[] } = {
  "prompt.submit": ["prompt"],
  "tool.start": ["arguments"],
  "tool.end": ["arguments", "result"],
  "turn.end": ["answer"],
  "subagent.end": ["answer"],
};

/** Images and files are represented by their kind. */
function textIn(block: unknown): string | undefined {
  if (typeof block === "string") return block;
  const b = asObject(block);
  const text = asString(b?.["text"]) ?? (asArray(b?.["content"]).length > 0 ? plainText(b?.["content"]) : undefined);
  if (text !== undefined) return text;
  const type = asString(b?.["type"]);
  return type === undefined || type === "text" ? undefined : `[${type}]`;
}
