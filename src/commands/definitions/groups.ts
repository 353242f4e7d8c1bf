import { type Command, Help } from "commander";
import { suggest } from "#kit/suggest.ts";

/** The groups of commands in the program's help. Every definition of a command names its group. */
export const GROUPS = { see: "See", setUp: "Set up", send: "Send", maintain: "Maintain" } as const;

/** Shows the groups in the order above, whatever the order of the definitions, each with an example. */
export function groupCommands(program: Command): Command {
  return program.configureHelp({
    // Also in narrow terminals: commander's own 40 columns leave long lines to the terminal below 80
    minWidthToWrap: 20,
    groupItems(unsorted, visible, groupOf) {
      const groups = Help.prototype.groupItems.call(this, unsorted, visible, groupOf as never) as Map<string, never[]>;
      const others = [...groups.keys()].filter((name) => !(name in EXAMPLES));
      const names = [...others, ...Object.keys(EXAMPLES)].filter((name) => groups.has(name));
      return new Map(names.map((name) => [headingOf(name), groups.get(name) ?? []]));
    },
  });
}

// --- internal ---

/** On demand, because the program's name is looked up in PATH. */
const EXAMPLES: Readonly<Record<string, () => string>> = {
  [GROUPS.see]: () => suggest("report week"),
  [GROUPS.setUp]: () => suggest("start"),
  [GROUPS.send]: () => suggest("config set otlp.endpoint http://127.0.0.1:4318"),
  [GROUPS.maintain]: () => suggest("doctor --fix"),
};

const headingOf = (name: string): string => {
  const example = EXAMPLES[name];
  return example === undefined ? name : `${name}, e.g. ${example()}`;
};
