import { CARDS } from "./cards.ts";

/** Variables that say which agent's command started a program. An agent with a plugin records them too. */
export const COMMAND_VARIABLES: readonly string[] = CARDS.flatMap(({ inCommands = {} }) =>
  [...(inCommands.session ?? []), inCommands.call, inCommands.mark].filter((name) => name !== undefined),
);

/**
 * Environment variables that the intake records: those that the cards declare, those that an agent's
 * commands have, the home folder, which contains transcripts, the one
 * that marks commands of the bridge (`BRIDGE_VARIABLE`), and the one that names the CI job (`PIPELINE_VARIABLE`).
 */
export const RECORDED_VARIABLES: readonly string[] = [
  ...new Set([
    "HOME",
    "OPENHOOK_BRIDGE",
    "OPENHOOK_OTEL_PIPELINE",
    ...CARDS.flatMap(({ environment = [] }) => environment),
    ...COMMAND_VARIABLES,
  ]),
];

/** The hook's replies by source and event; see `replies` of a card. */
export const REPLIES: Readonly<Record<string, Readonly<Record<string, string>>>> = Object.fromEntries(
  CARDS.flatMap(({ source, replies }) => (replies === undefined ? [] : [[source, replies] as const])),
);
