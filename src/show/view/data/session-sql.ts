/** SQL condition for the sessions that the page lists: not subagents, not pruned, not of excluded projects. */
export const SHOWN = "s.parent IS NULL AND s.pruned_ms IS NULL AND s.excluded = 0";

/** SQL: the start of a session as its row shows it; a transcript can contain work before the first hook. */
export const STARTED = `coalesce((SELECT min(min(g.start_ms, coalesce(json_extract(g.totals, '$.firstMs'), g.start_ms)))
  FROM segments g WHERE g.session = s.id), s.first_ms)`;
