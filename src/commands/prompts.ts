import { Writable } from "node:stream";
import { confirm, isCancel } from "@clack/prompts";
import { type Context, UserError } from "../context.ts";

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
  const choice = await confirm({ message, ...promptStreams(context) });
  return !isCancel(choice) && choice;
}

/** Whether the user can be asked. */
export const isInteractive = ({ stdin, stdout }: Context): boolean => stdin.isTTY === true && stdout.isTTY === true;

/** Where a prompt reads and writes. */
export const promptStreams = ({ stdin, stdout }: Context) => ({
  input: stdin,
  ...(stdout instanceof Writable && { output: stdout }),
});
