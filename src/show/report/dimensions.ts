export const TIME_UNITS = ["hour", "day", "week", "month"] as const;
export type TimeUnit = (typeof TIME_UNITS)[number];

/** The dimensions that come from commits and changes. */
export const CHANGE_DIMENSIONS = ["commit", "change", "branch", "ticket"] as const;
export type ChangeDimension = (typeof CHANGE_DIMENSIONS)[number];

/** What figures can be grouped by. This file imports nothing, because every start of the program loads it for the help. */
export const DIMENSIONS = [
  ...TIME_UNITS,
  "agent",
  "model",
  "repository",
  "tool",
  "session",
  ...CHANGE_DIMENSIONS,
] as const;
export type Dimension = (typeof DIMENSIONS)[number];
