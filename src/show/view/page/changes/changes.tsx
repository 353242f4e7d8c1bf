import { useState } from "preact/hooks";
import type { ChangeDimension } from "../../wire/api.ts";
import type { ChangeOutcome, ChangesDocument, UsageFigures } from "../../wire/documents.ts";
import { useApi } from "../data/api.ts";
import { command } from "../data/exported.ts";
import { Cost, Tile, Unknown } from "../figures/figures.tsx";
import { Downloads, More } from "../figures/table.tsx";
import { FigureFilters } from "../filters/filters.tsx";
import { boundsOfParams, filtersOf, titleOf } from "../filters/range.ts";
import { useKeptPlace, useTitle } from "../hooks.ts";
import { SearchField, Select } from "../parts/fields.tsx";
import { NoSessionsYet, NothingInPeriod, Placeholder } from "../parts/placeholder.tsx";
import { changeParams, hrefOf, type ViewParams } from "../route.ts";
import { capitalised, exact, percent, plural } from "../text/format.ts";
import { safeText } from "../text/safe-text.ts";
import { ChangeTable } from "./change-table.tsx";

/** What commits, pull requests, branches and tickets cost, the sessions behind them, and what became of them. */
export function Changes({ params }: { params: ViewParams }) {
  const { agent, repository, key, text, source, id } = params;
  const by = GROUP_NAMES.find((one) => one === params["by"]) ?? "change";
  const sort = params["sort"] === "recent" ? "recent" : "cost";
  const query = { agent, repository, ...boundsOfParams(params, "30"), by };
  const [limit, setLimit] = useState(PAGE_ROWS);
  const { data: changes, problem } = useApi("changes", { ...query, key, text, source, id, sort, limit: String(limit) });
  useTitle(titleOf("Changes", params));
  useKeptPlace(changes?.rows.length ?? 0);
  if (changes === undefined) return <Placeholder problem={problem} />;

  const { rows, rowCount, total } = changes;
  const isPart = key !== undefined || id !== undefined;
  return (
    <>
      <div class="heading">
        <h1>Changes</h1>
      </div>
      <FigureFilters
        params={params}
        choices={changes.choices}
        hasModel={false}
        search={
          <SearchField
            value={text ?? ""}
            placeholder="Id, name, repository, agent"
            onChange={(value) => changeParams({ text: value })}
          />
        }
        end={isPart ? null : <Downloads query={query} />}
      >
        <Select
          name="By"
          value={by}
          options={GROUP_CHOICES}
          onChange={(value) => changeParams({ by: value, key: undefined })}
        />
      </FigureFilters>
      {isPart ? <Part of={key} session={id} by={by} /> : null}
      {changes.choices.agents.length === 0 ? (
        <NoSessionsYet />
      ) : total === null ? (
        <NothingInPeriod what="sessions" view="changes" params={{ by }} />
      ) : (
        <>
          {key === undefined ? (
            <Summary document={changes} total={total} href={hrefOf("sessions", filtersOf(params, "30"))} />
          ) : null}
          {rows.length === 0 ? (
            <NoChanges by={by} isSearch={text !== undefined} />
          ) : (
            <ChangeTable
              document={changes}
              sort={sort}
              isOpen={key !== undefined}
              hasSums={key === undefined && text === undefined}
              onSort={(chosen) => changeParams({ sort: chosen === "cost" ? undefined : chosen })}
            />
          )}
          {rows.length >= rowCount ? null : (
            <More text={plural(rowCount - rows.length, "more", "more")} onMore={() => setLimit(limit + PAGE_ROWS)} />
          )}
        </>
      )}
    </>
  );
}

// --- internal ---

/** What changes of each kind are called together, and when they are known; in the order in which the page offers them. */
const GROUPS = {
  change: {
    many: "Changes",
    source: "A change is a pull request, a ticket, or a branch other than the default one, that a session worked on.",
  },
  commit: {
    many: "Commits",
    source: "A commit is known if a session's tool call made it, or if it contains files that a session edited.",
  },
  branch: {
    many: "Branches",
    source: "Branches are known from hooks and from most agents' files; work on the default branch belongs to none.",
  },
  ticket: {
    many: "Tickets",
    source: "A ticket is known if the name of a branch, or a trailer of a commit, contains its id.",
  },
} as const satisfies Record<ChangeDimension, { readonly many: string; readonly source: string }>;

const GROUP_NAMES = Object.keys(GROUPS) as readonly ChangeDimension[];

const PAGE_ROWS = 50;

const GROUP_CHOICES = GROUP_NAMES.map((value) => ({ value, text: capitalised(value) }));

/** Says that only one change, or only the changes of one session, are shown. */
function Part({ of, session, by }: { of: string | undefined; session: string | undefined; by: ChangeDimension }) {
  return (
    <p class="chosen">
      {of === undefined ? "" : `Only ${safeText(of)}. `}
      {session === undefined ? "" : `Only session ${safeText(session)}. `}
      <button
        type="button"
        class="quiet"
        onClick={() => changeParams({ key: undefined, source: undefined, id: undefined })}
      >
        Show all {GROUPS[by].many.toLowerCase()}
      </button>
    </p>
  );
}

function NoChanges({ by, isSearch }: { by: ChangeDimension; isSearch: boolean }) {
  if (isSearch) return <p class="muted">Nothing matches this search.</p>;
  return (
    <section class="placeholder">
      <h2>No {by} is known in this period</h2>
      <p>
        {GROUPS[by].source} All of the cost is in “Without a known {by}”.
      </p>
      <p>
        To get one: enable your agents with <code>{command("enable")}</code> and let them work on a branch and commit.
        For past sessions run <code>{command("outcomes --all")}</code>, which asks git for the commits with files that
        they edited.
      </p>
    </section>
  );
}

/** Cost with and without a change, which add up to the cost of all sessions, and what became of all commits. */
function Summary({ document, total, href }: { document: ChangesDocument; total: UsageFigures; href: string }) {
  const { by, rowCount, withCost, without, outcome } = document;
  const shareOfAll = ({ cost_usd }: ChangesDocument["withCost"]): string =>
    `${percent(cost_usd ?? 0, total.cost_usd ?? 0)} of all`;
  return (
    <dl class="tiles">
      <Tile name="Cost of all sessions" href={href} note={plural(total.sessions, "session")}>
        <Cost of={total} />
      </Tile>
      <Tile name={`With a ${by}`} note={shareOfAll(withCost)}>
        <Cost of={withCost} />
      </Tile>
      <Tile name={`Without a known ${by}`} note={shareOfAll(without ?? NOTHING)}>
        {without === null ? "$0" : <Cost of={without} />}
      </Tile>
      {by === "commit" ? null : <Tile name={GROUPS[by].many}>{exact(rowCount)}</Tile>}
      <Tile
        name="Commits"
        note={
          outcome === null ? null : `${exact(outcome.fates.merged)} merged, ${exact(outcome.fates.reverted)} reverted`
        }
      >
        {exact(outcome?.commits ?? 0)}
      </Tile>
      <LinesKept kept={outcome?.kept ?? null} />
    </dl>
  );
}

const NOTHING = { cost_usd: 0, costIsLowerBound: false };

function LinesKept({ kept }: Pick<ChangeOutcome, "kept">) {
  if (kept === null) {
    return (
      <Tile name="Lines kept" note="not known yet">
        <Unknown />
      </Tile>
    );
  }
  return (
    <Tile name="Lines kept" note={`of ${exact(kept.written)}, after ${plural(kept.days, "day")}`}>
      {percent(kept.kept, kept.written)}
    </Tile>
  );
}
