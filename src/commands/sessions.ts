import { allAgents } from "../agents/registry.ts";
import type { Context } from "../context.ts";
import { maxOf } from "../model/min-max.ts";
import { endJson, headJson, sumsJson } from "../report/session-json.ts";
import { activeMs, hasUsage, type SessionSummary, summarise } from "../report/session-view.ts";
import { noStoreMessage, withOpenStore } from "../sessions/open-store.ts";
import { recentSessions } from "../store/queries.ts";
import { printLines } from "../text/ascii.ts";
import { costText, duration, localTime, tokensText } from "../text/figures.ts";
import { type Column, table } from "../text/table.ts";
import { printable, terminalOf } from "../text/terminal.ts";

export interface SessionsOptions {
  /** How many, at least 1. */
  readonly limit: number;
  readonly json: boolean;
}

/**
 * `openhook-otel sessions`: the sessions of the store, the one with the latest activity first.
 *
 * @returns exit code: 0, also when there is none
 * @throws UserError when the store cannot be read
 */
export async function sessions({ limit, json }: SessionsOptions, context: Context): Promise<number> {
  const agents = await allAgents();
  const found = withOpenStore(context, (db) =>
    recentSessions(db, limit).map((stored) => summarise(db, stored, { agents })),
  );
  if (json) context.stdout.write(`${JSON.stringify((found ?? []).map(toJson))}\n`);
  else if (found === undefined || found.length === 0) context.stdout.write(`${await noStoreMessage(context)}\n`);
  else printLines(context, table(columnsFor(found), found, terminalOf(context)));
  return 0;
}

// --- internal ---

/** Shown of an id, if that tells the listed ones apart. */
const ID_LENGTH = 8;

function columnsFor(all: readonly SessionSummary[]): readonly Column<SessionSummary>[] {
  const idLength = lengthToTellApart(all.map(({ stored }) => stored.sessionId));
  // What a session was and cost stays longest; how it ended is always the same for those that were imported
  return [
    { title: "started", rank: 10, cell: ({ stored, segments }) => toTheMinute(segments[0]?.startMs ?? stored.firstMs) },
    { title: "agent", rank: 7, cell: ({ stored }) => printable(stored.source) },
    { title: "session", rank: 11, cell: ({ stored }) => printable(stored.sessionId.slice(0, idLength)) },
    { title: "repository", rank: 6, shrinkTo: 12, cell: repository },
    { title: "turns", rank: 4, align: "right", cell: ({ turns }) => String(turns) },
    { title: "calls", rank: 1, align: "right", cell: ({ sums, facts }) => modelCalls(sums, facts) },
    {
      title: "tools",
      rank: 2,
      align: "right",
      cell: ({ tools }) => `${toolCalls(tools)}${failed(tools) === 0 ? "" : ` (${failed(tools)}✗)`}`,
      style: ({ tools }) => (failed(tools) === 0 ? undefined : "red"),
    },
    { title: "tokens", rank: 8, align: "right", cell: tokens },
    { title: "cost", rank: 9, align: "right", cell: cost },
    { title: "duration", rank: 3, align: "right", cell: ({ segments }) => duration(activeMs(segments)) },
    {
      title: "end",
      rank: 5,
      cell: (summary) => (isOpen(summary) ? "open" : (summary.segments.at(-1)?.reason ?? "ended")),
      style: (summary) => (isOpen(summary) ? "cyan" : undefined),
    },
  ];
}

const toTheMinute = (ms: number): string => localTime(ms).slice(0, "2026-11-21 07:37".length);

function lengthToTellApart(ids: readonly string[]): number {
  const whole = new Set(ids);
  const longest = maxOf(ids.map((id) => id.length));
  for (let length = ID_LENGTH; length < longest; length++) {
    if (new Set([...whole].map((id) => id.slice(0, length))).size === whole.size) return length;
  }
  return longest;
}

function repository({ facts }: SessionSummary): string {
  const { repository: of } = facts;
  if (of === undefined) return "";
  return printable(`${of.name}${of.branch === undefined ? "" : `@${of.branch}`}`);
}

const toolCalls = (tools: SessionSummary["tools"]): number => [...tools.values()].reduce((a, b) => a + b, 0);
const failed = (tools: SessionSummary["tools"]): number => (tools.get("error") ?? 0) + (tools.get("denied") ?? 0);
const isOpen = ({ segments }: SessionSummary): boolean => segments.at(-1)?.endMs === undefined;

const modelCalls = (sums: SessionSummary["sums"], facts: SessionSummary["facts"]): string =>
  sums.modelCalls === 0 && (sums.sumsTold > 0 || facts.usageUnknown === true) ? "?" : String(sums.modelCalls);

function tokens({ sums, facts }: SessionSummary): string {
  if (!hasUsage(sums)) return facts.usageUnknown === true ? "?" : "";
  return tokensText(sums);
}

function cost({ sums, facts }: SessionSummary): string {
  if (!hasUsage(sums)) return facts.usageUnknown === true ? "?" : "";
  return costText(sums);
}

const toJson = (summary: SessionSummary) => ({
  ...headJson(summary),
  ...endJson(summary.segments.at(-1)),
  open: isOpen(summary),
  active_ms: activeMs(summary.segments),
  segments: summary.segments.length,
  turns: summary.turns,
  prompts: summary.prompts,
  subagents: summary.subagents,
  tool_calls: { total: toolCalls(summary.tools), ...Object.fromEntries(summary.tools) },
  totals: sumsJson(summary.sums, summary.facts),
});
