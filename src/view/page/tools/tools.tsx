import { useEffect, useState } from "preact/hooks";
import type { ToolRow, ToolsDocument } from "../../wire.ts";
import { useApi } from "../api.ts";
import { Downloads } from "../downloads.tsx";
import { Tile } from "../figures.tsx";
import { duration, exact, percent } from "../format.ts";
import { dataOf, NoSessionsYet, Placeholder, problemOf } from "../placeholder.tsx";
import { change, hrefOf } from "../route.ts";
import { safeText } from "../safe-text.ts";
import { FigureFilters } from "../usage/figure-filters.tsx";
import { boundsOfParams } from "../usage/range.ts";
import { toolName } from "./tool-name.ts";
import { ToolTable } from "./tool-table.tsx";

/** Calls, outcomes and durations of each tool, by MCP server and one by one. */
export function Tools({ params }: { params: Readonly<Record<string, string>> }) {
  const { agent, repository } = params;
  const bounds = boundsOfParams(params, "30");
  const response = useApi<ToolsDocument>("tools", {
    agent,
    repository,
    ...bounds,
  });
  const [server, setServer] = useState<string | undefined>(undefined);
  const tools = dataOf(response, "tools");
  useEffect(() => {
    document.title = "Tools · openhook-otel";
  }, []);
  if (tools === undefined) return <Placeholder problem={problemOf(response)} />;

  const all = sumOf(tools.rows, "All tools");
  const servers = byServer(tools.rows);
  const rows = server === undefined ? tools.rows : tools.rows.filter((row) => serverName(row) === server);
  return (
    <>
      <div class="heading wide">
        <h1>Tools</h1>
        <Downloads query={{ agent, repository, ...bounds, by: "agent,tool" }} />
      </div>
      <FigureFilters params={params} choices={tools.choices} hasModel={false} onChange={change} />
      {tools.choices.agents.length === 0 ? (
        <NoSessionsYet />
      ) : tools.rows.length === 0 ? (
        <section class="placeholder">
          <h2>No tool calls in this period</h2>
          <p>
            <a href={hrefOf("tools", { range: "all" })}>Show all time</a>
          </p>
        </section>
      ) : (
        <>
          <dl class="tiles">
            <Tile name="Calls">{exact(all.calls)}</Tile>
            <Tile name="Failed" note={`${percent(all.errors, all.calls)} of all`}>
              {exact(all.errors)}
            </Tile>
            <Tile name="Denied">{exact(all.denied)}</Tile>
            <Tile name="Time in tools" note="includes waiting for you">
              {duration(all.toolMs)}
            </Tile>
          </dl>
          {servers.length < 2 ? null : (
            <section aria-labelledby="servers">
              <h2 id="servers">By MCP server</h2>
              <ToolTable
                heading="Server"
                rows={servers.map((sums) => ({
                  key: sums.tool,
                  sums,
                  cell: (
                    <button
                      type="button"
                      class="link"
                      aria-pressed={server === sums.tool}
                      onClick={() => setServer(server === sums.tool ? undefined : sums.tool)}
                    >
                      {safeText(sums.tool)}
                    </button>
                  ),
                }))}
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
              rows={rows.map((sums) => ({
                key: `${sums.agent}/${sums.tool}`,
                sums,
                cell: (
                  <>
                    <span class="tool-name">{safeText(toolName(sums))}</span>
                    <span class="muted small">
                      {safeText(sums.agent)}
                      {sums.server === null ? "" : ` · ${safeText(sums.server)}`}
                    </span>
                  </>
                ),
              }))}
            />
          </section>
        </>
      )}
    </>
  );
}

// --- internal ---

const BUILT_IN = "Built-in";

const serverName = ({ server }: ToolRow): string => server ?? BUILT_IN;

function sumOf(rows: readonly ToolRow[], name: string): ToolRow {
  const sum = (pick: (row: ToolRow) => number): number => rows.reduce((n, row) => n + pick(row), 0);
  return {
    agent: "",
    tool: name,
    server: null,
    sessions: 0,
    calls: sum(({ calls }) => calls),
    errors: sum(({ errors }) => errors),
    denied: sum(({ denied }) => denied),
    unfinished: sum(({ unfinished }) => unfinished),
    open: sum(({ open }) => open),
    toolMs: sum(({ toolMs }) => toolMs),
  };
}

function byServer(rows: readonly ToolRow[]): readonly ToolRow[] {
  const groups = new Map<string, ToolRow[]>();
  for (const row of rows) groups.set(serverName(row), [...(groups.get(serverName(row)) ?? []), row]);
  return [...groups].map(([name, tools]) => sumOf(tools, name));
}
