import { RootCommand } from "@bomb.sh/tab";
import type { Command } from "commander";
import type { Context } from "#config/context.ts";
import { ownName } from "#kit/suggest.ts";
import bashScript from "./completion.sh?raw";
import { type Values, valuesFor } from "./completion-values.ts";

/** `openhook-otel completion <shell>`: prints the script that registers our completions. @returns exit code: 0 */
export async function completion(shell: string, context: Context): Promise<number> {
  const program = callOf(context);
  if (shell === "bash") context.stdout.write(bashScript.replace("PROGRAM", () => program));
  else new RootCommand().setup("openhook-otel", program, shell);
  return 0;
}

/**
 * `openhook-otel complete -- <words>`: prints what can follow, for the shell's script. An error prints nothing: it would disturb the
 * command line.
 *
 * @param words after the program's name, up to the cursor; the last one is being typed
 * @returns exit code: 0
 */
export async function complete(words: readonly string[], program: Command, context: Context): Promise<number> {
  const values = await valuesFor(words, context);
  const root = new RootCommand();
  addOptions(root, program, values);
  addCommands(root, program, "", values);
  root.parse([...words]);
  return 0;
}

// --- internal ---

function addCommands(root: RootCommand, parent: Command, path: string, values: Values): void {
  for (const command of parent.createHelp().visibleCommands(parent)) {
    const name = `${path}${command.name()}`;
    const added = root.command(name, command.description());
    addOptions(added, command, values);
    for (const argument of command.registeredArguments) {
      const own = values[`${name} ${argument.name()}`] ?? values[argument.name()];
      added.argument(argument.name(), offer(argument.argChoices, own), argument.variadic);
    }
    addCommands(root, command, `${name} `, values);
  }
}

function addOptions(to: Pick<RootCommand, "option">, command: Command, values: Values): void {
  for (const option of command.createHelp().visibleOptions(command)) {
    const { long, short, description, required, optional, argChoices } = option;
    const name = long?.replace(/^--/, "");
    if (name === undefined) continue;
    const alias = short?.replace(/^-/, "");
    if (required || optional) to.option(name, description, offer(argChoices, values[name]), alias);
    else to.option(name, description, alias);
  }
}

/** A handler of the library that offers the choices, or else the values. */
const offer =
  (choices: readonly string[] | undefined, values: Values[string] = () => []) =>
  (add: (value: string, description: string) => void): void => {
    for (const [value, description] of choices?.map((choice) => [choice, ""] as const) ?? values())
      add(value, description);
  };

/** How the shell calls this program: by its name if it finds it, else by paths. */
function callOf({ nodePath, programPath, platform }: Context): string {
  if (ownName() === "openhook-otel") return "openhook-otel";
  const quote = platform === "win32" ? "''" : "'\\''";
  return [nodePath, programPath].map((path) => `'${path.replaceAll("'", quote)}'`).join(" ");
}
