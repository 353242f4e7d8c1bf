import type { ComponentChildren } from "preact";
import type { Choices } from "../../wire/documents.ts";
import type { ViewParams } from "../route.ts";
import { PeriodFilter } from "./period-filter.tsx";
import { SubjectFilters } from "./subject-filters.tsx";

interface Props {
  readonly params: ViewParams;
  readonly choices: Choices;
  readonly hasModel: boolean;
  /** Filters that only one view has. */
  readonly children?: ComponentChildren;
}

/** Filters of the views with figures. */
export function FigureFilters({ params, choices, hasModel, children }: Props) {
  return (
    <search class="filters" aria-label="Filter figures">
      <PeriodFilter params={params} fallback="30" />
      {children}
      <SubjectFilters params={params} choices={choices} hasModel={hasModel} />
    </search>
  );
}
