import type { Command } from "commander";
import { nearest } from "#kit/nearest.ts";

/**
 * Makes the program refuse arguments that a command does not expect. Commander itself would report `bridge bogus` as an argument of
 * the group's default command. Must be called before commands are added, which take over the setting.
 */
export function refuseSurplusArguments(program: Command): void {
  program.allowExcessArguments().hook("preAction", (_, command) => {
    const expected = command.registeredArguments;
    const [first, ...rest] = command.args.slice(expected.length);
    if (first === undefined || expected.at(-1)?.variadic === true) return;
    const group = command.parent;
    const isDefault = group !== null && group !== program && group.args[0] !== command.name();
    if (isDefault) refuseCommand(group, first);
    const named = [...command.options].map(({ long }) => long).filter((long) => long !== undefined);
    const meant = nearest(`--${first.replace(/^-+/, "")}`, named);
    const all = [first, ...rest].map((one) => `'${one}'`).join(" ");
    command.error(
      `error: too many arguments for '${command.name()}': ${all}${meant === undefined ? "" : `; did you mean ${meant}?`}`,
    );
  });
}

// --- internal ---

function refuseCommand(group: Command, word: string): never {
  const names = group.commands.map((one) => one.name());
  const meant = nearest(word, names);
  const advice =
    meant === undefined ? `its commands are ${names.join(", ")}` : `did you mean '${group.name()} ${meant}'?`;
  return group.error(`error: unknown command '${group.name()} ${word}': ${advice}`);
}
