import { costSource } from "#core/telemetry/cost.ts";
import { isoTime } from "#kit/text/figures.ts";
import { rowJson, unpricedJson } from "../usage-data.ts";
import type { Block, BlockQuestion, BlockReport, BlockTable } from "./blocks.ts";

/** The windows as a JSON document. Unknown is `null`, never 0. */
export const blocksJson = (
  { sinceMs, untilMs, agent }: BlockQuestion,
  { tables, undivided }: BlockReport,
  nowMs: number,
  timeZone: string,
) => ({
  since: isoTime(sinceMs),
  until: isoTime(untilMs),
  time_zone: timeZone,
  filters: { agent: agent ?? null },
  price_table: costSource().prices,
  ...Object.fromEntries(tables.map((table) => [table.window, tableJson(table, nowMs)])),
  subscription_agents: [...new Set(tables.flatMap(({ subscribed = [] }) => subscribed))],
  undivided_quarters: undivided,
});

// --- internal ---

const tableJson = ({ blocks, leftOut, total, unpriced }: BlockTable, nowMs: number) => ({
  blocks: blocks.map((block) => blockJson(block, nowMs)),
  blocks_left_out: leftOut,
  total: total === undefined ? null : rowJson(total),
  unpriced: unpriced.map(unpricedJson),
});

const blockJson = ({ agent, startMs, endMs, isReported, percent, models, sessions, calls }: Block, nowMs: number) => {
  const isActive = startMs <= nowMs && nowMs < endMs;
  return {
    agent,
    start: isoTime(startMs),
    end: isoTime(endMs),
    window_from: isReported ? "reported" : "derived",
    active: isActive,
    seconds_left: isActive ? Math.ceil((endMs - nowMs) / 1000) : null,
    limit_used: percent === undefined ? null : percent / 100,
    models,
    ...rowJson({ key: {}, sessions, calls, sessionsWithoutUsage: 0, agentsWithoutUsage: [] }),
  };
};
