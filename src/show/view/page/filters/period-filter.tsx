import { Select } from "../parts/fields.tsx";
import { changeParams, type ViewParams } from "../route.ts";
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

/** The first and the last day of a period. */
export const DaysBetween = ({ params }: { params: ViewParams }) => (
  <>
    <Day name="From" value={params["from"]} onChange={(from) => changeParams({ from })} />
    <Day name="To" value={params["to"]} onChange={(to) => changeParams({ to })} />
  </>
);

// --- internal ---

/** A labelled day, `2026-11-21`. */
function Day({
  name,
  value = "",
  onChange,
}: {
  name: string;
  value?: string | undefined;
  onChange: (day: string) => void;
}) {
  return (
    <label class="field">
      <span>{name}</span>
      <input type="date" value={value} onChange={(event) => onChange(event.currentTarget.value)} />
    </label>
  );
}
