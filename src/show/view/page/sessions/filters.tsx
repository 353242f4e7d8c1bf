import type { Choices } from "../../wire/documents.ts";
import { DaysBetween } from "../filters/days-between.tsx";
import { SubjectFilters } from "../filters/subject-filters.tsx";
import { Check } from "../parts/check.tsx";
import { SearchField } from "../parts/search-field.tsx";
import { Select } from "../parts/select.tsx";
import { changeParams, type ViewParams } from "../route.ts";
import { PERIODS } from "./period.ts";

/** Filters of the session list. */
export function Filters({ params, choices }: { params: ViewParams; choices: Choices }) {
  const isFiltered = FILTERS.some((name) => (params[name] ?? "") !== "");
  return (
    <search class="filters" aria-label="Filter sessions">
      <SearchField
        value={params["text"] ?? ""}
        placeholder="Id, repository, branch, folder, model"
        onChange={(text) => changeParams({ text })}
      />
      <SubjectFilters params={params} choices={choices} />
      <Select
        name="Time"
        value={PERIODS.find(({ value }) => value === params["period"])?.value ?? ""}
        options={PERIODS}
        onChange={(period) => changeParams({ period, from: undefined, to: undefined })}
      />
      {params["period"] === "between" ? <DaysBetween params={params} /> : null}
      <Check
        name="Errors only"
        title="Ended with an error, a turn failed, or more tool calls failed than usual"
        checked={params["errors"] === "1"}
        onChange={(checked) => changeParams({ errors: checked ? "1" : undefined })}
      />
      {isFiltered ? (
        <button type="button" class="quiet" onClick={() => changeParams(NO_FILTERS)}>
          Clear filters
        </button>
      ) : null}
    </search>
  );
}

// --- internal ---

const FILTERS = ["text", "agent", "repository", "model", "period", "from", "to", "errors"] as const;
const NO_FILTERS = Object.fromEntries(FILTERS.map((name) => [name, undefined]));
