/**
 * What a moment of a session was spent on: waiting for a model, running a tool, waiting to run a tool (permission, hooks),
 * the agent itself within a turn, waiting for the user, or the session being closed.
 */
export const TIME_PARTS = ["model", "tool", "held", "agent", "user", "away"] as const;
export type TimePart = (typeof TIME_PARTS)[number];
