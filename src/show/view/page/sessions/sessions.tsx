import { useState } from "preact/hooks";
import type { Sort } from "../../wire/params.ts";
import { useApi } from "../data/api.ts";
import { keptPlace, useKeptPlace } from "../hooks/use-kept-place.ts";
import { useTitle } from "../hooks/use-title.ts";
import { More } from "../parts/more.tsx";
import { NoSessionsYet, Placeholder } from "../parts/placeholder.tsx";
import { changeParams, hrefOf, type ViewParams } from "../route.ts";
import { exact, plural } from "../text/format.ts";
import { Filters } from "./filters.tsx";
import { boundsOf } from "./period.ts";
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
