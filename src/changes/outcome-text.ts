import { count, percentOf, plural } from "#kit/text/figures.ts";
import { type Column, table } from "#kit/text/table.ts";
import { printable, type Terminal, wrapped } from "#kit/text/terminal.ts";
import type { CommitWithOutcome, KeptShare, OutcomeSummary } from "#store/outcomes.ts";

/** The table of `openhook-otel outcomes`. */
export function* outcomeLines(
  summaries: readonly OutcomeSummary[],
  problems: readonly string[],
  terminal: Terminal,
): Generator<string> {
  if (summaries.length === 0) yield "no commits of agents are known yet";
  else {
    yield* table(COLUMNS, summaries, terminal);
    yield "";
    for (const note of NOTES) yield* wrapped({ text: "" }, note, terminal);
    const unchecked = summaries.reduce((sum, one) => sum + one.unchecked, 0);
    if (unchecked > 0) yield `${plural(unchecked, "commit")} not checked yet`;
  }
  for (const problem of problems) yield `! ${printable(problem)}`;
}

/** As `--json` prints it: what is not known is null. */
export const outcomesJson = (
  commits: readonly CommitWithOutcome[],
  summaries: readonly OutcomeSummary[],
  problems: readonly string[],
): unknown => ({
  repositories: summaries.map(({ unchecked, linesWritten, kept, ...rest }) => ({
    ...rest,
    unchecked,
    lines: { written: linesWritten, after_days: kept },
  })),
  commits: commits.map(({ repository, commit, certainty, outcome }) => ({
    repository,
    commit,
    certainty,
    fate: outcome?.fate ?? null,
    reason: outcome?.reason ?? null,
    rewritten: outcome?.rewritten ?? null,
    reverted_by: outcome?.revertedBy ?? null,
    landed_at: outcome?.landedMs === undefined ? null : new Date(outcome.landedMs).toISOString(),
    landing_pull_request: outcome?.landingPull ?? null,
    lines:
      outcome?.lines === undefined
        ? null
        : {
            written: outcome.lines.written,
            now: outcome.lines.now ?? null,
            after_days: Object.fromEntries([1, 7, 30].map((day) => [day, outcome.lines?.after[day as 1] ?? null])),
          },
    attested: outcome?.attested ?? [],
    checked_at: outcome === undefined ? null : new Date(outcome.checkedMs).toISOString(),
  })),
  problems,
});

// --- internal ---

const NOTES = [
  "observed: the agent made the commit; inferred: somebody committed what it edited",
  "1d, 7d, 30d: lines that were still there so long after the commit reached the default branch, as it was last fetched",
];

const number = (title: string, rank: number, value: (row: OutcomeSummary) => number): Column<OutcomeSummary> => ({
  title,
  cell: (row) => count(value(row)),
  align: "right",
  rank,
});

const share = (title: string, rank: number, value: (row: OutcomeSummary) => KeptShare): Column<OutcomeSummary> => ({
  title,
  // No commit with lines is so old: unknown, not 0 %
  cell: (row) => (value(row).written === 0 ? "-" : percentOf(value(row).kept / value(row).written)),
  align: "right",
  rank,
});

const COLUMNS: readonly Column<OutcomeSummary>[] = [
  { title: "repository", cell: ({ repository }) => printable(repository), rank: 10, shrinkTo: 24 },
  { title: "certainty", cell: ({ certainty }) => certainty, rank: 9 },
  number("commits", 9, ({ commits }) => commits),
  number("merged", 8, ({ fates }) => fates.merged),
  number("reverted", 8, ({ fates }) => fates.reverted),
  number("open", 7, ({ fates }) => fates.open),
  number("gone", 7, ({ fates }) => fates.gone),
  number("unknown", 6, ({ fates }) => fates.unknown),
  number("rewritten", 2, ({ rewritten }) => rewritten),
  number("lines", 5, ({ linesWritten }) => linesWritten),
  share("1d", 3, ({ kept }) => kept[1]),
  share("7d", 4, ({ kept }) => kept[7]),
  share("30d", 5, ({ kept }) => kept[30]),
];
