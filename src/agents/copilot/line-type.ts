/**
 * The type of a line, where it stands first, as every version has written it. Most bytes are prompts, hook records and
 * results: by this they need not be parsed.
 *
 * @returns `undefined` where it stands anywhere else: only parsing tells
 */
export const typeBefore = (line: Buffer): string | undefined => TYPE.exec(line.toString("latin1", 0, TYPE_BYTES))?.[1];

// --- internal ---

const TYPE_BYTES = 120;
const TYPE = /^\s*\{\s*"type"\s*:\s*"([\w.]{1,64})"/;
