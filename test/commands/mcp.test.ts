import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface, type Interface } from "node:readline";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { explain } from "#commands/explain.ts";
import { insights } from "#commands/insights.ts";
import { type Asking, brought, documentOf } from "#commands/mcp-ask.ts";
import { meantSession, startedBy } from "#commands/mcp-session.ts";
import { shownTo } from "#commands/mcp-tool.ts";
import { TOOLS } from "#commands/mcp-tools.ts";
import { report } from "#commands/report.ts";
import { sessions } from "#commands/sessions.ts";
import { showChange } from "#commands/show-change.ts";
import { placesOf } from "#config/places.ts";
import { findChanges } from "#show/report/find-change.ts";
import { readStore } from "#store/read-only.ts";
import { filledStore } from "../report/filled.ts";
import { contextAt } from "../support/context.ts";
import { ensureBuilt, PROGRAM } from "../support/program.ts";
import { Replay } from "../support/replay.ts";

type Row = Readonly<Record<string, unknown>>;

const JSON_ONLY = { json: true, csv: false, refresh: false };

describe("a store with recorded sessions", () => {
  let of: Replay;
  let asking: Asking;
  beforeAll(async () => {
    ({ of } = await filledStore());
    asking = await brought({ refresh: false }, contextAt(of.places).context);
  });
  afterAll(() => of.remove());

  const ask = (name: string, input: object): Promise<Row> => {
    const tool = TOOLS.find((one) => one.name === name);
    if (tool === undefined) throw new Error(`no tool ${name}`);
    return tool.answer(input, asking, undefined);
  };
  const printed = async (run: Parameters<typeof documentOf>[1]): Promise<unknown> =>
    JSON.parse(JSON.stringify(await documentOf(asking.context, run)));
  const since = "2026-01-01";

  test("cost and breakdown of every session are what report --json and explain --json print", async () => {
    const { rows } = (await printed((to) => report(["session"], { ...JSON_ONLY, since }, to))) as { rows: Row[] };
    expect(rows.length).toBeGreaterThan(8);
    expect(rows.some(({ cost_usd }) => cost_usd === null)).toBe(true);
    for (const row of rows) {
      const name = String(row["session"]);
      const figures = ["cost_usd", "model_calls", "input", "output", "cache_read", "cache_write", "unpriced_calls"];
      const expected = Object.fromEntries(figures.map((figure) => [figure, row[figure]]));
      const cost = await ask("cost", { name });
      expect([name, cost]).toEqual([name, expect.objectContaining(expected)]);
      const explained = (await printed((to) => explain(name, JSON_ONLY, to))) as Row & { time: Row; findings: Row[] };
      expect(cost["unknown"]).toEqual(explained["unknown"]);
      const breakdown = await ask("breakdown", { session: name });
      expect(breakdown["time"]).toMatchObject({
        tool_ms: explained.time["tool_ms"],
        whole_ms: explained.time["whole_ms"],
      });
      expect(breakdown["findings"]).toEqual(explained.findings.map(({ text }) => text));
    }
  });

  test("report, findings, sessions and budget are parts of what the commands print", async () => {
    for (const by of ["agent", "model", "tool", "mcp", "subagent", "branch"] as const) {
      const document = (await printed((to) => report([by], { ...JSON_ONLY, since }, to))) as Row & { rows: Row[] };
      const answer = (await ask("report", { by: [by], since, limit: 30 })) as Row & { rows: Row[] };
      expect(answer.rows.length).toBe(Math.min(30, document.rows.length));
      for (const [i, row] of answer.rows.entries()) expect(document.rows[i]).toMatchObject(row);
      expect(document["total"]).toMatchObject(answer["total"] as Row);
    }
    const found = (await printed((to) => insights({ ...JSON_ONLY, since, limit: 5 }, to))) as Row;
    const findings = await ask("findings", { since });
    expect(findings["total_cost_usd"]).toEqual(found["total_cost_usd"]);
    const listed = (await printed((to) => sessions({ ...JSON_ONLY, limit: 30, tool: "bash" }, to))) as Row[];
    const answer = (await ask("sessions", { tool: "bash", limit: 30 })) as { sessions: Row[] };
    expect(answer.sessions.map((one) => one["session_id"])).toEqual(listed.map((one) => one["session_id"]));
    const budget = (await ask("budget", {})) as { months: Row[] };
    const month = (await printed((to) => report(["month"], JSON_ONLY, to))) as { outlook: Row[] };
    expect(budget.months).toEqual(month.outlook);
  });

  test("no answer has a text that the commands do not print", async () => {
    const all = { ...JSON_ONLY, since };
    const listed = (await printed((to) => sessions({ ...JSON_ONLY, limit: 100 }, to))) as Row[];
    const names = listed.map((one) => `${one["source"]}/${one["session_id"]}`);
    const dimensions = ["agent", "model", "tool", "mcp", "subagent", "session", "branch", "day"];
    const documents = [
      listed,
      await printed((to) => insights({ ...all, limit: 30 }, to)),
      ...(await Promise.all(names.map((name) => printed((to) => explain(name, all, to))))),
      ...(await Promise.all(dimensions.map((by) => printed((to) => report([by], all, to))))),
      await printed((to) => report(["month"], JSON_ONLY, to)),
      await printed((to) => report([], { ...all, blocks: true }, to)),
    ];
    const known = new Set(documents.flatMap(textsIn));
    const answers = [
      ...(await Promise.all(names.flatMap((name) => [ask("cost", { name }), ask("breakdown", { session: name })]))),
      ...(await Promise.all(dimensions.map((by) => ask("report", { by: [by], since })))),
      await ask("findings", { since }),
      await ask("sessions", { since }),
      await ask("budget", {}),
    ];
    const OURS = [/^(name|process)$/, /^no forecast: /, /^20\d\d-\d\d-\d\dT/];
    const others = answers.flatMap(textsIn).filter((one) => !known.has(one) && !OURS.some((mark) => mark.test(one)));
    expect([...new Set(others)]).toEqual([]);
    const sizes = answers.map((answer) => JSON.stringify(answer).length);
    expect(Math.max(...sizes)).toBeLessThan(8_000);
  });

  test("a branch that nobody worked on, and sessions of one", async () => {
    await expect(ask("cost", { of: "branch", name: "nosuch" })).rejects.toThrow("no session on this machine");
    expect(await ask("sessions", { branch: "nosuch" })).toEqual({ sessions: [] });
    const names = readStore(of.places.storePath, (db) => ["main", "master"].flatMap((one) => findChanges(db, one)));
    for (const change of names ?? []) {
      const document = (await printed((to) => showChange(change, { json: true }, to))) as Row & { total: Row };
      const cost = await ask("cost", { of: "branch", name: change.name });
      expect(cost["cost_usd"]).toEqual(document.total?.["cost_usd"] ?? null);
    }
  });
});

describe("this session", () => {
  let at: Replay;
  afterEach(() => at.remove());

  /** Hooks of a recording, of which the end is left out, run by a process. */
  async function worked(agents: readonly (readonly [name: string, pid: number])[]) {
    at = new Replay("claude-code", "basic");
    for (const [name, pid] of agents) {
      const other = new Replay("claude-code", name);
      const [first] = other.calls;
      const calls = other.calls.filter(({ event }) => event !== "SessionEnd");
      at.agentProcess = { pid, start: "77", host: HOST };
      for (const call of calls) at.put({ ...call, env: { ...call.env, HOME: at.home } });
      other.remove();
      expect(first).toBeDefined();
    }
    await at.drain();
    return brought({ refresh: false }, contextAt(at.places, { now: () => LATER_MS }).context);
  }
  const client = (pid: number) => ({ process: `${pid}:77`, host: HOST });

  test("is the one of the agent's process", async () => {
    const asking = await worked([
      ["multi-turn", 41],
      ["thinking", 42],
    ]);
    const [one, other] = [41, 42].map((pid) => meantSession(undefined, client(pid), asking));
    expect(one).toEqual({ name: expect.stringMatching(/^claude-code\//), known_by: "process" });
    expect(other).toEqual({ name: expect.stringMatching(/^claude-code\//), known_by: "process" });
    expect(one?.name).not.toBe(other?.name);
  });

  test("is unknown of a process that ran no hook, and where processes are unknown", async () => {
    const asking = await worked([["multi-turn", 41]]);
    for (const process of [client(43), { process: "41:78", host: HOST }, undefined]) {
      const meant = meantSession(undefined, process, asking);
      expect(meant).toMatchObject({ name: undefined, unknown: { session: null, reason: expect.any(String) } });
    }
  });

  test("is unknown if the process works on two, which are named", async () => {
    const asking = await worked([
      ["multi-turn", 41],
      ["thinking", 41],
    ]);
    const meant = meantSession(undefined, client(41), asking);
    expect(meant).toMatchObject({ name: undefined, unknown: { reason: expect.stringContaining("several sessions") } });
    expect(meant).toMatchObject({ unknown: { candidates: [{}, {}] } });
  });

  test.runIf(existsSync("/proc/self/stat"))("the process is the one above, as hooks name it", () => {
    at = new Replay("claude-code", "basic");
    expect(startedBy(process.pid)).toEqual({
      process: expect.stringMatching(new RegExp(`^${process.pid}:\\d+$`)),
      host: expect.stringMatching(/^\d+\.[0-9a-f-]{36}$/),
    });
    expect(startedBy(0x7fff_fff0)).toBeUndefined();
  });
});

describe("the server", () => {
  let home: string;
  let client: Client;
  beforeAll(async () => {
    await ensureBuilt();
    home = mkdtempSync(join(tmpdir(), "openhook-mcp-"));
    client = new Client(home);
    await client.start();
  });
  afterAll(async () => {
    await client.end();
    rmSync(home, { recursive: true, force: true, maxRetries: 10 });
  });

  test("defines its tools in 2,800 characters, as read-only", async () => {
    const { tools } = (await client.request("tools/list")) as { tools: Row[] };
    expect(tools.map(({ name }) => name)).toEqual(TOOLS.map(({ name }) => name));
    expect(JSON.stringify(tools).length).toBeLessThanOrEqual(2_800);
    for (const { annotations } of tools) expect(annotations).toMatchObject({ readOnlyHint: true });
    const schemas = TOOLS.map((tool) => shownTo(tool)["~standard"].jsonSchema.input());
    expect(tools.map(({ inputSchema }) => inputSchema)).toEqual(schemas);
  });

  test.each<readonly [string, string, unknown]>([
    ["an unknown tool", "nosuch", {}],
    ["the name of a member of objects", "constructor", {}],
    ["an unknown argument", "cost", { path: "/etc/passwd" }],
    ["a wrong type", "report", { by: "agent" }],
    ["an unknown dimension, and hooks", "report", { by: ["hook"] }],
    ["no object", "report", [1, 2]],
    ["a limit that is too large", "report", { limit: 1e9 }],
    ["a text that is too long", "cost", { name: "x".repeat(1_000_000) }],
    ["a wrong time", "report", { since: "'; DROP TABLE sessions; --" }],
    ["an unknown agent", "report", { agent: "' OR 1=1 --" }],
  ])("refuses %s, and answers the next question", async (_, name, given) => {
    const { text, isError } = await client.call(name, given);
    expect(isError).toBe(true);
    expect(text.length).toBeLessThan(600);
    expect(text).not.toContain(home);
    expect(text).not.toMatch(/\n\s+at |node:internal|SqliteError/);
    expect((await client.call("budget", {})).isError).toBe(false);
  });

  test.each(["../../../etc/passwd", "%", "claude-code/%", "' OR 1=1 --", "latest"])(
    "takes %s for no session",
    async (name) => {
      const { text } = await client.call("cost", { name });
      expect(text).toMatch(/nothing is collected yet|no session begins with/);
    },
  );

  test("knows no prompts, resources and other methods", async () => {
    for (const method of ["resources/list", "prompts/list", "resources/read", "completion/complete", "nosuch"])
      await expect(client.request(method)).rejects.toThrow(/not found|-32601/i);
  });

  test("survives lines that are no JSON, and ends with its client", async () => {
    client.write("no JSON\n{]\n\n");
    expect((await client.call("findings", {})).isError).toBe(false);
    expect(await client.end()).toBe(0);
  });
});

test("without a store: why nothing is known, and nothing is created", async () => {
  const home = mkdtempSync(join(tmpdir(), "openhook-mcp-"));
  const places = placesOf({ env: {}, home, platform: "linux" });
  const { context } = contextAt(places);
  const { freshness, ...asking } = await brought({ refresh: false }, context);
  expect(freshness["as_of"]).toBeNull();
  const inputs: Readonly<Record<string, object>> = { cost: {}, breakdown: {} };
  for (const tool of TOOLS) await tool.answer(inputs[tool.name] ?? {}, asking, undefined);
  expect(existsSync(places.stateDir)).toBe(false);
  rmSync(home, { recursive: true });
});

// --- internal ---

const HOST = "4026531836.00000000-0000-4000-8000-000000000000";
const LATER_MS = Date.parse("2026-12-01T00:00:00Z");

function textsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** Speaks the protocol line by line, as the specification has it. */
class Client {
  readonly #child: ChildProcess;
  readonly #lines: Interface;
  readonly #waiting = new Map<number, (answer: Row) => void>();
  readonly #ended: Promise<number | null>;
  #id = 0;

  constructor(home: string) {
    const env = { PATH: process.env["PATH"], HOME: home };
    this.#child = spawn(process.execPath, [PROGRAM, "mcp"], { cwd: home, env, stdio: ["pipe", "pipe", "inherit"] });
    this.#ended = new Promise((done) => this.#child.once("exit", done));
    if (this.#child.stdout === null) throw new Error("no stdout");
    this.#lines = createInterface({ input: this.#child.stdout });
    this.#lines.on("line", (line) => {
      const answer = JSON.parse(line) as Row;
      this.#waiting.get(Number(answer["id"]))?.(answer);
    });
  }

  async start(): Promise<void> {
    const clientInfo = { name: "test", version: "1" };
    await this.request("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo });
    this.write(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`);
  }

  write(text: string): void {
    this.#child.stdin?.write(text);
  }

  async request(method: string, params: unknown = {}): Promise<unknown> {
    const id = ++this.#id;
    const answered = new Promise<Row>((done) => this.#waiting.set(id, done));
    this.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    const { result, error } = await answered;
    if (error !== undefined) throw new Error(JSON.stringify(error));
    return result;
  }

  async call(name: string, given: unknown): Promise<{ readonly text: string; readonly isError: boolean }> {
    try {
      const result = (await this.request("tools/call", { name, arguments: given })) as Row;
      const [content] = result["content"] as readonly Row[];
      return { text: String(content?.["text"]), isError: result["isError"] === true };
    } catch (error) {
      return { text: String(error), isError: true };
    }
  }

  end(): Promise<number | null> {
    this.#child.stdin?.end();
    return this.#ended;
  }
}
