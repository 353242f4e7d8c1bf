import { useEffect, useState } from "preact/hooks";
import { CHANGE_GROUPS, type ChangeGroup, type ChangesDocument } from "../../wire-changes.ts";
import { useApi } from "../api.ts";
import { Downloads } from "../downloads.tsx";
import { Cost, Tile } from "../figures.tsx";
import { exact, percent, plural } from "../format.ts";
import { dataOf, NoSessionsYet, Placeholder, problemOf } from "../placeholder.tsx";
import { change, hrefOf } from "../route.ts";
import { safeText } from "../safe-text.ts";
import { SearchField } from "../search-field.tsx";
import { Select } from "../select.tsx";
import { FigureFilters } from "../usage/figure-filters.tsx";
import { boundsOfParams } from "../usage/range.ts";
import { ChangeTable } from "./change-table.tsx";
import { GROUP_NAMES, pluralOf } from "./names.ts";

/** What commits, pull requests, branches and tickets cost, the sessions behind them, and what became of them. */
export function Changes({ params }: { params: Readonly<Record<string, string>> }) {
  const { agent, repository, key, text, source, id } = params;
  const by = CHANGE_GROUPS.find((one) => one === params["by"]) ?? "change";
  const sort = params["sort"] === "recent" ? "recent" : "cost";
  const bounds = boundsOfParams(params, "30");
  const [more, setMore] = useState(0);
  const limit = String(PAGE_ROWS + more);
  const response = useApi<ChangesDocument>("changes", {
    agent,
    repository,
    key,
    text,
    source,
    id,
    by,
    sort,
    limit,
    ...bounds,
  });
  const changes = dataOf(response, "changes");
  useEffect(() => {
    document.title = "Changes · openhook-otel";
  }, []);
  if (changes === undefined) return <Placeholder problem={problemOf(response)} />;

  const { rows, rowCount, total } = changes;
  const isPart = key !== undefined || id !== undefined;
  return (
    <>
      <div class="heading wide">
        <h1>Changes</h1>
        {isPart ? null : <Downloads query={{ agent, repository, ...bounds, by }} />}
      </div>
      <FigureFilters params={params} choices={changes.choices} hasModel={false} onChange={change}>
        <SearchField
          value={text ?? ""}
          placeholder="Id, name, repository, agent"
          onChange={(value) => change({ text: value })}
        />
        <Select name="By" value={by} options={GROUPS} onChange={(value) => change({ by: value, key: undefined })} />
      </FigureFilters>
      {isPart ? (
        <p class="chosen">
          {key === undefined ? "" : `Only ${safeText(key)}. `}
          {id === undefined ? "" : `Only session ${safeText(id)}. `}
          <button
            type="button"
            class="quiet"
            onClick={() => change({ key: undefined, source: undefined, id: undefined })}
          >
            Show all {pluralOf(by)}
          </button>
        </p>
      ) : null}
      {changes.choices.agents.length === 0 ? (
        <NoSessionsYet />
      ) : total === null ? (
        <section class="placeholder">
          <h2>No sessions in this period</h2>
          <p>
            <a href={hrefOf("changes", { by, range: "all" })}>Show all time</a>
          </p>
        </section>
      ) : (
        <>
          {key === undefined ? <Summary document={changes} /> : null}
          {rows.length === 0 && text === undefined ? (
            <NoChanges by={by} />
          ) : rows.length === 0 ? (
            <p class="muted">Nothing matches this search.</p>
          ) : (
            <ChangeTable
              document={changes}
              sort={sort}
              isOpen={key !== undefined}
              hasSums={key === undefined && text === undefined}
              onSort={(chosen) => change({ sort: chosen === "cost" ? undefined : chosen })}
            />
          )}
          {rows.length >= rowCount ? null : (
            <p class="more">
              <button type="button" onClick={() => setMore(more + PAGE_ROWS)}>
                Show more
              </button>
              <span class="muted">{plural(rowCount - rows.length, "more", "more")}</span>
            </p>
          )}
        </>
      )}
    </>
  );
}

// --- internal ---

const PAGE_ROWS = 50;

const GROUPS = CHANGE_GROUPS.map((value) => ({ value, text: GROUP_NAMES[value].title }));

/** Cost with and without a change, which add up to the cost of all sessions. */
function Summary({ document: { by, rowCount, total, withCost, without, outcome } }: { document: ChangesDocument }) {
  if (total === null) return null;
  const whole = total.sums.costNanoUsd ?? 0;
  const { one } = GROUP_NAMES[by];
  return (
    <dl class="tiles">
      <Tile name="Cost of all sessions" note={plural(total.sessions, "session")}>
        <Cost nanoUsd={total.sums.costNanoUsd} isLowerBound={total.sums.costIsLowerBound} />
      </Tile>
      <Tile name={`With a ${one}`} note={`${percent(withCost.costNanoUsd ?? 0, whole)} of all`}>
        <Cost nanoUsd={withCost.costNanoUsd} isLowerBound={withCost.costIsLowerBound} />
      </Tile>
      <Tile name={`Without a known ${one}`} note={`${percent(without?.sums.costNanoUsd ?? 0, whole)} of all`}>
        {without === null ? (
          "$0"
        ) : (
          <Cost nanoUsd={without.sums.costNanoUsd} isLowerBound={without.sums.costIsLowerBound} />
        )}
      </Tile>
      {by === "commit" ? null : <Tile name={GROUP_NAMES[by].many}>{exact(rowCount)}</Tile>}
      <Tile
        name="Commits"
        note={
          outcome === null ? null : `${exact(outcome.fates.merged)} merged, ${exact(outcome.fates.reverted)} reverted`
        }
      >
        {exact(outcome?.commits ?? 0)}
      </Tile>
      <Tile
        name="Lines kept"
        note={
          outcome?.kept == null
            ? "not known yet"
            : `of ${exact(outcome.kept.written)}, after ${plural(outcome.kept.days, "day")}`
        }
      >
        {outcome?.kept == null ? (
          <span class="unknown">unknown</span>
        ) : (
          percent(outcome.kept.kept, outcome.kept.written)
        )}
      </Tile>
    </dl>
  );
}

function NoChanges({ by }: { by: ChangeGroup }) {
  return (
    <section class="placeholder">
      <h2>No {GROUP_NAMES[by].one} is known in this period</h2>
      <p>
        {GROUP_NAMES[by].source} Imported sessions have none. All of the cost is in “Without a known{" "}
        {GROUP_NAMES[by].one}”.
      </p>
    </section>
  );
}
