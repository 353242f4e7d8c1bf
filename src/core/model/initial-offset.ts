import type { Offset } from "./transcript.ts";

/** The offset of a transcript that has not been read. */
export const INITIAL_OFFSET: Offset = { bytes: 0, memo: {} };
