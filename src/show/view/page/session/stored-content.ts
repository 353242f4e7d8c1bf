import type { SpanDocument } from "../../wire/spans.ts";

type Stored = { [P in "prompt" | "arguments" | "result" | "answer"]?: string };

/** The content among a span's attributes, as texts or JSON. Absent: none is stored, which depends on the capture level. */
export function storedContent(attributes: SpanDocument["attributes"]): Readonly<Stored> {
  const stored: Stored = {};
  for (const [name, value] of Object.entries(attributes)) {
    const part = PARTS.get(name.replace(/^gen_ai\./, ""));
    const text = typeof value !== "string" ? undefined : name.endsWith("messages") ? messagesText(value) : value;
    if (part !== undefined && text !== undefined) stored[part] = text;
  }
  return stored;
}

// --- internal ---

/** Attributes with content, without their prefix. */
const PARTS: ReadonlyMap<string, keyof Stored> = new Map([
  ["input.messages", "prompt"],
  ["output.messages", "answer"],
  ["tool.call.arguments", "arguments"],
  ["tool.call.result", "result"],
]);

/**
 * The texts of messages in the form of the GenAI conventions; calls of tools are rows of their own.
 *
 * @returns the value itself if it has another form, e.g. because it was shortened; `undefined` without texts
 */
function messagesText(json: string): string | undefined {
  try {
    const messages: unknown = JSON.parse(json);
    if (!Array.isArray(messages)) return json;
    const texts = messages.flatMap((message) => partsOf(message).flatMap(textsOf));
    return texts.length === 0 ? undefined : texts.join("\n\n");
  } catch {
    return json;
  }
}

const partsOf = (message: unknown): readonly unknown[] =>
  isObject(message) && Array.isArray(message["parts"]) ? message["parts"] : [message];

const textsOf = (part: unknown): readonly string[] =>
  isObject(part) && typeof part["content"] === "string" ? [part["content"]] : [];

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;
