import type { Offset } from "./transcript.ts";

/** Nothing of a transcript has been read. */
export const INITIAL_OFFSET: Offset = { bytes: 0, memo: {} };
