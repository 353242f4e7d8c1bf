import type { ComponentChildren } from "preact";
import type { Choices } from "../../wire.ts";
import { SubjectFilters } from "../subject-filters.tsx";
import { PeriodFilter } from "./period-filter.tsx";

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
      <PeriodFilter params={params} fallback="30" onChange={onChange} />
      {children}
      <SubjectFilters params={params} choices={choices} hasModel={hasModel} onChange={onChange} />
    </search>
  );
}
