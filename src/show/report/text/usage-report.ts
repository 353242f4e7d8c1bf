import { suggest } from "#kit/suggest.ts";
import { flow, type Terminal, wrapped } from "#kit/text/terminal.ts";
import type { Question } from "../question.ts";
import type { UsageReport } from "../usage-report.ts";
import { notesOf, titleOf } from "./usage-notes.ts";
import { usageTable } from "./usage-table.ts";

/** Title, table, summaries by agent and model, and notes. */
export function* usageReportLines(question: Question, report: UsageReport, terminal: Terminal): Generator<string> {
  const { by } = question.query;
  const summaries = [
    ...(report.agents === undefined ? [] : [{ by: ["agent"] as const, rows: report.agents }]),
    ...(report.models === undefined ? [] : [{ by: ["model"] as const, rows: report.models }]),
  ];
  yield* flow([[{ text: titleOf(question), style: "bold" }]], terminal);
  // A total of one row would repeat that row
  const isWhole = report.rows.length === 1 && report.leftOut === 0;
  yield* usageTable(by, report.rows, isWhole ? undefined : report.total, terminal);
  for (const summary of summaries) {
    // A summary of one row would repeat the total above
    if (summary.rows.length < 2) continue;
    yield "";
    yield* usageTable(summary.by, summary.rows.slice(0, SUMMARY_ROWS), undefined, terminal);
    const more = summary.rows.length - SUMMARY_ROWS;
    if (more > 0)
      yield* flow([[{ text: `${more} more: ${suggest(`report ${summary.by[0]}`)}`, style: "dim" }]], terminal);
  }
  const notes = notesOf(report);
  if (notes.length > 0) yield "";
  for (const note of notes) yield* wrapped({ text: "" }, note, terminal);
}

// --- internal ---

/** Rows of each summary. */
const SUMMARY_ROWS = 8;
