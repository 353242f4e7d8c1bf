import { CARDS } from "./cards.ts";

/** The names that `findAgent` accepts. */
export const agentNames: readonly string[] = CARDS.map(({ source }) => source);
