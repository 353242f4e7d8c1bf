import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { ensureBuilt, PROGRAM, ROOT } from "../support/program.ts";
import { install } from "./install.ts";
import { Machine } from "./machine.ts";
import { startModelServer } from "./model-server.ts";
import { play } from "./play.ts";
import { PRICES } from "./prices.ts";
import { claudeCode } from "./programs/claude-code.ts";
import { codex } from "./programs/codex.ts";
import { geminiCli } from "./programs/gemini-cli.ts";
import { opencode } from "./programs/opencode.ts";
import { type Program, toolsOf } from "./programs/program.ts";
import { qwenCode } from "./programs/qwen-code.ts";

// The model of a real agent asks our MCP server what the running session costs, and gets what `report --json` prints

const CACHE = resolve(process.env["OPENHOOK_LIVE_CACHE"] ?? join(ROOT, "node_modules", ".cache", "openhook-live"));

const PROGRAMS: readonly Program[] = [claudeCode, codex, geminiCli, opencode, qwenCode];
/** Users allow it in a dialog, or in the settings. */
const MORE: Readonly<Record<string, readonly string[]>> = { "claude-code": ["--allowedTools", "mcp__openhook-otel"] };
/** They write the tokens of a call down when its tools have run: until then they are unknown. */
const LATER: readonly string[] = ["opencode"];

beforeAll(ensureBuilt);

test.each(PROGRAMS.map((program) => [program.source, program] as const))("%s", async (source, plain) => {
  const program: Program = {
    ...plain,
    arguments: (...of) => [...plain.arguments(...of), ...(MORE[source] ?? [])],
  };
  const installed = install(program, CACHE);
  const machine = new Machine(PROGRAM, installed);
  onTestFinished(({ task }) => {
    if (task.result?.state === "fail") console.log(machine.queuedEventsAndLog());
    machine.remove();
  });
  const { project, home } = machine;
  const place = { project, model: program.model };
  const asks = program.extensions?.calls?.("openhook-otel", "cost", {}) ?? [];
  const usage = { input: 5003, output: 21 };
  const command = `${process.execPath} ${PROGRAM} report session --json --no-refresh > asked.json`;
  const script = {
    main: [
      { tools: [asks].flat(), usage },
      { tools: [toolsOf(program, place).shell(command)], usage: { input: 307, cacheRead: 4802, output: 22 } },
      { text: "It costs that.", usage: { input: 309, cacheRead: 5004, output: 9 } },
    ],
  };
  const bodies: unknown[] = [];
  const server = await startModelServer(program.api, script, (request) => {
    bodies.push(request.body);
    return program.askerOf(request);
  });
  onTestFinished(() => server.close());
  machine.settle(program, { ...place, home, url: server.url }, installed);
  const pricesFile = join(home, "prices.json");
  writeFileSync(pricesFile, JSON.stringify({ source: "test", models: { [program.model]: PRICES } }));
  await machine.openhook("config", "set", "prices.file", pricesFile);
  const enable = () => machine.openhook("enable", program.source, "--mcp");
  await enable().catch(enable);

  await play(program, { prompt: "What does this cost?" }, machine, { ...place, home, url: server.url });
  await machine.drained();
  expect(server.problems()).toEqual([]);
  const [answer] = bodies.flatMap(answersIn);
  const report = JSON.parse(await machine.openhook("report", "session", "--json"));
  const known = LATER.includes(source) ? { calls_without_usage: 1, cost_usd: null, input: null } : usage;
  expect(answer).toMatchObject({ known_by: "process", source, ...known, model_calls: 1 });
  const [row, ...others] = JSON.parse(readFileSync(join(project, "asked.json"), "utf8")).rows;
  expect(others).toEqual([]);
  const { session, cost_usd, input, output, cache_read, model_calls, unpriced_calls } = row;
  expect(answer).toMatchObject({ cost_usd, input, output, cache_read, model_calls, unpriced_calls });
  expect(`${answer?.["source"]}/${answer?.["session_id"]}`).toBe(session);
  if (!LATER.includes(source)) expect(cost_usd).toBeGreaterThan(0);
  // Our own call is one as any other
  expect(report.rows).toMatchObject([{ session, tool_calls: 2, model_calls: 3 }]);
});

// --- internal ---

/** Our answers in a request to the model, in whatever form the agent hands them on. */
function answersIn(value: unknown): readonly Record<string, unknown>[] {
  if (typeof value === "string") {
    const [json] = /\{"source":.*"not_shown_yet":[^{}]*\}/s.exec(value) ?? [];
    if (json !== undefined) {
      try {
        return [JSON.parse(json)];
      } catch {
        return answersIn(JSON.parse(`"${json}"`));
      }
    }
    return [];
  }
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(answersIn) : [];
}
