import type { Context } from "#config/context.ts";
import type { Agent } from "#core/model/agent.ts";
import { suggest } from "#kit/suggest.ts";
import { printLines } from "#kit/text/ascii.ts";
import { duration, megabytes, plural } from "#kit/text/figures.ts";
import { type Column, table } from "#kit/text/table.ts";
import { printable, terminalOf, wrapped } from "#kit/text/terminal.ts";
import type { Exported } from "./export.ts";
import type { AgentImport } from "./import-counts.ts";
import type { ImportReport } from "./run.ts";

interface ImportOutput {
  readonly report: ImportReport;
  readonly agents: readonly Agent[];
  /** Agents that the user named; empty: all. */
  readonly names: readonly string[];
  readonly isDryRun: boolean;
  readonly sent: Exported | undefined;
  /** No table, and no commands that show the sessions. */
  readonly brief: boolean;
}

/** Prints what an import did. */
export function printImport({ report, agents, names, isDryRun, sent, brief }: ImportOutput, context: Context): void {
  const terminal = terminalOf(context);
  const rows = agents
    .map((agent) => ({ agent, sums: report.agents.get(agent.source) }))
    .flatMap(({ agent, sums }) =>
      sums === undefined || (sums.found === 0 && names.length === 0) ? [] : [{ agent, sums }],
    );
  const found = rows.reduce((sum, { sums }) => sum + sums.found, 0);
  const lines: string[] = [];
  // Wrap on a terminal only, so that paths in files and pipes stay whole
  const say = (text: string): void =>
    void lines.push(...(context.stdout.isTTY === true ? wrapped({ text: "" }, text, terminal) : [text]));
  if (found === 0) {
    const looked = agents.map(({ title }) => title).join(", ");
    say(`no past sessions found on this machine; searched for ${looked}`);
    say("if an agent keeps them elsewhere, set its environment variable or transcripts.folders");
  } else {
    if (!brief) lines.push(...table(columnsFor(isDryRun), rows, terminal), "");
    for (const sentence of sentences(report, rows, isDryRun, sent)) say(sentence);
    if (!brief && !isDryRun && !report.isStopped)
      say(`next: ${suggest("report")}, ${suggest("sessions")}, ${suggest("view")}`);
  }
  const problems = [...new Set([...report.problems, ...(sent?.problems ?? [])])];
  for (const problem of problems.slice(0, MAX_PROBLEMS)) say(`! ${printable(problem)}`);
  if (problems.length > MAX_PROBLEMS) say(`! and ${problems.length - MAX_PROBLEMS} more; --json has all of them`);
  printLines(context, lines);
}

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

/** What an import would read. */
interface PastSessions {
  readonly sessions: number;
  readonly bytes: number;
  /** Titles of the agents that have some. */
  readonly agents: readonly string[];
}

/** @param report of a dry run; `undefined` counts as nothing found */
export function pastSessions(report: ImportReport | undefined, agents: readonly Agent[]): PastSessions {
  const found = agents.flatMap(({ source, title }) => {
    const { imported = 0, bytes = 0 } = report?.agents.get(source) ?? {};
    return imported > 0 ? [{ title, imported, bytes }] : [];
  });
  return {
    sessions: found.reduce((sum, { imported }) => sum + imported, 0),
    bytes: found.reduce((sum, { bytes }) => sum + bytes, 0),
    agents: found.map(({ title }) => title),
  };
}

// --- internal ---

const MAX_PROBLEMS = 10;

interface Row {
  readonly agent: Agent;
  readonly sums: AgentImport;
}

function columnsFor(isDryRun: boolean): readonly Column<Row>[] {
  const number = (title: string, rank: number, pick: (sums: AgentImport) => number, isAlways = false): Column<Row> => ({
    title,
    // A column of zeros is hidden
    cell: ({ sums }) => (pick(sums) === 0 && !isAlways ? "" : String(pick(sums))),
    align: "right",
    rank,
  });
  return [
    { title: "agent", cell: ({ agent }) => printable(agent.title), rank: 10 },
    number("found", 8, (sums) => sums.found, true),
    number(isDryRun ? "to import" : "imported", 9, (sums) => sums.imported, true),
    number("unchanged", 6, (sums) => sums.unchanged),
    number("from hooks", 4, (sums) => sums.fromHooks),
    number("older", 3, (sums) => sums.older),
    number("left out", 5, (sums) => sums.leftOut),
    { ...number("failed", 7, (sums) => sums.failed), style: ({ sums }) => (sums.failed > 0 ? "red" : undefined) },
    {
      title: isDryRun ? "to read" : "read",
      cell: ({ sums }) => (sums.bytes === 0 ? "" : megabytes(sums.bytes)),
      align: "right",
      rank: 2,
    },
  ];
}

function sentences(
  report: ImportReport,
  rows: readonly Row[],
  isDryRun: boolean,
  sent: Exported | undefined,
): readonly string[] {
  const imported = rows.reduce((sum, { sums }) => sum + sums.imported, 0);
  const bytes = rows.reduce((sum, { sums }) => sum + sums.bytes, 0);
  if (isDryRun && imported === 0) return ["nothing new to import; nothing was written"];
  const again = rows.reduce((sum, { sums }) => sum + sums.again, 0);
  const reimported = again === 0 ? [] : [`${isDryRun ? "to be " : ""}imported again: ${plural(again, "session")}`];
  if (isDryRun) {
    return [
      `${plural(imported, "session")}, ${megabytes(bytes)}, would be imported; nothing was written`,
      ...reimported,
    ];
  }
  if (report.isStopped) {
    return [
      `stopped after ${plural(imported, "session")}; the imported sessions are kept; ${suggest("import")} continues`,
    ];
  }
  const speed = bytes > 0 ? ` (${megabytes((bytes / report.tookMs) * 1000)}/s)` : "";
  const failed = rows.reduce((sum, { sums }) => sum + sums.failed, 0);
  const unfinished = rows.reduce((sum, { sums }) => sum + sums.unfinished, 0);
  const nothing = failed === 0 ? ", nothing is new" : "";
  const did = `${plural(imported, "session")} in ${duration(report.tookMs)}${imported === 0 ? nothing : speed}`;
  return [
    did,
    ...reimported,
    ...(failed === 0
      ? []
      : [`${plural(failed, "session")} could not be read completely; the next import retries them`]),
    ...(unfinished === 0
      ? []
      : [
          `${plural(unfinished, "file")} ${unfinished === 1 ? "ends" : "end"} with an incomplete line, which is not counted`,
        ]),
    ...(sent === undefined
      ? imported === 0
        ? []
        : [`they stay on this machine; to export them: ${suggest("import --export")}`]
      : [
          sent.sessions + sent.sent + sent.queued === 0
            ? "nothing left to export"
            : `${plural(sent.spans, "span")} of ${plural(sent.sessions, "session")} to export: ${sent.sent} sent` +
              (sent.queued > 0 ? `, ${sent.queued} queued for the next drain` : ""),
          ...(sent.beyondRetention === 0
            ? []
            : [
                `${plural(sent.beyondRetention, "session")} of these ${sent.beyondRetention === 1 ? "is" : "are"} older than store.retentionDays: ` +
                  "the next drains remove them from this store once they are sent",
              ]),
        ]),
  ];
}
