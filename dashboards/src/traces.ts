import type { Builder } from "@grafana/grafana-foundation-sdk/cog";
import type { Panel } from "@grafana/grafana-foundation-sdk/dashboard";
import { DataqueryBuilder, MetricsQueryType, SearchTableType } from "@grafana/grafana-foundation-sdk/tempo";
import * as semconv from "#core/telemetry/semconv.ts";
import { type Link, put, UID } from "./links.ts";
import { built } from "./panels.ts";

/** Cost by branch, from the spans of sessions: there are too many branches for metric labels. */
export const branches = (): Builder<Panel> =>
  sumsTable({
    title: "Branches (Tempo)",
    description:
      "Cost of the sessions that ended in the time of “Sums in Tempo over”, by repository and branch, from the traces in Tempo: there are too many branches for metric labels. A session counts at the time of its span; with tail sampling it contains only the traces that were kept. Empty with Tempo 2: choose 3h above. Look at branches that cost more than their change is worth.",
    height: 9,
    query: `{ ${SESSIONS} && ${REPOSITORY} } | sum_over_time(span.${semconv.OPENHOOK_COST_USD}) by (span.${semconv.VCS_REPOSITORY_NAME}, span.${semconv.VCS_REF_HEAD_NAME})`,
    columns: {
      [`span.${semconv.VCS_REPOSITORY_NAME}`]: "Repository",
      [`span.${semconv.VCS_REF_HEAD_NAME}`]: "Branch",
      Total: "Cost",
    },
    sum: { unit: "currencyUSD", decimals: 3, noValue: "unknown" },
  });

/** Agents by version, from the spans of sessions: metrics have no version of the agent, because it would end their series. */
export const agentVersions = (): Builder<Panel> =>
  sumsTable({
    title: "Agent versions (Tempo)",
    description:
      "Sessions that ended in the time of “Sums in Tempo over”, by agent and its version, from the traces in Tempo; with tail sampling only of the traces that were kept. Empty with Tempo 2: choose 3h above. Update what is far behind; if figures changed on a day, see whether a version did.",
    height: 8,
    query: `{ ${kindIs("session")} && ${ENVIRONMENT} } | count_over_time() by (resource.${semconv.SERVICE_NAME}, resource.${semconv.SERVICE_VERSION})`,
    columns: {
      [`resource.${semconv.SERVICE_NAME}`]: "Agent",
      [`resource.${semconv.SERVICE_VERSION}`]: "Version",
      Total: "Sessions",
    },
    sum: { unit: "locale", noValue: "–" },
  });

/** Sessions in Tempo, newest first. */
export const tempoSessions = (): Builder<Panel> =>
  built({
    type: "table",
    title: "Sessions",
    description:
      "Session segments that ended in this time range, with their work and cost. Choose a span id to see its trace below, or open it in Explore. An empty cost is unknown. Sort by cost or duration to find what to improve.",
    datasource: TEMPO,
    gridPos: { x: 0, y: 0, w: 24, h: 11 },
    targets: [
      new DataqueryBuilder()
        .refId("A")
        .datasource(TEMPO)
        .queryType("traceql")
        .tableType(SearchTableType.Spans)
        .limit(200)
        .query(
          `{ ${SESSIONS} && ${REPOSITORY} && ${SESSION} } | select(${COLUMNS.map(([name]) => `span.${name}`).join(", ")})`,
        )
        .build(),
    ],
    transformations: [
      {
        id: "organize",
        options: {
          excludeByName: { traceName: true, name: true, nested: true },
          renameByName: Object.fromEntries(
            COLUMNS.flatMap(([name, title]) => [
              [name, title],
              [`span.${name}`, title],
            ]),
          ),
        },
      },
    ],
    options: { showHeader: true, cellHeight: "sm", sortBy: [{ displayName: "Start time", desc: true }] },
    fieldConfig: {
      defaults: { unit: "locale", noValue: "–" },
      overrides: [
        cell("Cost", "currencyUSD", "unknown", 3),
        cell("duration", "ns", "–"),
        cell("Duration", "ns", "–"),
        ...["spanID", "Span ID"].map((name) => choosing(name, put("__data.fields.traceIdHidden"), exploreTempo)),
      ],
    },
  });

/** Slow, expensive and failed work in Tempo. */
export const tempoSpans = (): Builder<Panel> =>
  built({
    type: "table",
    title: "Failed and slow tool calls",
    description:
      "Tool calls that failed or were denied, and those that took more than a minute. Choose a span id to see its trace, and fix the tool that appears most.",
    datasource: TEMPO,
    gridPos: { x: 0, y: 0, w: 24, h: 9 },
    targets: [
      new DataqueryBuilder()
        .refId("A")
        .datasource(TEMPO)
        .queryType("traceql")
        .tableType(SearchTableType.Spans)
        .limit(100)
        .query(
          `{ ${kindIs("tool_call")} && ${AGENT} && ${ENVIRONMENT} && ${SESSION} && ${TOOL} && (status = error || duration > 1m) } | select(span.${semconv.GEN_AI_TOOL_NAME}, span.${semconv.OPENHOOK_TOOL_STATUS}, span.${semconv.ERROR_TYPE}, span.${semconv.PROCESS_EXECUTABLE_NAME}, span.${semconv.PROCESS_EXIT_CODE})`,
        )
        .build(),
    ],
    options: { showHeader: true, cellHeight: "sm" },
    fieldConfig: {
      defaults: { unit: "none", noValue: "–" },
      overrides: ["spanID", "Span ID"].map((name) => choosing(name, put("__data.fields.traceIdHidden"), exploreTempo)),
    },
  });

/** The chosen trace. */
export const trace = (source: "tempo" | "jaeger"): Builder<Panel> =>
  built({
    type: "traces",
    title: "The trace",
    description:
      "The session with the trace id in the field “Trace” above: turns, model calls, tool calls, subagents. Empty until one is chosen. Look for red spans, long gaps and repeated calls.",
    datasource: source === "tempo" ? TEMPO : JAEGER,
    gridPos: { x: 0, y: 0, w: 24, h: 16 },
    targets: [
      source === "tempo"
        ? new DataqueryBuilder().refId("A").datasource(TEMPO).queryType("traceql").query("$trace").build()
        : jaegerQuery({ query: "$trace" }),
    ],
    fieldConfig: { defaults: { unit: "none" }, overrides: [] },
  });

/** Sessions of one agent in Jaeger, which needs a service in each query: the panel is repeated for each agent. */
export const jaegerSessions = (): Builder<Panel> =>
  built({
    type: "table",
    title: "Sessions of $agent",
    description:
      "Traces of sessions of this agent in this time range. Choose a trace id to see it below, or open it in Explore. More filters: Explore, service, tags such as vcs.repository.name=… or error=true.",
    datasource: JAEGER,
    gridPos: { x: 0, y: 0, w: 24, h: 9 },
    repeat: "agent",
    repeatDirection: "h",
    maxPerRow: 2,
    targets: [
      jaegerQuery({
        queryType: "search",
        service: "$agent",
        tags: `${semconv.OPENHOOK_SPAN_KIND}=session`,
        limit: 100,
      }),
    ],
    options: { showHeader: true, cellHeight: "sm" },
    fieldConfig: {
      defaults: { unit: "none", noValue: "–" },
      overrides: ["traceID", "Trace ID"].map((name) => choosing(name, put("__value.raw"), exploreJaeger)),
    },
  });

// --- internal ---

interface SumsTable {
  readonly title: string;
  readonly description: string;
  readonly height: number;
  /** A TraceQL metrics query; its sum over the time range is the column `Total`. */
  readonly query: string;
  /** Field → heading; the heading of `Total` sorts the table. */
  readonly columns: Readonly<Record<string, string>> & { readonly Total: string };
  readonly sum: Readonly<Record<string, string | number>>;
}

/** A table of sums over spans in Tempo, the largest first. */
const sumsTable = ({ title, description, height, query, columns, sum }: SumsTable): Builder<Panel> =>
  built({
    type: "table",
    title,
    description,
    datasource: TEMPO,
    gridPos: { x: 0, y: 0, w: 10, h: height },
    // Tempo refuses longer ranges, and the dashboard begins with seven days
    timeFrom: "$window",
    targets: [
      new DataqueryBuilder()
        .refId("A")
        .datasource(TEMPO)
        .queryType("traceql")
        .metricsQueryType(MetricsQueryType.Range)
        .query(query)
        .build(),
    ],
    transformations: [
      { id: "reduce", options: { reducers: ["sum"], mode: "seriesToRows", labelsToFields: true } },
      { id: "organize", options: { excludeByName: { Field: true }, renameByName: { ...columns } } },
    ],
    options: { showHeader: true, sortBy: [{ displayName: columns.Total, desc: true }], cellHeight: "sm" },
    fieldConfig: { defaults: { ...sum }, overrides: [] },
  });

const TEMPO = { type: "tempo", uid: put("tempo") };
const JAEGER = { type: "jaeger", uid: put("jaeger") };

const kindIs = (kind: string): string => `span.${semconv.OPENHOOK_SPAN_KIND} = "${kind}"`;
const AGENT = `resource.${semconv.SERVICE_NAME} =~ "$agent"`;
/** All includes spans without the attribute, which no regular expression matches. */
const orAll = (attribute: string, variable: string): string =>
  `(${attribute} =~ "$${variable}" || "$${variable}" = ".*")`;
const ENVIRONMENT = orAll("resource.deployment.environment.name", "environment");
const SESSIONS = `${kindIs("session")} && ${AGENT} && ${ENVIRONMENT}`;
const SESSION = `span.${semconv.SESSION_ID} =~ "$session"`;
const TOOL = `span.${semconv.GEN_AI_TOOL_NAME} =~ "$tool"`;
const REPOSITORY = orAll(`span.${semconv.VCS_REPOSITORY_NAME}`, "repository");

/** The interesting attributes of a session's span. */
const COLUMNS = [
  [semconv.SESSION_ID, "Session"],
  [semconv.VCS_REPOSITORY_NAME, "Repository"],
  [semconv.VCS_REF_HEAD_NAME, "Branch"],
  [semconv.OPENHOOK_END_REASON, "Ended by"],
  [semconv.OPENHOOK_TURNS, "Turns"],
  [semconv.OPENHOOK_MODEL_CALLS, "Model calls"],
  [semconv.OPENHOOK_TOOL_CALLS, "Tool calls"],
  [semconv.OPENHOOK_SUBAGENTS, "Subagents"],
  [semconv.OPENHOOK_TOTAL.input, "Input tokens"],
  [semconv.OPENHOOK_TOTAL.output, "Output tokens"],
  [semconv.OPENHOOK_COST_USD, "Cost"],
  [semconv.OPENHOOK_UNPRICED_CALLS, "Calls without a price"],
] as const;

/** The SDK has no types for the Jaeger data source. */
const jaegerQuery = (words: Readonly<Record<string, unknown>>) => ({
  refId: "A",
  datasource: JAEGER,
  ...words,
  _implementsDataqueryVariant: () => {},
});

const cell = (name: string, unit: string, noValue: string, decimals?: number) => ({
  matcher: { id: "byName", options: name },
  properties: [
    { id: "unit", value: unit },
    { id: "noValue", value: noValue },
    ...(decimals === undefined ? [] : [{ id: "decimals", value: decimals }]),
  ],
});

/** A cell whose value chooses a trace. */
const choosing = (name: string, traceId: string, explore: (traceId: string) => string) => ({
  matcher: { id: "byName", options: name },
  properties: [
    {
      id: "links",
      value: [
        {
          title: "Show the trace below",
          url: `/d/${UID.sessions}?\${__url_time_range}&${KEPT}&var-trace=${traceId}`,
          targetBlank: false,
        },
        { title: "Open in Explore", url: explore(traceId), targetBlank: true },
      ] satisfies Link[],
    },
  ],
});

/** All selected variables except the trace, which would be there twice. */
const KEPT = ["datasource", "tempo", "jaeger", "agent", "environment", "repository", "tool", "session", "series"]
  .map((name) => put(`${name}:queryparam`))
  .join("&");

const exploreTempo = (traceId: string): string =>
  explored({ datasource: put("tempo"), queryType: "traceql", query: traceId });
const exploreJaeger = (traceId: string): string => explored({ datasource: put("jaeger"), query: traceId });

/** The address of Explore with one query in it. */
function explored({ datasource, ...query }: Readonly<Record<string, string>>): string {
  const pane = {
    a: { datasource, queries: [{ refId: "A", ...query }], range: { from: put("__from"), to: put("__to") } },
  };
  return `/explore?schemaVersion=1&panes=${JSON.stringify(pane)}`;
}
