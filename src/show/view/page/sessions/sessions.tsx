import { useState } from "preact/hooks";
import type { Sort } from "../../wire/api.ts";
import type { Choices } from "../../wire/documents.ts";
import { useApi } from "../data/api.ts";
import { More } from "../figures/table.tsx";
import { Filters, PeriodFilter, SubjectFilters } from "../filters/filters.tsx";
import { boundsOfParams, titleOf } from "../filters/range.ts";
import { keptPlace, useKeptPlace, useTitle } from "../hooks.ts";
import { Check, SearchField } from "../parts/fields.tsx";
import { NoSessionsYet, Placeholder } from "../parts/placeholder.tsx";
import { changeParams, hrefOf, type ViewParams } from "../route.ts";
import { exact, plural } from "../text/format.ts";
import { safeText } from "../text/safe-text.ts";
import { Found, useFound } from "./found.tsx";
import { SessionTable } from "./session-table.tsx";

/** The sessions that match the filters, page by page. The filters are part of the address. */
export function Sessions({ params }: { params: ViewParams }) {
  const { agent, repository, model, tool, text, errors, sort, rising } = params;
  const filters = { agent, repository, model, tool, text, errors, ...boundsOfParams(params, "all") };
  const [limit, showMore] = useLimit(JSON.stringify(params));
  const { data: list, problem } = useApi("sessions", { ...filters, sort, rising, limit: String(limit) });
  const found = useFound(filters);
  useTitle(titleOf("Sessions", params));
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
      <SessionFilters params={params} choices={list.choices} />
      {rows.length === 0 ? (
        found.isWhole && found.rows.length === 0 ? (
          <NoMatches hasSessions={list.totalCount > 0} />
        ) : null
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
      <Found of={found} />
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
function SessionFilters({ params, choices }: { params: ViewParams; choices: Choices }) {
  const isFiltered = FILTERS.some((name) => (params[name] ?? "") !== "");
  const { tool } = params;
  return (
    <Filters
      label="Filter sessions"
      search={
        <SearchField
          value={params["text"] ?? ""}
          placeholder="Prompts, commands, tools, branches …"
          onChange={(text) => changeParams({ text })}
        />
      }
    >
      <SubjectFilters params={params} choices={choices} />
      <PeriodFilter params={params} fallback="all" />
      <Check
        name="Errors only"
        title="Ended with an error, a turn failed, or at least three tool calls failed, more than twice as often as usual"
        checked={params["errors"] === "1"}
        onChange={(checked) => changeParams({ errors: checked ? "1" : undefined })}
      />
      {tool === undefined ? null : (
        <Check name={`Only with ${safeText(tool)}`} checked onChange={() => changeParams({ tool: undefined })} />
      )}
      {isFiltered ? (
        <button type="button" class="quiet" onClick={() => changeParams(NO_FILTERS)}>
          Clear filters
        </button>
      ) : null}
    </Filters>
  );
}

const FILTERS = ["text", "agent", "repository", "model", "tool", "range", "from", "to", "errors"] as const;
const NO_FILTERS = Object.fromEntries(FILTERS.map((name) => [name, undefined]));
