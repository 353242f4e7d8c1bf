import { asObject, asString } from "../shared/payload/json.ts";

/** The text of a message or a tool's result: a string, or the texts of its blocks; `undefined` if there is none. */
export function textOf(content: unknown): string | undefined {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return undefined;
  let text: string | undefined;
  for (const block of content) {
    const part = asString(asObject(block)?.["text"]);
    if (part !== undefined) text = text === undefined ? part : `${text}\n${part}`;
  }
  return text;
}
