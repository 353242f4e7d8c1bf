/** Milliseconds by which this machine's clock is ahead of the backend's, from the last response with a `Date`. */
export const CLOCK_SKEW = "clock.skew_ms";
/** How long the last drain took, in milliseconds. */
export const TOOK = "drain.took_ms";
/** When the last daily pruning ran, in milliseconds since the epoch. */
export const PRUNED = "prune.last_ms";
/** How many sessions were pruned so far. */
export const PRUNED_SESSIONS = "prune.sessions_total";
