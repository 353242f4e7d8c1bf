import type { Builder } from "@grafana/grafana-foundation-sdk/cog";
import {
  CustomVariableBuilder,
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  TextBoxVariableBuilder,
  type VariableModel,
  VariableRefresh,
  VariableSort,
} from "@grafana/grafana-foundation-sdk/dashboard";
import { LABEL, raw } from "./promql.ts";

/** The variables that dashboards share. All lists are multi-valued; the default is All. */
export const variable = {
  datasource: (): Builder<VariableModel> =>
    source(
      "datasource",
      "Metrics",
      "prometheus",
      "Prometheus or a compatible database (Mimir, VictoriaMetrics, Thanos).",
    ),
  tempo: (): Builder<VariableModel> => source("tempo", "Tempo", "tempo", "Traces, if they are in Tempo."),
  jaeger: (): Builder<VariableModel> => source("jaeger", "Jaeger", "jaeger", "Traces, if they are in Jaeger."),
  series: (): Builder<VariableModel> =>
    new CustomVariableBuilder("series")
      .label("Totals from")
      .description(
        "each machine: the counters as received, no rules needed. recorded: sums over machines from rules/recording.yaml; for more than a few hundred machines.",
      )
      .values("each machine : _,recorded : :")
      .options([
        { text: "each machine", value: "_", selected: true },
        { text: "recorded", value: ":", selected: false },
      ])
      .current({ text: "each machine", value: "_", selected: true }),
  agent: (): Builder<VariableModel> =>
    chosenFrom("agent", "Agent", "Which coding agents.", `{__name__=~"${anyOf(WORK)}"}`, LABEL.agent),
  environment: (): Builder<VariableModel> =>
    list(
      "environment",
      "Environment",
      "deployment.environment.name in the settings' resource.attributes; empty if it is not set anywhere.",
      `{__name__=~"${anyOf(WORK)}"}`,
      LABEL.environment,
    ),
  repository: (): Builder<VariableModel> =>
    list(
      "repository",
      "Repository",
      "The repository of the sessions. Work outside any repository is only included in All.",
      `{__name__=~"${anyOf(WORK)}", ${LABEL.agent}=~"$agent"}`,
      LABEL.repository,
    ),
  model: (): Builder<VariableModel> =>
    list(
      "model",
      "Model",
      "The requested model.",
      `${raw("openhook.token.usage")}{${LABEL.agent}=~"$agent"}`,
      LABEL.model,
    ),
  tool: (): Builder<VariableModel> =>
    list(
      "tool",
      "Tool",
      "The tool's name in its agent.",
      `${raw("openhook.tool.call.count")}{${LABEL.agent}=~"$agent"}`,
      LABEL.tool,
    ),
  machine: (): Builder<VariableModel> =>
    list(
      "machine",
      "Machine",
      "service.instance.id: a random id for each machine and user; not a host name.",
      raw("openhook.collector.drain.count"),
      LABEL.machine,
    ),
  selfEnvironment: (): Builder<VariableModel> =>
    list(
      "environment",
      "Environment",
      "deployment.environment.name in the settings' resource.attributes.",
      raw("openhook.collector.drain.count"),
      LABEL.environment,
    ),
  compared: (): Builder<VariableModel> =>
    oneOf(
      VariableSort.AlphabeticalAsc,
      "compared",
      "Versions of",
      "The agent whose versions are compared in “Before and after a version”.",
      `${TURNS}{${LABEL.agent}=~"$agent"}`,
      LABEL.agent,
    ),
  version: (): Builder<VariableModel> =>
    oneOf(
      VariableSort.NaturalDesc,
      "version",
      "Version",
      "At first the highest number; choose another one if hardly anybody has it.",
      `${TURNS}{${LABEL.agent}="$compared"}`,
      LABEL.sourceVersion,
    ),
  before: (): Builder<VariableModel> =>
    oneOf(
      VariableSort.NaturalDesc,
      "before",
      "Compared with",
      "Another version; at first the highest number of all others.",
      `${TURNS}{${LABEL.agent}="$compared", ${LABEL.sourceVersion}!="$version"}`,
      LABEL.sourceVersion,
    ),
  window: (): Builder<VariableModel> =>
    new CustomVariableBuilder("window")
      .label("Sums in Tempo over")
      .description(
        "Tempo sums over at most 24 hours, before Tempo 3 over 3 hours, unless its query_frontend.metrics.max_duration is higher.",
      )
      .values("3h,24h,7d,30d")
      .options(["3h", "24h", "7d", "30d"].map((value) => ({ text: value, value, selected: value === "24h" })))
      .current({ text: "24h", value: "24h", selected: true }),
  cohort: (): Builder<VariableModel> =>
    new CustomVariableBuilder("cohort")
      .label("At least")
      .description("Groups of fewer people or machines are not shown, so that nobody can be singled out.")
      .values("5,10,20")
      .options(["5", "10", "20"].map((value) => ({ text: value, value, selected: value === "5" })))
      .current({ text: "5", value: "5", selected: true }),
  trace: (): Builder<VariableModel> =>
    new TextBoxVariableBuilder("trace")
      .label("Trace")
      .description("A trace id. Choose a session in one of the lists, or paste one.")
      .defaultValue("")
      .current({ text: "", value: "", selected: true }),
  session: (): Builder<VariableModel> =>
    new TextBoxVariableBuilder("session")
      .label("Session")
      .description(
        "A regular expression that matches the session id; agents and `openhook-otel sessions` show these ids.",
      )
      .defaultValue(".*")
      .current({ text: ".*", value: ".*", selected: true }),
} as const;

/** A variable that chooses among the series of a metric. */
export type Matched = keyof typeof MATCHERS;

/** Matchers for the variables that select metrics of sessions. */
export const matching = (...names: readonly Matched[]): string => names.map((name) => MATCHERS[name]).join(", ");

// --- internal ---

const MATCHERS = {
  agent: `${LABEL.agent}=~"$agent"`,
  environment: `${LABEL.environment}=~"$environment"`,
  repository: `${LABEL.repository}=~"$repository"`,
  model: `${LABEL.model}=~"$model"`,
  tool: `${LABEL.tool}=~"$tool"`,
  machine: `${LABEL.machine}=~"$machine"`,
} as const;

/** An agent may have reported only some of these. */
const WORK = ["openhook.turn.count", "openhook.session.count", "openhook.tool.call.count", "openhook.token.usage"];

const TURNS = raw("openhook.version.turn.count");

const anyOf = (metrics: readonly string[]): string => metrics.map((metric) => raw(metric)).join("|");

const source = (name: string, label: string, type: string, description: string): Builder<VariableModel> =>
  new DatasourceVariableBuilder(name)
    .label(label)
    .description(description)
    .type(type)
    .multi(false)
    .current({ text: type, value: type, selected: true });

/** `.*` also matches series without the label. */
const list = (...shown: Shown): Builder<VariableModel> => chosenFrom(...shown).allValue(".*");

/** All are the values in the list: other programs send metrics of the conventions too, some agents' own telemetry among them. */
const chosenFrom = (...shown: Shown): QueryVariableBuilder =>
  labelValues(...shown)
    .multi(true)
    .includeAll(true)
    .refresh(VariableRefresh.OnTimeRangeChanged)
    .sort(VariableSort.AlphabeticalAsc)
    .current({ text: ["All"], value: ["$__all"], selected: true });

/** One value: the first one, until another is chosen. */
const oneOf = (sort: VariableSort, ...shown: Shown): Builder<VariableModel> =>
  labelValues(...shown)
    .multi(false)
    .includeAll(false)
    .refresh(VariableRefresh.OnTimeRangeChanged)
    .sort(sort);

type Shown = readonly [name: string, label: string, description: string, metric: string, values: string];

const labelValues = (...[name, label, description, metric, values]: Shown): QueryVariableBuilder =>
  new QueryVariableBuilder(name)
    .label(label)
    .description(description)
    .datasource({ type: "prometheus", uid: `\${datasource}` })
    .query({
      qryType: CLASSIC,
      query: `label_values(${metric}, ${values})`,
      refId: "PrometheusVariableQueryEditor-VariableQuery",
    })
    .definition(`label_values(${metric}, ${values})`);

/** Grafana's number for a query as text. */
const CLASSIC = 5;
