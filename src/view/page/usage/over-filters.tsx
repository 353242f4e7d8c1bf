import type { ComponentChildren } from "preact";
import type { Choices } from "../../wire.ts";
import { About } from "../about.tsx";
import { Select } from "../parts.tsx";
import { RANGES } from "./range.ts";

interface Props {
  readonly params: Readonly<Record<string, string>>;
  readonly choices: Choices;
  readonly hasModel: boolean;
  readonly onChange: (change: Readonly<Record<string, string | undefined>>) => void;
  readonly children?: ComponentChildren;
}

/** The filters of figures, for usage and tools. */
export function OverFilters({ params, choices, hasModel, onChange, children }: Props) {
  return (
    <search class="filters" aria-label="Filter figures">
      <Select
        name="Time"
        value={RANGES.find(({ value }) => value === params["range"])?.value ?? "30"}
        options={RANGES}
        onChange={(range) => onChange({ range })}
      />
      {children}
      <About params={params} choices={choices} hasModel={hasModel} onChange={onChange} />
    </search>
  );
}
