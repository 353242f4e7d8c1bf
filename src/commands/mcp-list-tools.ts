import * as z from "zod";
import { findChanges } from "#show/report/find-change.ts";
import { MIN_HISTORY_DAYS } from "#show/report/forecast.ts";
import { DIMENSIONS } from "#show/report/query.ts";
import { withOpenStore } from "#store/sessions/open-store.ts";
import { FIGURES, fieldsOf, first, listOf, pick } from "./mcp-answers.ts";
import { type Asking, documentOf } from "./mcp-ask.ts";
import { filters, limit, placeIn, range, TOP, text, tool } from "./mcp-tool.ts";
import { insights } from "./read-one.ts";
import { report } from "./report.ts";
import { sessions } from "./sessions.ts";
import { showChange } from "./show-change.ts";

export const REPORT = tool({
  name: "report",
  description: "Usage summed up over all sessions here, by one or two dimensions (default: last 30 days by day).",
  input: z.strictObject({ by: z.array(z.enum(DIMENSIONS)).max(2).default(["day"]), ...range, ...filters, limit }),
  async answer({ by, ...options }, { context }) {
    const asked = { ...options, json: true, csv: false, refresh: false };
    const document = fieldsOf(await documentOf(context, (quiet) => report(by, asked, quiet)));
    const names = `${by.join(" ")} ${ROW}`;
    return {
      ...pick(document, "since until"),
      rows: first(document["rows"], options.limit, names),
      rows_left_out: document["rows_left_out"],
      total: document["total"] === null ? null : pick(document["total"], ROW),
      unpriced: first(document["unpriced"], TOP, "model calls reasons"),
    };
  },
});

export const FINDINGS = tool({
  name: "findings",
  description: "What costs money again and again over all sessions, and what to change.",
  input: z.strictObject({ ...range, ...filters, limit: limit.default(5) }),
  async answer(options, { context }) {
    const asked = { ...options, json: true, refresh: false };
    const document = fieldsOf(await documentOf(context, (quiet) => insights(asked, quiet)));
    return {
      ...pick(document, "since until sessions total_cost_usd cost_is_lower_bound"),
      findings: first(document["insights"], options.limit, FINDING),
      left_out: document["left_out"] ?? null,
    };
  },
});

export const SESSIONS = tool({
  name: "sessions",
  description: "Find sessions, newest first. tool: part of a tool's name.",
  input: z.strictObject({ branch: text, tool: text, ...range, ...filters, limit }),
  async answer({ branch, ...options }, asking) {
    const { context } = asking;
    const of = branch === undefined ? undefined : await sessionsOf(branch, asking);
    if (of?.size === 0) return { sessions: [] };
    // Those of the branch are a part of the list
    const asked = { ...options, ...(of && { limit: MANY }), json: true, refresh: false };
    const listed = listOf(await documentOf(context, (quiet) => sessions(asked, quiet)));
    const found = of === undefined ? listed : listed.filter((one) => of.has(nameIn(one)));
    return {
      sessions: found.slice(0, options.limit).map((one) => {
        const { repository, tool_calls: calls, totals } = fieldsOf(one);
        return {
          ...pick(one, "source session_id start last_activity open turns"),
          ...placeIn(repository),
          tool_calls: fieldsOf(calls)["total"] ?? null,
          ...pick(totals, "cost_usd unpriced_calls input output"),
        };
      }),
    };
  },
});

export const BUDGET = tool({
  name: "budget",
  description: "This month's cost, forecast and budget left, and the running 5-hour and weekly limit windows.",
  input: z.strictObject({}),
  async answer(_, { context }) {
    const asked = { json: true, csv: false, refresh: false };
    const month = fieldsOf(await documentOf(context, (quiet) => report(["month"], asked, quiet)));
    const of = { ...asked, since: "8d", blocks: true };
    const blocks = fieldsOf(await documentOf(context, (quiet) => report([], of, quiet)));
    const windows = ["five_hour", "seven_day"].flatMap((window) => {
      const running = listOf(fieldsOf(blocks[window])["blocks"]).filter((one) => fieldsOf(one)["active"] === true);
      return first(running, MANY, WINDOW).map((one) => ({ window, ...one }));
    });
    const months = listOf(month["outlook"]);
    return {
      months,
      ...(months.some((one) => fieldsOf(one)["forecast"] === null) && {
        unknown: [`no forecast: it needs ${MIN_HISTORY_DAYS} days and a known cost`],
      }),
      unpriced: first(month["unpriced"], TOP, "model calls reasons"),
      windows,
    };
  },
});

// --- internal ---

const MANY = 10_000;
const ROW = `sessions turns ${FIGURES} tool_calls tool_errors tool_denied tool_ms cost_after_usd configured runs failed_runs run_ms certainty`;
const FINDING = "rule subject evidence measure text advice calls sessions cost_usd cost_is_lower_bound share trend";
const WINDOW = "agent end window_from seconds_left limit_used cost_usd unpriced_calls";

const nameIn = (session: unknown): string => {
  const { source, session_id: id } = fieldsOf(session);
  return `${source}/${id}`;
};

/** The sessions that worked on a branch, of whatever repositories. */
async function sessionsOf(branch: string, { context }: Asking): Promise<ReadonlySet<string>> {
  const found = withOpenStore(context, (db) => findChanges(db, branch).filter(({ kind }) => kind === "branch")) ?? [];
  const documents = found.map((one) => documentOf(context, (quiet) => showChange(one, { json: true }, quiet)));
  const rows = (await Promise.all(documents)).flatMap((document) => listOf(fieldsOf(document)["sessions"]));
  return new Set(rows.map((row) => String(fieldsOf(row)["session"])));
}
