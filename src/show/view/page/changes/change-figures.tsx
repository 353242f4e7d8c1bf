import type { UsageFigures } from "../../wire/documents.ts";
import { Cost, InOut, Unknown } from "../figures/figures.tsx";
import { NumberCell } from "../figures/table.tsx";
import { duration, exact } from "../text/format.ts";

/** The cells of a change's figures, or of a sum. */
export function ChangeFigures({ figures }: { figures: UsageFigures }) {
  const { turns, modelMs, tool_ms } = figures;
  return (
    <>
      <NumberCell name="Cost">
        <Cost of={figures} />
      </NumberCell>
      <NumberCell name="Model time">{modelMs === null ? <Unknown /> : duration(modelMs)}</NumberCell>
      <NumberCell name="Tool time">{tool_ms === undefined ? <Unknown /> : duration(tool_ms)}</NumberCell>
      <NumberCell name="Tokens">
        <InOut of={figures} />
      </NumberCell>
      <NumberCell name="Turns">{turns === undefined ? <Unknown /> : exact(turns)}</NumberCell>
    </>
  );
}
