import type { ComponentChildren } from "preact";
import type { Choices } from "../../wire.ts";
import { Select } from "../select.tsx";
import { SubjectFilters } from "../subject-filters.tsx";
import { RANGES } from "./range.ts";

interface Props {
  readonly params: Readonly<Record<string, string>>;
  readonly choices: Choices;
  readonly hasModel: boolean;
  readonly onChange: (change: Readonly<Record<string, string | undefined>>) => void;
  readonly children?: ComponentChildren;
}

/** Filters of the usage and tools views. */
export function FigureFilters({ params, choices, hasModel, onChange, children }: Props) {
  return (
    <search class="filters" aria-label="Filter figures">
      <Select
        name="Time"
        value={RANGES.find(({ value }) => value === params["range"])?.value ?? "30"}
        options={RANGES}
        onChange={(range) => onChange({ range })}
      />
      {children}
      <SubjectFilters params={params} choices={choices} hasModel={hasModel} onChange={onChange} />
    </search>
  );
}
