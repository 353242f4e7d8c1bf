/**
 * The type of a line, if `type` is its first member, as in every version so far. Most bytes of a file are prompts, hook records
 * and results, which need not be parsed if their type is known.
 *
 * @returns `undefined` if another member is the first one; then the line must be parsed
 */
export const lineType = (line: Buffer): string | undefined => TYPE.exec(line.toString("latin1", 0, TYPE_BYTES))?.[1];

// --- internal ---

const TYPE_BYTES = 120;
const TYPE = /^\s*\{\s*"type"\s*:\s*"([\w.]{1,64})"/;
