import { CARDS } from "./cards.ts";

/**
 * Environment variables that the intake records: those that the cards declare, the home folder, which contains transcripts, and the
 * one that marks commands of the bridge (`BRIDGE_VARIABLE`).
 */
export const RECORDED_VARIABLES: readonly string[] = [
  ...new Set(["HOME", "OPENHOOK_BRIDGE", ...CARDS.flatMap(({ environment = [] }) => environment)]),
];

/** The hook's replies by source and event; see `replies` of a card. */
export const REPLIES: Readonly<Record<string, Readonly<Record<string, string>>>> = Object.fromEntries(
  CARDS.flatMap(({ source, replies }) => (replies === undefined ? [] : [[source, replies] as const])),
);
