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
