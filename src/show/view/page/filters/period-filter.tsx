import { Select } from "../parts/select.tsx";
import { changeParams, type ViewParams } from "../route.ts";
import { DaysBetween } from "./days-between.tsx";
import { RANGES, type Range, rangeNamed } from "./range.ts";

/** The period of the figures, also between two days. */
export function PeriodFilter({ params, fallback }: { params: ViewParams; fallback: Range }) {
  const range = rangeNamed(params["range"], fallback);
  return (
    <>
      <Select name="Time" value={range} options={RANGES} onChange={(value) => changeParams({ range: value })} />
      {range === "between" ? <DaysBetween params={params} /> : null}
    </>
  );
}
