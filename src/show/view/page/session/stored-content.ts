import type { SpanDocument } from "../../wire/spans.ts";

/** The content among a span's attributes, as texts or JSON. Absent: none is stored, which depends on the capture level. */
export function storedContent(attributes: SpanDocument["attributes"]): {
  readonly prompt?: string | undefined;
  readonly arguments?: string | undefined;
  readonly result?: string | undefined;
  readonly answer?: string | undefined;
} {
  const textOf = (name: string): string | undefined => {
    const value = attributes[name];
    return typeof value === "string" ? value : undefined;
  };
  return {
    prompt: messagesText(textOf("gen_ai.input.messages")),
    arguments: textOf("gen_ai.tool.call.arguments"),
    result: textOf("gen_ai.tool.call.result"),
    answer: messagesText(textOf("gen_ai.output.messages")),
  };
}

// --- internal ---

/**
 * The texts of messages in the form of the GenAI conventions; calls of tools are rows of their own.
 *
 * @returns the value itself if it has another form, e.g. because it was shortened; `undefined` without texts
 */
function messagesText(json: string | undefined): string | undefined {
  if (json === undefined) return undefined;
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
