// Some agents write a model call after its tools have ended, so it is missing if they are killed in a tool

const PREFIX = "lost:";

/** Key of the call that was lost in a turn. */
export const lostCallKey = (turnKey: string): string => `${PREFIX}${turnKey}`;

export const isLostCall = (key: string): boolean => key.startsWith(PREFIX);
