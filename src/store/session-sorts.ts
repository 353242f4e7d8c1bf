// Apart from the queries, because help needs it where the database library cannot be loaded

/** How sessions can be sorted, the largest first. */
export const SESSION_SORTS = ["time", "cost", "duration", "failures"] as const;
export type SessionSort = (typeof SESSION_SORTS)[number];
