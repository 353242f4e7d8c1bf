import { isPacked } from "#store/packed.ts";
import { CHANGE_DIMENSIONS, DIMENSIONS, TIME_UNITS } from "../report/query.ts";
import { outlineOf, type SessionView } from "../report/session-view.ts";
import { linesOfSpans, partOfSpan } from "../report/story.ts";
import { changesOver } from "./data/changes.ts";
import { toContent, toLines } from "./data/content.ts";
import { findSession, searchSpans, toDocument, toSpanDocument } from "./data/document.ts";
import { downloadOf } from "./data/download.ts";
import { toExplanation } from "./data/explanation.ts";
import { foundOver } from "./data/found.ts";
import { homeOver } from "./data/home.ts";
import { insightsOver } from "./data/insights.ts";
import { listSessions } from "./data/sessions.ts";
import { toolsOver } from "./data/tools.ts";
import { usageOver } from "./data/usage.ts";
import {
  Later,
  laterWhenChanged,
  NO_SESSION,
  NO_SPAN,
  type Read,
  type Reading,
  recentView,
  whenChanged,
} from "./respond.ts";
import { CHANGE_SORTS, SORTS, SPLITS } from "./wire/api.ts";

/** What the page can ask for, by the path below `/api/`; the types of what it gets follow from this list. */
export const READS = {
  home: readHome,
  sessions: readSessions,
  found: readFound,
  session: readSession,
  span: readSpan,
  explain: readExplanation,
  lines: readLines,
  content: readContent,
  search: readSpanSearch,
  usage: readUsage,
  tools: readTools,
  insights: readInsights,
  changes: readChanges,
  "report.csv": reportIn("csv"),
  "report.json": reportIn("json"),
} satisfies Record<string, Read>;

// --- internal ---

/** Far more than a user loads with fifty rows per click. */
const MAX_ROWS = 100_000;

function readHome({ db, params, deps }: Reading) {
  const { nowMs } = deps.idle;
  return homeOver(db, deps, {
    ...params.texts("timeZone"),
    ...params.times("sinceMs", "untilMs", "beforeMs"),
    todayMs: params.number("todayMs", nowMs, 0, nowMs),
    yesterdayMs: params.number("yesterdayMs", nowMs, 0, nowMs),
    monthMs: params.number("monthMs", nowMs, 0, nowMs),
    lastMonthMs: params.number("lastMonthMs", nowMs, 0, nowMs),
    unit: params.oneOf("unit", TIME_UNITS, "day"),
  });
}

function readSessions({ db, params, deps }: Reading) {
  return listSessions(db, deps, {
    ...sessionFilters(params),
    sort: params.oneOf("sort", SORTS, "recent"),
    descending: !params.flag("rising"),
    limit: params.number("limit", 50, 1, MAX_ROWS),
  });
}

function readFound({ db, params, deps }: Reading) {
  return new Later(foundOver(db, deps, sessionFilters(params), params.number("after", 0, 0, MAX_ROWS)));
}

const sessionFilters = (params: Reading["params"]) => ({
  ...params.texts("agent", "repository", "model", "tool", "text"),
  ...params.times("sinceMs", "untilMs"),
  errors: params.flag("errors"),
});

function readSession(reading: Reading) {
  const { db, params, deps } = reading;
  const stored = findSession(db, params.session());
  if (stored === undefined) return NO_SESSION;
  return whenChanged(reading, stored, (view) => {
    // A packed session is built for its spans, and the explanation asks for the same
    const shown = isPacked(db, stored.id) ? view() : outlineOf(db, stored, { agents: deps.agents }, deps.settings);
    return toDocument(db, shown, deps, deps.traceLink);
  });
}

function readSpan({ db, params, deps }: Reading) {
  const stored = findSession(db, params.session());
  if (stored === undefined) return NO_SESSION;
  return toSpanDocument(db, stored, params.spanId(), deps) ?? NO_SPAN;
}

function readLines(reading: Reading) {
  const { db, params, deps } = reading;
  const stored = findSession(db, params.session());
  if (stored === undefined) return NO_SESSION;
  const read = (view: SessionView) => {
    const lines = deps.recentLines.of(db, stored);
    return async () => toLines(view, await lines);
  };
  return laterWhenChanged(reading, stored, read, ({ state }) => state !== "missing");
}

function readContent(reading: Reading) {
  const { db, params, deps } = reading;
  const stored = findSession(db, params.session());
  if (stored === undefined) return NO_SESSION;
  const view = recentView(reading, stored);
  const spanId = params.spanId();
  const read = deps.recentLines.of(db, stored);
  return new Later(async () => {
    const lines = (await read)?.lines ?? [];
    const wanted = partOfSpan(view, linesOfSpans(view, lines), spanId);
    return toContent(spanId, wanted === undefined ? undefined : await deps.contentOf?.(stored, wanted));
  });
}

function readExplanation(reading: Reading) {
  const { db, params, deps } = reading;
  const stored = findSession(db, params.session());
  if (stored === undefined) return NO_SESSION;
  return whenChanged(reading, stored, (view) => toExplanation(db, view(), deps));
}

function readSpanSearch({ db, params, deps }: Reading) {
  const stored = findSession(db, params.session());
  return stored === undefined ? NO_SESSION : searchSpans(db, stored, params.texts("text").text ?? "", deps);
}

function readUsage({ db, params, deps }: Reading) {
  return usageOver(db, deps, {
    ...params.texts("agent", "model", "repository", "timeZone"),
    ...params.times("sinceMs", "untilMs"),
    nowMs: deps.idle.nowMs,
    unit: params.oneOf("unit", TIME_UNITS, "day"),
    split: params.oneOf("split", SPLITS, "model"),
  });
}

function readTools({ db, params, deps }: Reading) {
  return toolsOver(db, deps, {
    ...params.texts("agent", "repository"),
    ...params.times("sinceMs", "untilMs"),
    nowMs: deps.idle.nowMs,
  });
}

function readInsights({ db, params, deps }: Reading) {
  return insightsOver(db, deps, {
    ...params.texts("agent", "repository"),
    ...params.times("sinceMs", "untilMs"),
    nowMs: deps.idle.nowMs,
  });
}

function readChanges({ db, params, deps }: Reading) {
  const isOfSession = params.texts("id").id !== undefined;
  const stored = isOfSession ? findSession(db, params.session()) : undefined;
  if (isOfSession && stored === undefined) return NO_SESSION;
  return changesOver(db, deps, {
    ...params.texts("agent", "repository", "key", "text"),
    ...(stored !== undefined && { session: stored.id }),
    ...params.times("sinceMs", "untilMs"),
    nowMs: deps.idle.nowMs,
    by: params.oneOf("by", CHANGE_DIMENSIONS, "change"),
    sort: params.oneOf("sort", CHANGE_SORTS, "cost"),
    limit: params.number("limit", 50, 1, MAX_ROWS),
  });
}

/** Sessions would have to be read for subagents, and folders of configuration stay on this machine. */
const IN_STORE = DIMENSIONS.filter((dimension) => dimension !== "subagent" && dimension !== "config-folder");

function reportIn(format: "csv" | "json") {
  return ({ db, params, deps }: Reading) => {
    const query = {
      ...params.texts("agent", "model", "repository", "timeZone"),
      ...params.times("sinceMs", "untilMs"),
      by: params.listOf("by", IN_STORE),
    };
    return downloadOf(db, deps, query, format);
  };
}
