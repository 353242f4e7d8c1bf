import type { Choices } from "../../wire.ts";
import { Day } from "../day.tsx";
import { SearchField } from "../search-field.tsx";
import { Select } from "../select.tsx";
import { SubjectFilters } from "../subject-filters.tsx";
import { PERIODS } from "./period.ts";

interface Props {
  readonly params: Readonly<Record<string, string>>;
  readonly choices: Choices;
  readonly onChange: (change: Readonly<Record<string, string | undefined>>) => void;
}

/** Filters of the session list. */
export function Filters({ params, choices, onChange }: Props) {
  const isFiltered = FILTERS.some((name) => (params[name] ?? "") !== "");
  return (
    <search class="filters" aria-label="Filter sessions">
      <SearchField
        value={params["text"] ?? ""}
        placeholder="Id, repository, branch, folder, model"
        onChange={(text) => onChange({ text })}
      />
      <SubjectFilters params={params} choices={choices} onChange={onChange} />
      <Select
        name="Time"
        value={PERIODS.find(({ value }) => value === params["period"])?.value ?? ""}
        options={PERIODS}
        onChange={(period) => onChange({ period, from: undefined, to: undefined })}
      />
      {params["period"] === "between" ? (
        <>
          <Day name="From" value={params["from"] ?? ""} onChange={(from) => onChange({ from })} />
          <Day name="To" value={params["to"] ?? ""} onChange={(to) => onChange({ to })} />
        </>
      ) : null}
      <label class="check">
        <input
          type="checkbox"
          checked={params["errors"] === "1"}
          onChange={(event) => onChange({ errors: event.currentTarget.checked ? "1" : undefined })}
        />
        Errors only
      </label>
      {isFiltered ? (
        <button type="button" class="quiet" onClick={() => onChange(NO_FILTERS)}>
          Clear filters
        </button>
      ) : null}
    </search>
  );
}

// --- internal ---

const FILTERS = ["text", "agent", "repository", "model", "period", "from", "to", "errors"] as const;
const NO_FILTERS = Object.fromEntries(FILTERS.map((name) => [name, undefined]));
