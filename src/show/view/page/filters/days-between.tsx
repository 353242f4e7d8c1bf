import { changeParams, type ViewParams } from "../route.ts";

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
