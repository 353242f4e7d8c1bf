import { describePrices } from "#core/telemetry/cost.ts";
import { suggest } from "#kit/suggest.ts";
import { costText, dollars, leastDollars, localTime, percentOf, plural } from "#kit/text/figures.ts";
import { flow, type Piece, printable, type Terminal, wrapped } from "#kit/text/terminal.ts";
import { missSentence } from "../findings-cache.ts";
import type { InsightReport, RatedInsight } from "../insights/insights.ts";
import { evidenceText, trendText } from "../insights/words.ts";
import { listPriceNote } from "../prices.ts";

/** Insights for people: each with its money, how it is known, what to change, whether it got better, and where to look. */
export function* insightLines(report: InsightReport, limit: number, terminal: Terminal): Generator<string> {
  const { range, total, sessions, insights, gone } = report;
  const days = [localTime(range.sinceMs), localTime(range.untilMs)].map((text) => text.slice(0, DATE_LENGTH));
  yield* flow(
    [
      [{ text: days.join(" to "), style: "bold" }],
      [{ text: plural(sessions, "session") }],
      ...(sessions === 0 ? [] : [[{ text: costText(total) }]]),
    ],
    terminal,
  );
  if (sessions === 0) {
    yield "no session with model calls";
    return;
  }
  if (insights.length === 0) {
    yield "";
    yield "nothing stands out";
  }
  for (const [i, insight] of insights.slice(0, limit).entries()) {
    yield "";
    yield* insightText(`${i + 1}.`.padEnd(4), insight, terminal);
  }
  for (const insight of gone) {
    yield "";
    yield* insightText("+   ", insight, terminal);
  }
  yield "";
  for (const note of notesOf(report, limit)) yield* wrapped({ text: "" }, note, terminal);
}

// --- internal ---

const DATE_LENGTH = "2026-11-21".length;
const ID_LENGTH = 8;

function* insightText(number: string, insight: RatedInsight, terminal: Terminal): Generator<string> {
  const { tally, share, measure, trend } = insight;
  const cost =
    tally.costNanoUsd === undefined
      ? "cost unknown"
      : (tally.unpricedCalls > 0 ? leastDollars : dollars)(tally.costNanoUsd);
  const money = measure === "additional" && tally.costNanoUsd !== undefined ? `${cost} more than necessary` : cost;
  const trended = trendText(trend, share, insight.shareBefore);
  const part = trend === "gone" || share === undefined ? [] : [`${percentOf(share)} of the cost`];
  const head = [money, ...part, plural(tally.sessions, "session"), ...(trended === "" ? [] : [trended])];
  const pieces: readonly (readonly Piece[])[] = head.map((text, i) =>
    i === 0 ? [{ text: number }, { text, style: "bold" }] : [{ text }],
  );
  yield* flow(pieces, terminal);
  const indent: Piece = { text: "    " };
  yield* wrapped(indent, insight.text, terminal);
  if (trend !== "gone") yield* wrapped(indent, insight.advice, terminal);
  const [most] = trend === "gone" ? [] : tally.examples(1);
  const turn = most === undefined || most.turn === 0 ? "" : `, turn ${most.turn}`;
  const sessionId = printable(most?.session.view.stored.sessionId.slice(0, ID_LENGTH) ?? "");
  const place = most === undefined ? "" : `; most: ${suggest(`explain ${sessionId}`)}${turn}`;
  yield* wrapped(indent, `${evidenceText(insight.evidence)}${place}`, terminal);
}

function notesOf(
  { sessions, readSessions, readNanoUsd, total, before, insights, misses, subscribed }: InsightReport,
  limit: number,
) {
  const part =
    readNanoUsd === undefined || !total.costNanoUsd
      ? ""
      : `, with ${percentOf(readNanoUsd / total.costNanoUsd)} of the cost`;
  const unexplained = misses.find(({ evidence }) => evidence === "unknown");
  return [
    ...(unexplained === undefined ? [] : [missSentence(unexplained)]),
    ...(insights.length > limit ? [`${insights.length - limit} more with --limit ${insights.length}`] : []),
    ...(readSessions < sessions
      ? [`the calls of the ${readSessions} dearest sessions were read${part}; the others have no part in this`]
      : []),
    before === undefined
      ? "not compared: the period before has fewer than five sessions"
      : `compared with the period of the same length before, from ${localTime(before.sinceMs).slice(0, DATE_LENGTH)}`,
    ...(subscribed.length === 0 ? [] : [listPriceNote(subscribed.map(({ title }) => printable(title)))]),
    describePrices(),
  ];
}
