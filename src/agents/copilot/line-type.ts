/**
 * The type of a line if it is the first member, as in every version so far. Most bytes of a file are prompts, hook records and
 * results: knowing the type avoids parsing them.
 *
 * @returns `undefined` if the first member is another one; then the line has to be parsed
 */
export const typeBefore = (line: Buffer): string | undefined => TYPE.exec(line.toString("latin1", 0, TYPE_BYTES))?.[1];

// --- internal ---

const TYPE_BYTES = 120;
const TYPE = /^\s*\{\s*"type"\s*:\s*"([\w.]{1,64})"/;
