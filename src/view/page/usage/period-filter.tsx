import { Day } from "../day.tsx";
import { Select } from "../select.tsx";
import { RANGES, type Range, rangeNamed } from "./range.ts";

interface Props {
  readonly params: Readonly<Record<string, string>>;
  readonly fallback: Range;
  readonly onChange: (change: Readonly<Record<string, string | undefined>>) => void;
}

/** The period of the figures, also between two days. */
export function PeriodFilter({ params, fallback, onChange }: Props) {
  const range = rangeNamed(params["range"], fallback);
  return (
    <>
      <Select name="Time" value={range} options={RANGES} onChange={(value) => onChange({ range: value })} />
      {range === "between" ? (
        <>
          <Day name="From" value={params["from"] ?? ""} onChange={(from) => onChange({ from })} />
          <Day name="To" value={params["to"] ?? ""} onChange={(to) => onChange({ to })} />
        </>
      ) : null}
    </>
  );
}
