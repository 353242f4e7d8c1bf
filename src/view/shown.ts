/** SQL condition for the sessions that the page lists: not subagents, not pruned, not of excluded projects. */
export const SHOWN = "s.parent IS NULL AND s.pruned_ms IS NULL AND s.excluded = 0";
