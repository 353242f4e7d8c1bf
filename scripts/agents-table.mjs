// Writes the table of agents in README.md from the cards in src/agents. `--check` writes nothing and exits 1 when it is
// stale.
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { AS_THE_PROGRAM, importBundled, typescript } from "./import-bundled.mjs";
import { textOfFiles } from "./text-of-files.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const readme = join(root, "README.md");
const BEGIN = "<!-- agents: written by scripts/agents-table.mjs -->";
const END = "<!-- /agents -->";

/** Events as the table has them: one word where any of the types is sent. */
const EVENTS = [
  ["start", ["session.start"]],
  ["end", ["session.end"]],
  ["prompts", ["prompt.submit"]],
  ["tools", ["tool.start", "tool.end"]],
  ["turns", ["turn.end", "turn.error"]],
  ["subagents", ["subagent.start", "subagent.end"]],
  ["model calls", ["model.start", "model.end"]],
  ["compactions", ["compaction"]],
  ["permissions", ["permission"]],
];
const TOKENS = { transcript: "its transcript", payload: "its hooks", none: "–" };
const IDS = { native: "its own", minted: "made here", transcript: "its transcript's" };

const cards = await importBundled({
  stdin: typescript(`export { allAgents } from "./src/agents/registry.ts";`),
  plugins: [textOfFiles],
  ...AS_THE_PROGRAM,
});
const rows = await Promise.all((await cards.allAgents()).map(rowOf));
const columns = ["agent", "seen", "its hooks tell", "tokens from", "cost", "subagents", "session, call ids", "scopes"];
const table = aligned([columns, ...rows.sort(byTitle).map(({ cells }) => cells)]);

const before = await readFile(readme, "utf8");
const [from, to] = [before.indexOf(BEGIN), before.indexOf(END)];
if (from === -1 || to < from) throw new Error(`README.md has no ${BEGIN} … ${END}`);
const after = `${before.slice(0, from + BEGIN.length)}\n\n${table}\n\n${before.slice(to)}`;
if (after !== before) {
  if (process.argv.includes("--check")) {
    console.error("the table of agents in README.md is stale: run node scripts/agents-table.mjs");
    process.exitCode = 1;
  } else {
    await writeFile(readme, after);
    console.log("wrote the table of agents in README.md");
  }
}

// --- internal ---

async function rowOf({ source, title, emits, tokens, capabilities, installer }) {
  const { basis, versions, subagents, sessionIds, callIds } = capabilities;
  const page = `src/agents/${source}/README.md`;
  const told = EVENTS.filter(([, types]) => types.some((type) => emits.includes(type))).map(([word]) => word);
  const scopes = installer === undefined ? [] : (await installer()).default.scopes;
  const cells = [
    existsSync(join(root, page)) ? `[${title}](${page})` : title,
    basis === "recorded" ? (versions ?? "recorded") : "documentation",
    told.join(", "),
    TOKENS[tokens],
    tokens === "none" ? "–" : "yes",
    subagents ? "yes" : "–",
    `${IDS[sessionIds]}, ${IDS[callIds]}`,
    scopes.join(", ") || "–",
  ];
  return { title, basis, cells: cells.map((cell) => cell.replaceAll("|", "\\|")) };
}

/** Recorded ones first, by name; what is no agent of its own last. */
function byTitle(a, b) {
  const rank = ({ title, basis }) => (title.startsWith("Any ") ? 2 : basis === "recorded" ? 0 : 1);
  return rank(a) - rank(b) || (a.title.toLowerCase() < b.title.toLowerCase() ? -1 : 1);
}

function aligned(lines) {
  const widths = lines[0].map((_, column) => Math.max(...lines.map((line) => line[column].length)));
  const row = (cells) => `| ${cells.map((cell, column) => cell.padEnd(widths[column])).join(" | ")} |`;
  return [row(lines[0]), row(widths.map((width) => "-".repeat(width))), ...lines.slice(1).map(row)].join("\n");
}
