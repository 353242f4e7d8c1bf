import { useState } from "preact/hooks";
import type { Sort } from "../../wire/api.ts";
import type { Choices } from "../../wire/documents.ts";
import { useApi } from "../data/api.ts";
import { More } from "../figures/table.tsx";
import { DaysBetween, SubjectFilters } from "../filters/filters.tsx";
import { type Days, startOfDay, timeOf } from "../filters/range.ts";
import { keptPlace, useKeptPlace, useTitle } from "../hooks.ts";
import { Check, SearchField, Select } from "../parts/fields.tsx";
import { NoSessionsYet, Placeholder } from "../parts/placeholder.tsx";
import { changeParams, hrefOf, type ViewParams } from "../route.ts";
import { exact, plural } from "../text/format.ts";
import { SessionTable } from "./session-table.tsx";

/** The sessions that match the filters, page by page. The filters are part of the address. */
export function Sessions({ params }: { params: ViewParams }) {
  const { agent, repository, model, text, errors, sort, rising } = params;
  const { period, from, to } = params;
  const query = { agent, repository, model, text, errors, sort, rising, ...boundsOf({ period, from, to }) };
  const [limit, showMore] = useLimit(JSON.stringify(params));
  const { data: list, problem } = useApi("sessions", { ...query, limit: String(limit) });
  useTitle("Sessions");
  useKeptPlace(list?.rows.length ?? 0);
  if (list === undefined) return <Placeholder problem={problem} />;

  const { rows } = list;
  return (
    <>
      <div class="heading">
        <h1>Sessions</h1>
        <p class="muted" role="status">
          {list.matchCount === list.totalCount
            ? exact(list.totalCount)
            : `${exact(list.matchCount)} of ${exact(list.totalCount)}`}
        </p>
      </div>
      <Filters params={params} choices={list.choices} />
      {rows.length === 0 ? (
        <NoMatches hasSessions={list.totalCount > 0} />
      ) : (
        <SessionTable
          rows={rows}
          sorting={{
            sort: (sort as Sort | undefined) ?? "recent",
            rising: rising === "1",
            onSort: (by, up) => changeParams({ sort: by === "recent" ? undefined : by, rising: up ? "1" : undefined }),
          }}
        />
      )}
      {rows.length >= list.matchCount ? null : (
        <More text={plural(list.matchCount - rows.length, "more session")} onMore={showMore} />
      )}
    </>
  );
}

// --- internal ---

const PAGE_ROWS = 50;

function NoMatches({ hasSessions }: { hasSessions: boolean }) {
  if (!hasSessions) return <NoSessionsYet />;
  return (
    <section class="placeholder">
      <h2>No session matches these filters</h2>
      <p>
        <a href={hrefOf("sessions")}>Show all sessions</a>
      </p>
    </section>
  );
}

/**
 * The number of rows to fetch. Every fetch returns all of them, so that shown rows stay up to date. A new query starts with one page, and
 * a list to which the user goes back starts with the rows that it had.
 */
function useLimit(query: string): readonly [limit: number, showMore: () => void] {
  const [state, setState] = useState(() => ({ limit: Math.max(PAGE_ROWS, keptPlace()?.rows ?? 0), query }));
  const limit = state.query === query ? state.limit : PAGE_ROWS;
  return [limit, () => setState({ limit: limit + PAGE_ROWS, query })];
}

/** Filters of the session list. */
function Filters({ params, choices }: { params: ViewParams; choices: Choices }) {
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

const PERIODS = [
  { value: "", text: "Any time" },
  { value: "today", text: "Today" },
  { value: "7", text: "Last 7 days" },
  { value: "30", text: "Last 30 days" },
  { value: "90", text: "Last 90 days" },
  { value: "between", text: "Between …" },
] as const;

interface Chosen extends Days {
  readonly period?: string | undefined;
}

/** The chosen period in the user's time zone, as the server's parameters. */
function boundsOf({ period, ...days }: Chosen): { readonly fromMs?: string; readonly toMs?: string } {
  if (period === "between") {
    const { startMs, endMs } = timeOf(days);
    return {
      ...(startMs !== undefined && { fromMs: String(startMs) }),
      ...(endMs !== undefined && { toMs: String(endMs) }),
    };
  }
  const count = period === "today" ? 1 : Number(period ?? "");
  return count > 0 ? { fromMs: String(startOfDay(count - 1)) } : {};
}

const FILTERS = ["text", "agent", "repository", "model", "period", "from", "to", "errors"] as const;
const NO_FILTERS = Object.fromEntries(FILTERS.map((name) => [name, undefined]));
