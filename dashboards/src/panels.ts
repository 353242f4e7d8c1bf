import { PanelBuilder as BarGauge } from "@grafana/grafana-foundation-sdk/bargauge";
import type { Builder } from "@grafana/grafana-foundation-sdk/cog";
import {
  BarGaugeDisplayMode,
  BarGaugeValueMode,
  BigValueColorMode,
  BigValueGraphMode,
  BigValueTextMode,
  GraphDrawStyle,
  LegendDisplayMode,
  LegendPlacement,
  ReduceDataOptionsBuilder,
  SortOrder,
  StackingConfigBuilder,
  StackingMode,
  TableSortByFieldStateBuilder,
  TooltipDisplayMode,
  VisibilityMode,
  VizLegendOptionsBuilder,
  VizOrientation,
  VizTooltipOptionsBuilder,
} from "@grafana/grafana-foundation-sdk/common";
import {
  FieldColorBuilder,
  FieldColorModeId,
  type Panel,
  type Threshold,
  ThresholdsConfigBuilder,
  ThresholdsMode,
} from "@grafana/grafana-foundation-sdk/dashboard";
import { DataqueryBuilder, PromQueryFormat, QueryEditorMode } from "@grafana/grafana-foundation-sdk/prometheus";
import { PanelBuilder as Stat } from "@grafana/grafana-foundation-sdk/stat";
import { PanelBuilder as Table } from "@grafana/grafana-foundation-sdk/table";
import { PanelBuilder as TimeSeries } from "@grafana/grafana-foundation-sdk/timeseries";
import type { Link } from "./links.ts";
import { LABEL, type LabelKey, NO_MODEL, NO_REPOSITORY, named } from "./promql.ts";

export const UNIT = {
  count: "locale",
  tokens: "short",
  usd: "currencyUSD",
  share: "percentunit",
  seconds: "s",
  bytes: "bytes",
  perSecond: "cps",
} as const;
export type Unit = (typeof UNIT)[keyof typeof UNIT];

/** Every panel describes what it shows. */
interface Shown {
  readonly title: string;
  readonly description: string;
  /** What to do about what the panel shows; it ends the description. */
  readonly todo: string;
  readonly unit: Unit;
  /** In columns; the page has 24. */
  readonly width: number;
  readonly height?: number;
  readonly decimals?: number;
  /** Shown if there is no data. Unknown values are never 0. */
  readonly noValue?: string;
  /** Green below the first, or as given. */
  readonly steps?: readonly Step[];
  readonly links?: readonly Link[];
}
export type Step = readonly [colour: "green" | "yellow" | "orange" | "red" | "blue" | "text", from: number | null];

/** One number for the whole time range. @param shown.legend with it, the name of the series is beside the number */
export const stat = (shown: Shown & { readonly expr: string; readonly legend?: string }): Builder<Panel> =>
  linked(
    shown,
    new Stat()
      .title(shown.title)
      .description(described(shown))
      .span(shown.width)
      .height(shown.height ?? 4)
      .datasource(PROMETHEUS)
      .unit(shown.unit)
      .noValue(shown.noValue ?? "–")
      .colorMode(shown.steps === undefined ? BigValueColorMode.None : BigValueColorMode.Value)
      .graphMode(BigValueGraphMode.None)
      .textMode(shown.legend === undefined ? BigValueTextMode.Value : BigValueTextMode.ValueAndName)
      .reduceOptions(lastOf())
      .thresholds(thresholds(shown.steps))
      .withTarget(instant("A", shown.expr, shown.legend)),
  );

interface Query {
  readonly expr: string;
  readonly legend: string;
}
interface Lines {
  readonly queries: readonly Query[];
  readonly max?: number;
}

/** Amounts for each interval, stacked: the bars add up to the total of the time range. Use with `$__interval`. */
export const bars = (shown: Shown & { readonly queries: readonly Query[] }): Builder<Panel> =>
  linked(
    shown,
    series(shown)
      .drawStyle(GraphDrawStyle.Bars)
      .fillOpacity(70)
      .lineWidth(1)
      .stacking(new StackingConfigBuilder().mode(StackingMode.Normal).group("A"))
      .legend(legend(["sum"]))
      .maxDataPoints(BARS)
      .interval("1m")
      .min(0),
  );

/** Values over time. */
export const lines = (shown: Shown & Lines): Builder<Panel> => {
  const panel = series(shown)
    .drawStyle(GraphDrawStyle.Line)
    .fillOpacity(8)
    .lineWidth(2)
    .spanNulls(true)
    .legend(legend(["lastNotNull", "max"]))
    .maxDataPoints(LINE_POINTS)
    .interval("1m")
    .min(0);
  return linked(shown, shown.max === undefined ? panel : panel.max(shown.max));
};

/** Bars next to each other, the longest first. */
export const ranking = (shown: Shown & { readonly expr: string; readonly legend: string }): Builder<Panel> =>
  linked(
    shown,
    new BarGauge()
      .title(shown.title)
      .description(described(shown))
      .span(shown.width)
      .height(shown.height ?? 8)
      .datasource(PROMETHEUS)
      .unit(shown.unit)
      .noValue(shown.noValue ?? "–")
      .min(0)
      .displayMode(BarGaugeDisplayMode.Gradient)
      .valueMode(BarGaugeValueMode.Color)
      .orientation(VizOrientation.Horizontal)
      .showUnfilled(true)
      .colorScheme(new FieldColorBuilder().mode(FieldColorModeId.ContinuousBlPu))
      .reduceOptions(lastOf())
      .withTarget(instant("A", shown.expr, shown.legend)),
  );

/** One column of a table: a query, one value for each row. */
export interface Column {
  readonly name: string;
  readonly expr: string;
  readonly unit: Unit;
  readonly decimals?: number;
  readonly noValue?: string;
  readonly steps?: readonly Step[];
  readonly width?: number;
  /** The highest bound of a histogram: a percentile there is shown as more than that. */
  readonly highest?: number;
  /** Shown instead of these values. */
  readonly texts?: readonly (readonly [value: number, text: string, colour: string])[];
}

/** Rows by labels, columns by queries. The first column by size. */
export const table = (
  shown: Omit<Shown, "unit" | "steps" | "decimals"> & {
    readonly by: readonly (readonly [LabelKey, string])[];
    readonly columns: readonly Column[];
    readonly sortBy?: string;
  },
): Builder<Panel> => {
  const refs = shown.columns.map((column, index) => ({ ...column, refId: refIdOf(index) }));
  const keys = shown.by.map(([key]) => key);
  const names = [...shown.by.map(([key]) => LABEL[key] as string), ...refs.map(({ refId }) => `Value #${refId}`)];
  // With a single query Grafana names its column without the query's letter
  const plain = refs.length === 1 ? { Value: refs[0]?.name ?? "" } : {};
  const panel = new Table()
    .title(shown.title)
    .description(described(shown))
    .span(shown.width)
    .height(shown.height ?? 8)
    .datasource(PROMETHEUS)
    .unit(UNIT.count)
    .noValue(shown.noValue ?? "–")
    .targets(refs.map(({ refId, expr }) => instant(refId, withNames(keys, expr)).format(PromQueryFormat.Table)))
    .transformations([
      { id: "merge", options: {} },
      {
        id: "organize",
        options: {
          excludeByName: { Time: true, __name__: true },
          indexByName: Object.fromEntries(names.map((name, index) => [name, index])),
          renameByName: {
            ...Object.fromEntries(shown.by.map(([key, title]) => [LABEL[key], title])),
            ...Object.fromEntries(refs.map(({ refId, name }) => [`Value #${refId}`, name])),
            ...plain,
          },
        },
      },
    ])
    .sortBy([new TableSortByFieldStateBuilder().displayName(shown.sortBy ?? shown.columns[0]?.name ?? "").desc(true)]);
  for (const { name, unit, decimals, noValue, steps, width, highest, texts } of refs) {
    panel.overrideByName(name, [
      { id: "unit", value: unit },
      ...(decimals === undefined ? [] : [{ id: "decimals", value: decimals }]),
      ...(noValue === undefined ? [] : [{ id: "noValue", value: noValue }]),
      ...(highest === undefined ? [] : [{ id: "mappings", value: [moreThan(highest)] }]),
      ...(texts === undefined
        ? []
        : [
            { id: "mappings", value: [insteadOf(texts)] },
            { id: "custom.cellOptions", value: { type: "color-text" } },
          ]),
      ...(width === undefined ? [] : [{ id: "custom.width", value: width }]),
      ...(steps === undefined
        ? []
        : [
            { id: "thresholds", value: { mode: "absolute", steps: stepsOf(steps) } },
            { id: "custom.cellOptions", value: { type: "color-text" } },
          ]),
    ]);
  }
  for (const [key, title] of shown.by) {
    if (key === "subagent") panel.overrideByName(title, [{ id: "mappings", value: WHO }]);
  }
  if (shown.links !== undefined) {
    panel.overrideByName(shown.by[0]?.[1] ?? "", [{ id: "links", value: shown.links }]);
  }
  return panel;
};

/** What a panel shows, and what to do about it. */
export const described = ({ description, todo }: Pick<Shown, "description" | "todo">): string =>
  `${description} ${todo}`;

/** A panel given as an object, for data sources other than Prometheus. */
export const built = (panel: Panel): Builder<Panel> => ({ build: () => panel });

export const PROMETHEUS = { type: "prometheus", uid: `\${datasource}` } as const;

/** A mapping of values to texts. */
export const insteadOf = (texts: NonNullable<Column["texts"]>) => ({
  type: "value",
  options: Object.fromEntries(texts.map(([value, text, color], index) => [String(value), { text, color, index }])),
});

/** A query for one moment. */
export const instant = (refId: string, expr: string, legendFormat = "__auto"): DataqueryBuilder =>
  new DataqueryBuilder()
    .refId(refId)
    .datasource(PROMETHEUS)
    .editorMode(QueryEditorMode.Code)
    .expr(expr)
    .instant()
    .legendFormat(legendFormat);

// --- internal ---

const BARS = 60;
const LINE_POINTS = 300;

/** `histogram_quantile` returns the highest bound for everything above it. */
const moreThan = (highest: number) => ({
  type: "range",
  options: { from: highest - 0.001, to: null, result: { text: `> ${Math.round(highest)} s`, index: 0 } },
});

const WHO = [{ type: "value", options: { true: { text: "subagents" }, false: { text: "main thread" } } }];

/** Names rows without a label. */
const withNames = (keys: readonly LabelKey[], expr: string): string =>
  keys.reduce((made, key) => {
    const otherwise = key === "repository" ? NO_REPOSITORY : key === "model" ? NO_MODEL : undefined;
    return otherwise === undefined ? made : named(key, otherwise, made);
  }, expr);

const refIdOf = (index: number): string => String.fromCharCode("A".charCodeAt(0) + index);

const series = (shown: Shown & { readonly queries: readonly Query[] }): TimeSeries => {
  const panel = new TimeSeries()
    .title(shown.title)
    .description(described(shown))
    .span(shown.width)
    .height(shown.height ?? 8)
    .datasource(PROMETHEUS)
    .unit(shown.unit)
    .noValue(shown.noValue ?? "–")
    .showPoints(VisibilityMode.Never)
    .colorScheme(new FieldColorBuilder().mode(FieldColorModeId.PaletteClassicByName))
    .tooltip(new VizTooltipOptionsBuilder().mode(TooltipDisplayMode.Multi).sort(SortOrder.Descending))
    .targets(
      shown.queries.map(({ expr, legend }, index) =>
        new DataqueryBuilder()
          .refId(refIdOf(index))
          .datasource(PROMETHEUS)
          .editorMode(QueryEditorMode.Code)
          .expr(expr)
          .range()
          .legendFormat(legend),
      ),
    );
  return shown.decimals === undefined ? panel : panel.decimals(shown.decimals);
};

const legend = (calcs: readonly string[]): VizLegendOptionsBuilder =>
  new VizLegendOptionsBuilder()
    .displayMode(LegendDisplayMode.Table)
    .placement(LegendPlacement.Bottom)
    .showLegend(true)
    .calcs([...calcs]);

const lastOf = (): ReduceDataOptionsBuilder => new ReduceDataOptionsBuilder().calcs(["lastNotNull"]).values(false);

const stepsOf = (steps: readonly Step[]): Threshold[] => steps.map(([color, value]) => ({ color, value }));

const thresholds = (steps: readonly Step[] = [["text", null]]): ThresholdsConfigBuilder =>
  new ThresholdsConfigBuilder().mode(ThresholdsMode.Absolute).steps(stepsOf(steps));

/** The builder's links are dashboard links; links of values have another type. */
function linked(shown: Pick<Shown, "links" | "decimals">, panel: Builder<Panel>): Builder<Panel> {
  return {
    build: () => {
      const made = panel.build();
      const defaults = made.fieldConfig?.defaults;
      if (defaults === undefined) return made;
      if (shown.decimals !== undefined) defaults.decimals = shown.decimals;
      if (shown.links !== undefined) Object.assign(defaults, { links: shown.links });
      return made;
    },
  };
}
