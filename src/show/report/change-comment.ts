import type { Agent } from "#core/model/agent.ts";
import { cardOf } from "#core/rules/cards.ts";
import { ownPrices } from "#core/rules/price.ts";
import { describePrices } from "#core/telemetry/cost.ts";
import { plural } from "#kit/text/figures.ts";
import { printable } from "#kit/text/terminal.ts";
import type { ChangeReport } from "./change-report.ts";
import type { Dimension } from "./query.ts";
import { shortId } from "./text/change.ts";
import { figureColumns } from "./text/usage-figures.ts";
import { unnamed } from "./text/usage-keys.ts";
import { notesOf } from "./text/usage-notes.ts";
import type { UsageRow } from "./usage-rows.ts";

/**
 * What a change cost, as Markdown for its pull request. It can be published: it has figures, agents, models and ids of commits, but no
 * title, message, file, branch, user or session.
 *
 * @returns `undefined` if no work counts for the change
 */
export function changeComment(report: ChangeReport, agents: readonly Agent[]): string | undefined {
  const { total, agents: byAgent, models, commits } = report;
  if (total === undefined) return undefined;
  const titleOf = (source: string): string => cardOf({ agents }, source)?.title ?? source;
  const inferred = commits.filter(({ certainty }) => certainty === "inferred").length;
  const ids = commits.slice(0, MAX_COMMITS).map(({ commit }) => `\`${shortId(commit)}\``);
  const more = commits.length - ids.length;
  const notes = [
    ...(commits.length === 0
      ? []
      : [
          `${plural(commits.length, "commit")} by agents: ${ids.join(", ")}${more > 0 ? ` and ${more} more` : ""}${inferred > 0 ? `; ${inferred} inferred` : ""}`,
        ]),
    report.change.isFromMessage === true
      ? "certainty: inferred, from the messages of the commits that brought these to the default branch"
      : total.certainty === "inferred"
        ? "certainty: inferred, a part may belong to another change"
        : "certainty: observed, from what the agents' tool calls printed and the branch that was checked out",
    // The user's description of own prices may name a contract, which must not be published
    ...notesOf(report, ownPrices() === undefined ? describePrices() : "own prices, and list prices of other models"),
  ];
  return [
    "### What agents cost for this change",
    "",
    ...markdownTable("agent", byAgent, byAgent.length > 1 ? total : undefined, titleOf),
    "",
    ...(models.length > 1 ? [...markdownTable("model", models, undefined, (name) => name), ""] : []),
    ...notes.map((note) => `- ${escaped(note)}`),
    "",
    `<sub>${plural(total.sessions, "session")} on one machine, counted by openhook-otel. Work elsewhere is not included.</sub>`,
    "",
  ].join("\n");
}

/** Names come from agents: as text, whatever they contain. Code keeps its backticks. */
export const escaped = (text: string): string =>
  printable(text)
    .replace(/[\\|*_[\]<>#@~]/g, (sign) => `\\${sign}`)
    .replaceAll("\\@", "&#64;");

// --- internal ---

const MAX_COMMITS = 20;

const TITLES: Readonly<Record<string, string>> = {
  in: "input tokens",
  cached: "cached",
  out: "output tokens",
  calls: "model calls",
  tools: "tool calls",
  failed: "failed",
};

function markdownTable(
  by: Dimension,
  rows: readonly UsageRow[],
  total: UsageRow | undefined,
  titleOf: (name: string) => string,
): readonly string[] {
  const lines = [
    ...rows.map((row) => ({ row, keys: [escaped(titleOf(row.key[by] ?? unnamed(by)))], isTotal: false })),
    ...(total === undefined ? [] : [{ row: total, keys: ["**total**"], isTotal: true }]),
  ];
  const columns = figureColumns([by], "cost", { failed: 0, calls: 0 }).filter(({ cell }) =>
    lines.some((line) => cell(line) !== ""),
  );
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [
    line([by, ...columns.map(({ title }) => TITLES[title] ?? title)]),
    line(["---", ...columns.map(() => "--:")]),
    ...lines.map((one) => line([...one.keys, ...columns.map(({ cell }) => cell(one).replace("?", "unknown"))])),
  ];
}
