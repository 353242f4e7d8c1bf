import { useState } from "preact/hooks";
import type { ToolRow, ToolsDocument } from "../../wire/documents.ts";
import { useApi } from "../data/api.ts";
import { Tile } from "../figures/figures.tsx";
import { Downloads } from "../figures/table.tsx";
import { FigureFilters } from "../filters/filters.tsx";
import { boundsOfParams, filtersOf, titleOf } from "../filters/range.ts";
import { useKeptPlace, useTitle } from "../hooks.ts";
import { NoSessionsYet, NothingInPeriod, Placeholder } from "../parts/placeholder.tsx";
import { hrefOf, type Params, type ViewParams } from "../route.ts";
import { duration, exact, percent } from "../text/format.ts";
import { safeText } from "../text/safe-text.ts";
import { BUILT_IN, groupRows, serverOf, sumOf, ToolTable, toolName } from "./tool-table.tsx";

/** Calls, outcomes and durations of each tool, by MCP server and one by one. */
export function Tools({ params }: { params: ViewParams }) {
  const { agent, repository } = params;
  const query = { agent, repository, ...boundsOfParams(params, "30") };
  const { data: tools, problem } = useApi("tools", query);
  const filters = filtersOf(params, "30");
  useTitle(titleOf("Tools", params));
  useKeptPlace(tools?.rows.length ?? 0);
  if (tools === undefined) return <Placeholder problem={problem} />;
  return (
    <>
      <div class="heading">
        <h1>Tools</h1>
      </div>
      <FigureFilters
        params={params}
        choices={tools.choices}
        hasModel={false}
        end={<Downloads query={{ ...query, by: "agent,tool" }} />}
      />
      {tools.choices.agents.length === 0 ? (
        <NoSessionsYet />
      ) : tools.rows.length === 0 ? (
        <NothingInPeriod what="tool calls" view="tools" />
      ) : (
        <>
          <Totals rows={tools.rows} filters={filters} />
          <Tables tools={tools} filters={filters} />
        </>
      )}
    </>
  );
}

// --- internal ---

function Totals({ rows, filters }: { rows: readonly ToolRow[]; filters: Params }) {
  const all = sumOf(rows, "All tools");
  return (
    <dl class="tiles">
      <Tile name="Calls" href={hrefOf("sessions", filters)}>
        {exact(all.tool_calls)}
      </Tile>
      <Tile
        name="Failed"
        href={hrefOf("sessions", { ...filters, sort: "errors" })}
        note={`${percent(all.tool_errors, all.tool_calls)} of all`}
      >
        {exact(all.tool_errors)}
      </Tile>
      <Tile name="Denied">{exact(all.tool_denied)}</Tile>
      <Tile name="Time in tools" note="includes waiting for you">
        {duration(all.tool_ms)}
      </Tile>
    </dl>
  );
}

/** The MCP servers, if there are several, the skills, and the tools of all servers or of one of them. */
function Tables({
  tools: { rows, servers, skills, timed, hasMore },
  filters,
}: {
  tools: ToolsDocument;
  filters: Params;
}) {
  const to = ({ tool }: ToolRow, more: Params = {}): string => hrefOf("sessions", { ...filters, tool, ...more });
  const [server, setServer] = useState<string | undefined>(undefined);
  return (
    <>
      {servers.length < 2 ? null : (
        <section aria-labelledby="servers">
          <h2 id="servers">By MCP server</h2>
          <ToolTable
            heading="Server"
            rows={groupRows(servers, BUILT_IN)}
            nameOf={({ tool: name }) => (
              <button
                type="button"
                class="link"
                aria-pressed={server === name}
                onClick={() => setServer(server === name ? undefined : name)}
              >
                {safeText(name)}
              </button>
            )}
          />
        </section>
      )}
      {skills.every(({ name }) => name === null) ? null : (
        <section aria-labelledby="skills">
          <h2 id="skills">By skill</h2>
          <ToolTable
            heading="Skill"
            rows={groupRows(skills, "").filter(({ tool }) => tool !== "")}
            nameOf={({ tool: name }) => safeText(name)}
          />
        </section>
      )}
      <section aria-labelledby="tools">
        <h2 id="tools">
          {server === undefined ? "By tool" : `Tools of ${safeText(server)}`}
          {server === undefined ? null : (
            <button type="button" class="quiet" onClick={() => setServer(undefined)}>
              Show all tools
            </button>
          )}
        </h2>
        <ToolTable
          heading="Tool"
          rows={server === undefined ? rows : rows.filter((row) => serverOf(row) === server)}
          nameOf={(row) => <ToolName row={row} href={to(row)} />}
          hrefOfFailures={(row) => to(row, { sort: "errors" })}
        />
        <p class="muted small">
          Cost after: of the model calls that read the results of this tool alone, in the same turn.{" "}
          {timed.sessions === timed.of
            ? ""
            : `This and p50, p95 ${hasMore ? "so far" : "are"} of the latest ${exact(timed.sessions)} of ${exact(timed.of)} sessions.`}
        </p>
      </section>
    </>
  );
}

const ToolName = ({ row, href }: { row: ToolRow; href: string }) => (
  <>
    <a class="tool-name" href={href}>
      {safeText(toolName(row))}
    </a>
    <span class="muted small">
      {row.agents.map(safeText).join(", ")}
      {row.server === null ? "" : ` · ${safeText(row.server)}`}
    </span>
  </>
);
