import { asObject, parsedJson } from "../payload/json.ts";

/** The command line in a shell tool's arguments, whatever the agent calls it. `undefined`: the tool runs no command line. */
export function commandLineOf(given: unknown): string | undefined {
  const value = parsedJson(given);
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.every((word) => typeof word === "string") ? quoted(value) : undefined;
  const members = asObject(value);
  const name = COMMANDS.find((one) => members?.[one] !== undefined);
  const command = name === undefined ? undefined : members?.[name];
  return Array.isArray(command) || typeof command === "string" ? commandLineOf(command) : undefined;
}

/**
 * All texts of a tool's result, one after the other. A text whose lines are in another one is left out: some agents report an output as the
 * model gets it and as the user sees it. The first line of an output can follow a label.
 */
export function printedTextOf(result: unknown): string {
  const texts: string[] = [];
  let left = MAX_CHARACTERS;
  const add = (value: unknown, depth: number): void => {
    const inner = depth === 0 ? parsedJson(value) : value;
    if (typeof inner === "string") {
      if (left > 0) texts.push(inner.slice(0, left).replace(/^Output: /gm, ""));
      left -= inner.length;
    } else if (typeof inner === "object" && inner !== null && depth < MAX_DEPTH) {
      for (const one of Object.values(inner)) add(one, depth + 1);
    }
  };
  add(result, 0);
  if (texts.length < 2) return texts.join("");
  const lines = texts.map((text) => {
    const own = text.trim().split("\n");
    return `\n${own.map((line) => line.trimEnd()).join("\n")}\n`;
  });
  const isRepeated = (own: string, at: number): boolean =>
    lines.some((other, place) => place !== at && other.includes(own) && (other.length > own.length || place < at));
  return texts.filter((_, at) => !isRepeated(lines[at] ?? "", at)).join("\n");
}

// --- internal ---

const COMMANDS = ["command", "cmd", "script", "command_line", "commandLine", "CommandLine", "tool_input"];
/** What git, gh and glab print is far shorter. */
const MAX_CHARACTERS = 1 << 18;
const MAX_DEPTH = 5;

/** Words as one command line. */
const quoted = (words: readonly string[]): string =>
  words.map((word) => (/^[\w./=:@+-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`)).join(" ");
