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

/** A command that is sent to the model, as its line has it: name and arguments. */
export const TYPED_COMMAND =
  /^<command-message>[^<]*<\/command-message>\s*<command-name>([^<]*)<\/command-name>(?:\s*<command-args>(.*)<\/command-args>)?/s;

/**
 * The text of a prompt as the user typed it, which hooks report: a command that is sent to the model is a prompt.
 *
 * @returns `undefined` if it is unknown: for a skill, 2.0.77 writes neither the slash nor the rest of the typed text
 */
export function typedText(text: string | undefined): string | undefined {
  const [isTyped, name, args = ""] = TYPED_COMMAND.exec(text ?? "") ?? [];
  if (isTyped === undefined) return text;
  if (name?.startsWith("/") !== true) return undefined;
  return args === "" ? name : `${name} ${args}`;
}

/**
 * Whether a background task, a teammate, another session or an agent sent a prompt. In older versions and in hooks, only the
 * text shows this.
 */
export const isMachinePrompt = (prompt: string | undefined): boolean => SENDER_MARKUP.test(prompt ?? "");

/** The exit code, which only the beginning of an error text has: `Exit code 2\n…`. */
export function exitCodeOf(error: unknown): number | undefined {
  const match = typeof error === "string" ? /^(?:Error: )?Exit code (\d{1,3})\b/.exec(error) : null;
  return match?.[1] === undefined ? undefined : Number(match[1]);
}

// --- internal ---

const SENDER_MARKUP =
  /^(?:<(?:task-notification|teammate-message|agent-message|cross-session-message)[\s>]|Another Claude session sent a message(?: while you were working)?:\n)/;
