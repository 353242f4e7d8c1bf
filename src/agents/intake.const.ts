import { CARDS } from "./cards.ts";

/** Environment variables that the intake records: what the cards declare, and the home that transcripts are found from. */
export const RECORDED_VARIABLES: readonly string[] = [
  ...new Set(["HOME", ...CARDS.flatMap(({ environment = [] }) => environment)]),
];

/** What the hook prints, by source and then by event; see `replies` of a card. */
export const REPLIES: Readonly<Record<string, Readonly<Record<string, string>>>> = Object.fromEntries(
  CARDS.flatMap(({ source, replies }) => (replies === undefined ? [] : [[source, replies] as const])),
);
