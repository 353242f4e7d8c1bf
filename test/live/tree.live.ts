import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { openDatabase } from "#store/database.ts";
import { startReceiver } from "../receiver/receiver.ts";
import { ensureBuilt, PROGRAM, ROOT } from "../support/program.ts";
import { install } from "./install.ts";
import { Machine } from "./machine.ts";
import { type ModelServer, type Served, startModelServer } from "./model-server.ts";
import { play } from "./play.ts";
import { costOf, nano, PRICES } from "./prices.ts";
import { claudeCode } from "./programs/claude-code.ts";
import { codex } from "./programs/codex.ts";
import { geminiCli } from "./programs/gemini-cli.ts";
import { type Program, toolsOf, use } from "./programs/program.ts";
import type { Reply, Tools, ToolUse } from "./script.ts";

// Claude Code's shell runs Codex, whose shell runs Gemini CLI: one tree, whose sums are what the three model servers served

const CACHE = resolve(process.env["OPENHOOK_LIVE_CACHE"] ?? join(ROOT, "node_modules", ".cache", "openhook-live"));

beforeAll(ensureBuilt);

/** From the outermost to the innermost. */
const PROGRAMS = [claudeCode, codex, geminiCli] as const;

/** How the command of each agent that starts the next one ends, and what the innermost agent runs. */
interface Ending {
  readonly title: string;
  readonly inner: string;
  readonly innerStatus: ToolUse["status"];
  readonly codexStatus: ToolUse["status"];
  readonly claudeStatus: ToolUse["status"];
  /** Agents that get no second answer, because they are killed. */
  readonly killed: readonly Program[];
}

const ENDINGS: readonly Ending[] = [
  {
    title: "all three end",
    inner: "echo inner",
    innerStatus: "success",
    codexStatus: "success",
    claudeStatus: "success",
    killed: [],
  },
  {
    title: "the innermost is killed in its tool",
    inner: "kill -9 $PPID; sleep 5",
    innerStatus: "unfinished",
    codexStatus: "error",
    claudeStatus: "success",
    killed: [geminiCli],
  },
];

const usageOf = (n: number) => ({ input: 5_000 + n, output: 10 + n });

test.each(ENDINGS)("$title", async ({ inner, codexStatus, claudeStatus, innerStatus, killed }) => {
  const installed = PROGRAMS.map((program) => install(program, CACHE));
  const machine = new Machine(PROGRAM, { binDir: installed.map(({ binDir }) => binDir).join(":") });
  onTestFinished(({ task }) => {
    if (task.result?.state === "fail") console.log(`${launches(machine)}\n${machine.queuedEventsAndLog()}`);
    machine.remove();
  });
  const { project, home } = machine;
  const backend = await startReceiver();
  onTestFinished(() => backend.close());
  const pricesFile = join(home, "prices.json");
  const models = Object.fromEntries(PROGRAMS.map(({ model }) => [model, PRICES]));
  write(pricesFile, JSON.stringify({ source: "test", models }));

  const start = (program: Program, prompt: string): string =>
    `${[program.command, ...program.arguments({ prompt }, program.model)].map((word) => `'${word}'`).join(" ")} < /dev/null`;
  const command = new Map<Program, (tools: Tools) => ToolUse>([
    [claudeCode, (tools) => tools.shell(start(codex, "Do the middle part"), claudeStatus)],
    // Codex waits ten seconds, unless the model asks for more
    [
      codex,
      () => use("exec_command", { cmd: start(geminiCli, "Do the inner part"), yield_time_ms: 30_000 }, codexStatus),
    ],
    [geminiCli, (tools) => tools.shell(inner, innerStatus)],
  ]);
  const servers: ModelServer[] = [];
  const variables: Record<string, string> = {};
  for (const [at, program] of PROGRAMS.entries()) {
    const tool = command.get(program)?.(toolsOf(program, { project, model: program.model }));
    const first: Reply = { tools: tool === undefined ? [] : [tool], usage: usageOf(at * 100 + 1) };
    const second: Reply = { text: "Done.", usage: usageOf(at * 100 + 2) };
    const main = killed.includes(program) ? [first] : [first, second];
    const server = await startModelServer(program.api, { main }, program.askerOf);
    onTestFinished(() => server.close());
    servers.push(server);
    const place = { home, project, model: program.model, url: server.url };
    const own = installed[at];
    if (own !== undefined) machine.settle(program, place, own);
    Object.assign(variables, program.environment(place));
  }
  // Codex starts commands in a login shell, which has the PATH of the profile
  write(join(home, ".profile"), `PATH="${machine.env["PATH"]}"\n`);
  const sources = PROGRAMS.map(({ source }) => source);
  const enable = () => machine.openhook("enable", ...sources);
  await machine.openhook("config", "set", "otlp.endpoint", backend.url);
  await machine.openhook("config", "set", "prices.file", pricesFile);
  await enable().catch(enable);
  machine.variables = variables;
  const place = { home, project, model: claudeCode.model, url: servers[0]?.url ?? "" };
  await play(claudeCode, { prompt: "Let Codex do it" }, machine, place);
  await machine.idle();
  await machine.openhook("drain", "--end-idle");
  expect(servers.map((server) => server.problems())).toEqual([[], [], []]);

  const json = async (...args: string[]) => JSON.parse(await machine.openhook(...args, "--json"));
  const served = servers.map((server) => server.served);
  const callIds = served.map(([first]) => first?.tools[0]?.id);
  const listed: readonly Listed[] = await json("sessions");
  const ids = sources.map((source) => listed.find((one) => one.source === source)?.session_id ?? "");
  expect(listed).toHaveLength(3);

  const tree = await json("show", ids[0] ?? "");
  expect(tree).toMatchObject({
    parent: null,
    child_sessions: [
      {
        source: "codex",
        session_id: ids[1],
        tool_call: callIds[0],
        known_by: "only_open",
        child_sessions: [
          {
            source: "gemini-cli",
            session_id: ids[2],
            tool_call: callIds[1],
            known_by: "named",
            child_sessions: [],
          },
        ],
      },
    ],
  });
  expect(await json("show", ids[2] ?? "")).toMatchObject({ parent: { session_id: ids[1], tool_call: callIds[1] } });

  // What each server served is the session's own cost, and their sum is that of the tree and of the report
  const own = listed.toSorted((a, b) => sources.indexOf(a.source) - sources.indexOf(b.source));
  expect(own.map(({ totals }) => nano(totals.cost_usd))).toEqual(served.map((answers) => costOf(answers)));
  const all: readonly Served[] = served.flat();
  expect(nano(tree.totals_with_children.cost_usd)).toBe(costOf(all));
  expect(nano((await json("report")).total.cost_usd)).toBe(costOf(all));

  // The root span of each child links to the call that started it, in the trace of its parent
  const spans = [...backend.spansById().values()];
  const rootOf = (source: string) =>
    spans.find(
      (span) => span.resource["service.name"] === source && span.attributes["openhook.span.kind"] === "session",
    );
  const callOf = (id: string | undefined) => spans.find((span) => span.attributes["gen_ai.tool.call.id"] === id);
  expect(rootOf("claude-code")?.links).toEqual([]);
  for (const [child, call] of [
    ["codex", callIds[0]],
    ["gemini-cli", callIds[1]],
  ] as const) {
    const { traceId, spanId } = callOf(call) ?? {};
    expect(spanId).toBeDefined();
    expect(rootOf(child)?.links).toMatchObject([{ traceId, spanId }]);
    expect(rootOf(child)?.attributes["openhook.parent.tool.call.id"]).toBe(call);
  }
});

// --- internal ---

interface Listed {
  readonly source: string;
  readonly session_id: string;
  readonly totals: { readonly cost_usd: number };
}

/** What the hooks found, for the report of a failed test. */
function launches({ places }: Machine): string {
  const db = openDatabase(places.storePath);
  const rows = ["sessions", "launches"].map((table) => db.prepare(`SELECT * FROM ${table}`).all());
  db.close();
  return JSON.stringify(rows, null, 1);
}

function write(path: string, text: string): void {
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, text);
}
