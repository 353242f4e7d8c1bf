import type { Builder } from "@grafana/grafana-foundation-sdk/cog";
import type { Panel } from "@grafana/grafana-foundation-sdk/dashboard";
import { PromQueryFormat } from "@grafana/grafana-foundation-sdk/prometheus";
import { PanelBuilder as Table } from "@grafana/grafana-foundation-sdk/table";
import { described, instant, insteadOf, PROMETHEUS, UNIT } from "./panels.ts";
import { LABEL, type LabelKey } from "./promql.ts";

/** A table with a row for each value of one label and a column for each value of another. Cells are texts with a colour. */
export const matrix = (shown: {
  readonly title: string;
  readonly description: string;
  readonly todo: string;
  readonly width: number;
  readonly height: number;
  readonly row: readonly [LabelKey, string];
  readonly column: readonly [LabelKey, string];
  /** The name of what the query returns. */
  readonly value: string;
  /** One series for each row and column. */
  readonly expr: string;
  /** What values of the query mean. */
  readonly texts: readonly (readonly [value: number, text: string, colour: string])[];
  /** Shown where there is no series. */
  readonly noValue: string;
}): Builder<Panel> => {
  const names = { [LABEL[shown.row[0]]]: shown.row[1], [LABEL[shown.column[0]]]: shown.column[1] };
  return (
    new Table()
      .title(shown.title)
      .description(described(shown))
      .span(shown.width)
      .height(shown.height)
      .datasource(PROMETHEUS)
      .unit(UNIT.count)
      .noValue(shown.noValue)
      .targets([instant("A", shown.expr).format(PromQueryFormat.Table)])
      .transformations([
        {
          id: "organize",
          options: {
            excludeByName: { Time: true, __name__: true },
            indexByName: Object.fromEntries([...Object.keys(names), "Value #A"].map((name, index) => [name, index])),
            // With a single query Grafana names its column without the query's letter
            renameByName: { ...names, Value: shown.value, "Value #A": shown.value },
          },
        },
        {
          id: "groupingToMatrix",
          options: {
            rowField: shown.row[1],
            columnField: shown.column[1],
            valueField: shown.value,
            emptyValue: "null",
          },
        },
      ])
      // The columns' names are not known here, so these apply to all of them
      .mappings([insteadOf(shown.texts) as never])
      .overrideByName(shown.value, [{ id: "unit", value: UNIT.count }])
      .overrideByRegexp(`^(?!${shown.row[1]})`, [
        { id: "custom.cellOptions", value: { type: "color-text" } },
        { id: "custom.align", value: "left" },
      ])
  );
};
