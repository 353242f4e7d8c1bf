import { Writable } from "node:stream";
import { confirm, isCancel } from "@clack/prompts";
import type { Context } from "#config/context.ts";
import { UserError } from "#kit/errors.ts";

/**
 * Asks the user to confirm an edit.
 *
 * @param isConfirmed true: do not ask, because of `--yes` or because the agent was named
 * @param remedy what the user can do without a terminal
 * @returns whether to make the edit
 * @throws UserError if there is no terminal
 */
export async function confirmEdit(
  message: string,
  isConfirmed: boolean,
  context: Context,
  remedy = "name the agents or pass --yes",
): Promise<boolean> {
  if (isConfirmed) return true;
  if (!isInteractive(context)) {
    throw new UserError("E_CONFIRM", `this edits agents' settings: ${remedy}, or run it in a terminal`);
  }
  return (await askYesNo(message, context)) === "yes";
}

/** Asks a question on a terminal; Ctrl-C and Escape cancel. */
export async function askYesNo(message: string, context: Context): Promise<"yes" | "no" | "cancelled"> {
  const choice = await confirm({ message, ...promptStreams(context) });
  if (isCancel(choice)) return "cancelled";
  return choice ? "yes" : "no";
}

/** Whether the user can be asked. Some CI services give jobs a terminal, but nobody answers. */
export const isInteractive = ({ stdin, stdout, env }: Context): boolean =>
  stdin.isTTY === true && stdout.isTTY === true && ["", "0", "false", undefined].includes(env["CI"]);

/** Where a prompt reads and writes. */
export const promptStreams = ({ stdin, stdout }: Context) => ({
  input: stdin,
  ...(stdout instanceof Writable && { output: stdout }),
});
