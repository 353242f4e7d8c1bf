import type { Exported } from "./export.ts";
import type { ImportReport } from "./run.ts";

/** The result of `openhook-otel import --json`. */
export const importJson = (report: ImportReport, isDryRun: boolean, sent: Exported | undefined) => ({
  dry_run: isDryRun,
  stopped: report.isStopped,
  seconds: report.tookMs / 1000,
  agents: Object.fromEntries(
    [...report.agents].map(([source, sums]) => [
      source,
      {
        found: sums.found,
        imported: sums.imported,
        again: sums.again,
        unchanged: sums.unchanged,
        from_hooks: sums.fromHooks,
        older: sums.older,
        left_out: sums.leftOut,
        failed: sums.failed,
        unfinished_files: sums.unfinished,
        bytes: sums.bytes,
      },
    ]),
  ),
  exported:
    sent === undefined
      ? null
      : {
          sessions: sent.sessions,
          spans: sent.spans,
          sent: sent.sent,
          waiting: sent.queued,
          beyond_retention: sent.beyondRetention,
        },
  problems: [...new Set([...report.problems, ...(sent?.problems ?? [])])],
});
