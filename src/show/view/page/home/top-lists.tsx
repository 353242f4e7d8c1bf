import type { ComponentChildren } from "preact";
import type { Split } from "../../wire/api.ts";
import type { HomeDocument, ToolRow } from "../../wire/documents.ts";
import { measureOf, mostExpensive } from "../figures/compare.ts";
import { Cost, Model, Unknown } from "../figures/figures.tsx";
import { ShareCell } from "../figures/table.tsx";
import { hrefOf } from "../route.ts";
import { exact, percent } from "../text/format.ts";
import { safeText } from "../text/safe-text.ts";
import { toolName } from "../tools/tool-table.tsx";

type Filters = Readonly<Record<string, string | undefined>>;

interface GroupProps {
  readonly title: string;
  readonly split: Split;
  readonly groups: HomeDocument["models"];
  /** The chosen period, for links to other views. */
  readonly filters: Filters;
}

/** The most expensive repositories, models or agents. */
export function TopGroups({ title, split, groups, filters }: GroupProps) {
  // One row says what the tiles say
  if (groups.length < 2) return null;
  const measure = measureOf(groups);
  const sizes = groups.map((group) => measure(group) ?? 0);
  const whole = sizes.reduce((sum, size) => sum + size, 0);
  const largest = Math.max(1, ...sizes);
  // A group with an unknown cost has no share, which is not the same as 0 %
  const shareOf = (size: number | null): string => (size === null ? "" : percent(size, whole));
  const sorted = mostExpensive(groups);
  return (
    <TopList
      id={split}
      title={title}
      all={hrefOf("usage", { ...filters, by: split })}
      count={groups.length}
      heads={["Cost", "Share"]}
    >
      {sorted.slice(0, SHOWN).map((group) => (
        <TopRow
          key={group.key ?? ""}
          share={(measure(group) ?? 0) / largest}
          name={
            group.key === null ? (
              <Unknown />
            ) : (
              <a href={hrefOf("sessions", { ...filters, [split]: group.key, sort: "cost" })}>
                {split === "model" ? <Model name={group.name ?? ""} /> : safeText(group.name ?? "")}
              </a>
            )
          }
        >
          <td class="number">
            <Cost of={group.figures} />
          </td>
          <td class="number muted">{shareOf(measure(group))}</td>
        </TopRow>
      ))}
    </TopList>
  );
}

/** The tools that are called most, with their failures. */
export function TopTools({ rows, filters }: { rows: readonly ToolRow[]; filters: Filters }) {
  if (rows.length < 2) return null;
  const sorted = rows.toSorted((a, b) => b.tool_calls - a.tool_calls);
  const largest = Math.max(1, ...rows.map(({ tool_calls }) => tool_calls));
  return (
    <TopList id="tool" title="Tools" all={hrefOf("tools", filters)} count={rows.length} heads={["Calls", "Failed"]}>
      {sorted.slice(0, SHOWN).map((row) => (
        <TopRow
          key={row.tool}
          share={row.tool_calls / largest}
          name={
            <a href={hrefOf("sessions", { ...filters, tool: row.tool })} title={row.agents.map(safeText).join(", ")}>
              {nameOf(row)}
            </a>
          }
        >
          <td class="number">{exact(row.tool_calls)}</td>
          <td class="number">
            {row.tool_errors === 0 ? (
              <span class="muted">0</span>
            ) : (
              `${exact(row.tool_errors)} (${percent(row.tool_errors, row.tool_calls)})`
            )}
          </td>
        </TopRow>
      ))}
    </TopList>
  );
}

// --- internal ---

/** Rows per list; the link leads to all of them. */
const SHOWN = 5;

const nameOf = (row: ToolRow): string =>
  `${row.server === null ? "" : `${safeText(row.server)}: `}${safeText(toolName(row))}`;

interface ListProps {
  readonly id: string;
  readonly title: string;
  /** The view with all rows. */
  readonly all: string;
  readonly count: number;
  /** Names of the columns after the bar. */
  readonly heads: readonly [string, string];
  readonly children: ComponentChildren;
}

function TopList({ id, title, all, count, heads, children }: ListProps) {
  return (
    <section class="top-list" aria-labelledby={`top-${id}`}>
      <h2 id={`top-${id}`}>
        {title}
        <a href={all}>
          {count > SHOWN ? `${count - SHOWN} more` : "Details"}
          <span class="sr"> of {title}</span>
        </a>
      </h2>
      <table>
        <thead>
          <tr>
            <th scope="col">
              <span class="sr">Name</span>
            </th>
            <th scope="col">
              <span class="sr">Share</span>
            </th>
            {heads.map((head) => (
              <th key={head} scope="col" class="number">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </section>
  );
}

function TopRow({ name, share, children }: { name: ComponentChildren; share: number; children: ComponentChildren }) {
  return (
    <tr>
      <th scope="row">{name}</th>
      <ShareCell share={share} />
      {children}
    </tr>
  );
}
