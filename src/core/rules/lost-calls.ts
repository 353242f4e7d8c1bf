// Some agents write a model call after its tools have ended, so it is missing if they are killed in a tool

const PREFIX = "lost:";

/** Key of the call that was lost in a turn, in a subagent, or in the helper that a tool call started. @param of its id */
export const lostCallKey = (of: string): string => `${PREFIX}${of}`;

export const isLostCall = (key: string): boolean => key.startsWith(PREFIX);

/** What `lostCallKey` was called with. */
export const lostCallIn = (key: string): string => key.slice(PREFIX.length);
