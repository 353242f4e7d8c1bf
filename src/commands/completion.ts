import { RootCommand } from "@bomb.sh/tab";
import type { Command } from "commander";
import { allAgents } from "#agents/registry.ts";
import type { Context } from "#config/context.ts";
import { SETTINGS } from "#config/settings.ts";
import { ownName } from "#kit/suggest.ts";
import { localTime } from "#kit/text/figures.ts";
import { DIMENSIONS } from "#show/report/query.ts";
import { readStore } from "#store/read-only.ts";
import { latestSessions } from "#store/session-list.ts";
import bashScript from "./completion.sh?raw";

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
  const values = await valuesFor(context);
  const root = new RootCommand();
  addOptions(root, program, values);
  addCommands(root, program, "", values);
  root.parse([...words]);
  return 0;
}

// --- internal ---

/** Enough to choose from by hand. */
const SESSIONS = 50;

/** What can stand for an argument or option, by its name, with a description each. */
type Values = Readonly<Record<string, readonly (readonly [value: string, description: string])[]>>;

async function valuesFor({ places }: Context): Promise<Values> {
  const cards = await allAgents();
  const named = (list: typeof cards) => list.map(({ source, title }) => [source, title] as const);
  const agents = named(cards);
  const sessions = sessionsIn(places.storePath);
  return {
    agent: agents,
    source: agents,
    "import agents": named(cards.filter(({ transcript }) => transcript !== undefined)),
    agents: named(cards.filter(({ installer }) => installer !== undefined)),
    by: [...DIMENSIONS, "hook"].map((dimension) => [dimension, ""]),
    key: SETTINGS.map(({ key, description }) => [key, description]),
    session: sessions,
    "show name": sessions,
  };
}

function sessionsIn(storePath: string): Values[string] {
  try {
    const sessions = readStore(storePath, (db) => latestSessions(db, SESSIONS)) ?? [];
    return (
      sessions
        // Agents choose the ids, and shells may expand what is completed
        .filter(({ sessionId }) => /^\w[\w.-]*$/.test(sessionId))
        .map(({ sessionId, source, lastMs }) => [sessionId, `${source}, ${localTime(lastMs)}`])
    );
  } catch {
    return [];
  }
}

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
  (choices: readonly string[] | undefined, values: Values[string] = []) =>
  (add: (value: string, description: string) => void): void => {
    for (const [value, description] of choices?.map((choice) => [choice, ""] as const) ?? values)
      add(value, description);
  };

/** How the shell calls this program: by its name if it finds it, else by paths. */
function callOf({ nodePath, programPath, platform }: Context): string {
  if (ownName() === "openhook-otel") return "openhook-otel";
  const quote = platform === "win32" ? "''" : "'\\''";
  return [nodePath, programPath].map((path) => `'${path.replaceAll("'", quote)}'`).join(" ");
}
