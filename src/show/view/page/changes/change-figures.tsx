import type { UsageFigures } from "../../wire/figures.ts";
import { Cost, InOut, Unknown } from "../figures/figures.tsx";
import { NumberCell } from "../figures/table.tsx";
import { duration, exact } from "../text/format.ts";

/** The cells of a change's figures, or of a sum. */
export function ChangeFigures({ figures: { sums, turns, modelMs, toolMs } }: { figures: UsageFigures }) {
  return (
    <>
      <NumberCell name="Cost">
        <Cost of={sums} />
      </NumberCell>
      <NumberCell name="Model time">{modelMs === null ? <Unknown /> : duration(modelMs)}</NumberCell>
      <NumberCell name="Tool time">{toolMs === null ? <Unknown /> : duration(toolMs)}</NumberCell>
      <NumberCell name="Tokens">
        <InOut of={sums} />
      </NumberCell>
      <NumberCell name="Turns">{turns === null ? <Unknown /> : exact(turns)}</NumberCell>
    </>
  );
}
