import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { ensureBuilt, PROGRAM, ROOT } from "../support/program.ts";
import { install } from "./install.ts";
import { Machine } from "./machine.ts";
import { type Served, startModelServer } from "./model-server.ts";
import { play } from "./play.ts";
import { costOf, nano, PRICES } from "./prices.ts";
import { claudeCode } from "./programs/claude-code.ts";
import { codex } from "./programs/codex.ts";
import { type Program, toolsOf, use } from "./programs/program.ts";
import type { Script, Step, Tools, ToolUse } from "./script.ts";

// Agents edit, commit and create a pull request; what it cost must be what the model server served for it

const CACHE = resolve(process.env["OPENHOOK_LIVE_CACHE"] ?? join(ROOT, "node_modules", ".cache", "openhook-live"));

beforeAll(ensureBuilt);

/** An agent that edits a file with its own tool. */
interface Editor {
  readonly program: Program;
  edit(file: string, before: string, after: string): ToolUse;
}

const EDITORS: readonly Editor[] = [
  {
    program: {
      ...claudeCode,
      arguments: (...of) => [...claudeCode.arguments(...of), "--permission-mode=acceptEdits"],
    },
    edit: (file_path, old_string, new_string) => use("Edit", { file_path, old_string, new_string }),
  },
  {
    program: codex,
    edit: (file, before, after) =>
      use("apply_patch", `*** Begin Patch\n*** Update File: ${file}\n@@\n-${before}\n+${after}\n*** End Patch\n`),
  },
];

const STEPS: readonly Step[] = [
  { prompt: "Add the tax, commit it and open a pull request" },
  { prompt: "Now the rounding", continues: true },
  { prompt: "Back to main: what is this project?" },
];

const BEFORE = "export const price = (euros) => euros * 100;";
const TAXED = "export const price = (euros) => euros * 119;";
const ROUNDED = "export const price = (euros) => Math.round(euros * 119);";

const scriptOf = (t: Tools, edit: (before: string, after: string) => ToolUse): Script => ({
  main: [
    { tools: [t.shell("git switch -q -c fix/SHOP-7"), t.read("src/price.js")], usage: { input: 5003, output: 41 } },
    { tools: [edit(BEFORE, TAXED)], usage: { input: 207, cacheRead: 4901, output: 77, reasoning: 13 } },
    { tools: [t.shell("git commit -am 'Add the tax'")], usage: { input: 211, cacheRead: 5107, output: 35 } },
    { tools: [t.shell("gh pr create --title Tax --body ''")], usage: { input: 217, cacheRead: 5309, output: 39 } },
    { text: "It is open.", usage: { input: 223, cacheRead: 5501, output: 9 } },
    { tools: [edit(TAXED, ROUNDED)], usage: { input: 227, cacheRead: 5701, output: 81 } },
    { tools: [t.shell("git commit -qam 'Round'")], usage: { input: 229, cacheRead: 5903, output: 33 } },
    { text: "Rounded.", usage: { input: 233, cacheRead: 6101, output: 7 } },
    { tools: [t.shell("git switch -q main"), t.read("README.md")], usage: { input: 4999, output: 43 } },
    { text: "A shop.", usage: { input: 239, cacheRead: 4903, output: 8 } },
  ],
});

test.each(EDITORS)("$program.source: the cost of a pull request is what was served for it", async (editor) => {
  const { program } = editor;
  const machine = new Machine(PROGRAM, install(program, CACHE));
  onTestFinished(() => machine.remove());
  const { project, home } = machine;
  const bin = join(home, "bin");
  write(join(bin, "gh"), GH, 0o755);
  // Codex starts commands in a login shell. Drains ignore variables that .profile itself names
  write(join(home, ".profile"), ". ~/.paths\n");
  write(join(home, ".paths"), `PATH="${bin}:$PATH"\n`);
  machine.variables = { PATH: `${bin}:${machine.env["PATH"]}`, ...AUTHOR };
  const pricesFile = join(home, "prices.json");
  write(pricesFile, JSON.stringify({ source: "test", models: { "claude-*": PRICES, "gpt-*": PRICES } }));
  // Made just now, and the log of HEAD has whole seconds: the first call could seem to have made it
  await run(machine, "git", "reflog", "expire", "--expire=all", "--all");
  await run(machine, "git", "remote", "add", "origin", "https://github.com/acme/shop.git");
  const script = scriptOf(toolsOf(program, { project, model: program.model }), (before, after) =>
    editor.edit(join(project, "src", "price.js"), before, after),
  );
  const server = await startModelServer(program.api, script, program.askerOf);
  onTestFinished(() => server.close());
  const place = { home, project, model: program.model, url: server.url };
  machine.settle(program, place, install(program, CACHE));
  await machine.openhook("config", "set", "prices.file", pricesFile);
  await machine.openhook("enable", program.source);
  const served: Served[][] = [];
  const heads: string[] = [];
  for (const step of STEPS) {
    const before = server.served.length;
    await play(program, step, machine, place);
    await machine.drained();
    served.push(server.served.slice(before));
    heads.push((await run(machine, "git", "rev-parse", "fix/SHOP-7")).trim());
  }
  expect(server.problems()).toEqual([]);

  const [first = [], second = [], third = []] = served;
  const json = async (...args: string[]) => JSON.parse(await machine.openhook(...args, "--json"));
  const { rows, total } = await json("report", "change");
  const figures = rows.map((row: Row) => [row.change, row.certainty, row.model_calls, nano(row.cost_usd)]);
  expect(figures).toEqual([
    ["acme/shop#12", "observed", first.length + second.length, costOf([...first, ...second])],
    [null, null, third.length, costOf(third)],
  ]);
  expect(nano(total.cost_usd)).toBe(costOf(served.flat()));

  const change = await json("show", "#12");
  expect(change).toMatchObject({ kind: "pull_request", url: URL, certainty: "observed" });
  expect(nano(change.total.cost_usd)).toBe(costOf([...first, ...second]));
  expect(change.commits.map((one: Row) => [one.commit, one.certainty])).toEqual([
    [heads[0], "observed"],
    [heads[1], "observed"],
  ]);
  // The calls before a commit count for it, so those at the end of the first turn count for the second commit
  const commit = await json("show", heads[0]?.slice(0, 8) ?? "");
  expect(nano(commit.total.cost_usd)).toBe(costOf(first.slice(0, 3)));

  const traceFile = join(home, "trace.jsonl");
  await machine.openhook("export", "agent-trace", "#12", "--output", traceFile);
  const traces = readFileSync(traceFile, "utf8").trim().split("\n");
  const ranges = [{ start_line: 1, end_line: 1 }];
  for (const [at, trace] of traces.entries()) {
    expect(JSON.parse(trace)).toMatchObject({
      vcs: { revision: heads[at] },
      files: [{ path: "src/price.js", conversations: [{ contributor: { type: "ai" }, ranges }] }],
    });
  }
  expect(traces).toHaveLength(2);
  expect(await machine.openhook("pr-comment", "#12")).toContain(
    `| $${(costOf([...first, ...second]) / 1e9).toFixed(2)} |`,
  );
});

// --- internal ---

interface Row {
  readonly change: string | null;
  readonly commit: string;
  readonly certainty: string | null;
  readonly model_calls: number;
  readonly cost_usd: number;
}

const URL = "https://github.com/acme/shop/pull/12";

/** Prints what the real program prints: its progress on stderr, the address on stdout. */
const GH = `#!/bin/sh
[ "$1 $2" = "pr create" ] || exit 2
echo "Creating pull request for $(git branch --show-current) into main in acme/shop" >&2
echo "${URL}"
`;

const AUTHOR = {
  GIT_AUTHOR_NAME: "Dev",
  GIT_AUTHOR_EMAIL: "dev@example.com",
  GIT_COMMITTER_NAME: "Dev",
  GIT_COMMITTER_EMAIL: "dev@example.com",
};

function write(path: string, text: string, mode = 0o644): void {
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, text);
  chmodSync(path, mode);
}

async function run(machine: Machine, command: string, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await machine.start(command, args).finished;
  if (code !== 0) throw new Error(`${command} ${args.join(" ")} ended with ${code}: ${stderr}`);
  return stdout;
}
