import { CARDS } from "./cards.ts";

/** The names that `findAgent` knows. */
export const agentNames: readonly string[] = CARDS.map(({ source }) => source);
