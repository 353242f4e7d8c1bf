import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { allAgents } from "#agents/registry.ts";
import { reduceToolName } from "#core/rules/names.ts";
import { CONTENT_ATTRIBUTES } from "#core/telemetry/attributes.ts";
import { openDatabase } from "#store/database.ts";
import { ensureSession, limitCapture } from "#store/sessions.ts";
import { type Receiver, startReceiver } from "../receiver/receiver.ts";
import { clockAt } from "../support/clock.ts";
import { CASES, type RecordedCall, Replay } from "../support/replay.ts";
import type { Expected } from "../support/summary.ts";
import { firstOf } from "../support/whole.ts";

let replay: Replay | undefined;
let receiver: Receiver | undefined;
afterEach(async () => {
  replay?.remove();
  await receiver?.close();
  receiver = undefined;
});

const PROMPT = "Look at src and tell me where to add a discount";

test("if the level is lowered before sending, no content is sent, and the store's file contains none", async () => {
  const of = await drainedSession({ OPENHOOK_OTEL_CAPTURE: "full" });
  expect(storeText(of).includes(PROMPT)).toBe(true);
  receiver = await startReceiver();
  const log: string[] = [];
  await drainAt(of, { OPENHOOK_OTEL_CAPTURE: "metadata", OPENHOOK_OTEL_OTLP_ENDPOINT: receiver.url }, (line) =>
    log.push(line),
  );
  expect(receiver.spans.length).toBeGreaterThan(0);
  for (const { attributes } of receiver.spans) {
    for (const name of CONTENT_ATTRIBUTES) expect(attributes).not.toHaveProperty([name]);
  }
  expect(storeText(of).includes(PROMPT)).toBe(false);
  expect(log).toContain("capture is metadata now: content that was kept before is deleted");
});

test.each(
  firstOf(
    [
      ["a file that is not valid", '{ "capture": "full" "x" }', {}],
      ["an unknown level", '{ "capture": "ful" }', {}],
      ["a variable with an unknown level", '{ "capture": "full" }', { OPENHOOK_OTEL_CAPTURE: "ful" }],
    ] as const,
    1,
  ),
)(
  "%s: stored content stays, new content is stored as before, and nothing is sent until it is fixed",
  async (_, text, env) => {
    const of = await drainedSession({ OPENHOOK_OTEL_CAPTURE: "full" }, (call) => call.event !== "SessionEnd");
    const before = rows(of, "content") + spanTexts(of).split(PROMPT).length;
    mkdirSync(dirname(of.places.configPath), { recursive: true });
    writeFileSync(of.places.configPath, text);
    receiver = await startReceiver();
    for (const call of of.calls) of.put(call);
    await drainAt(of, { OPENHOOK_OTEL_OTLP_ENDPOINT: receiver.url, ...env });
    expect(rows(of, "content") + spanTexts(of).split(PROMPT).length).toBeGreaterThanOrEqual(before);
    expect(receiver.spans).toEqual([]);
    writeFileSync(of.places.configPath, '{ "capture": "full" }');
    await drainAt(of, { OPENHOOK_OTEL_OTLP_ENDPOINT: receiver.url });
    expect(receiver.spans.some(({ attributes }) => Object.values(attributes).join().includes(PROMPT))).toBe(true);
  },
);

test("from full to redacted: unredacted content is deleted, new content is kept", async () => {
  const of = await drainedSession({ OPENHOOK_OTEL_CAPTURE: "full" }, (call) => call.event !== "SessionEnd");
  await drainAt(of, { OPENHOOK_OTEL_CAPTURE: "redacted" });
  expect(storeText(of).includes(PROMPT)).toBe(false);
});

test("a turn that is open when the level is lowered gets no content", async () => {
  const isEarly = (call: RecordedCall): boolean => !["Stop", "SessionEnd"].includes(call.event);
  const of = await drainedSession({ OPENHOOK_OTEL_CAPTURE: "full" }, isEarly, false);
  expect(rows(of, "content")).toBeGreaterThan(0);
  await drainAt(of, { OPENHOOK_OTEL_CAPTURE: "metadata" });
  expect(rows(of, "content")).toBe(0);
  for (const call of of.calls.filter((call) => !isEarly(call))) of.put(call);
  await drainAt(of, { OPENHOOK_OTEL_CAPTURE: "metadata" });
  expect(storeText(of).includes(PROMPT)).toBe(false);
});

test("a project's stricter level wins over the user's", async () => {
  const of = new Replay("claude-code", "basic");
  replay = of;
  const db = openDatabase(of.places.storePath);
  const [call] = of.calls;
  limitCapture(db, ensureSession(db, "claude-code", String(call?.stdin?.["session_id"]), 0), "none");
  db.close();
  for (const one of of.calls) of.put(one);
  await drainAt(of, { OPENHOOK_OTEL_CAPTURE: "full" });
  const spans = spanTexts(of);
  expect(spans).not.toContain(PROMPT);
  expect(spans).toContain('"gen_ai.usage.input_tokens"');
  expect(spans).not.toContain("vcs.repository");
});

test.each(firstOf([{ capture: "metadata" }, { disabled: true }, { capture: "redacted" }], 2))(
  "a project that sets %o later: earlier content of its sessions is not sent, and does not stay in the store's file",
  async (settings) => {
    const of = await drainedSession({ OPENHOOK_OTEL_CAPTURE: "full" }, (call) => call.event !== "SessionEnd");
    expect(storeText(of).includes(PROMPT)).toBe(true);
    const cwd = String(of.calls[0]?.stdin?.["cwd"]);
    mkdirSync(cwd, { recursive: true });
    writeFileSync(join(cwd, ".openhook-otel.json"), JSON.stringify(settings));
    for (const call of of.calls.filter((call) => call.event === "SessionEnd")) of.put(call);
    receiver = await startReceiver();
    await drainAt(of, { OPENHOOK_OTEL_CAPTURE: "full", OPENHOOK_OTEL_OTLP_ENDPOINT: receiver.url });
    expect(receiver.spans.length > 0).toBe(settings.disabled !== true);
    for (const { attributes } of receiver.spans) {
      for (const name of CONTENT_ATTRIBUTES) expect(attributes).not.toHaveProperty([name]);
    }
    expect(storeText(of).includes(PROMPT)).toBe(false);
  },
);

test.each(
  firstOf(
    [
      { settings: { capture: "none" }, isOver: true },
      { settings: { capture: "none" }, isOver: false },
      { settings: { disabled: true }, isOver: true },
      { settings: { disabled: true }, isOver: false },
    ],
    2,
  ),
)("a project that restricts later: queued names are not sent, and no name stays stored (%o)", async (given) => {
  const of = new Replay("claude-code", "mcp");
  replay = of;
  const cwd = String(of.calls[0]?.stdin?.["cwd"]);
  mkdirSync(join(cwd, ".git"), { recursive: true });
  writeFileSync(join(cwd, ".git", "config"), '[remote "origin"]\n\turl = https://git.example/acme/acme-store.git\n');
  const isEnd = (call: RecordedCall): boolean => call.event === "SessionEnd";
  for (const call of of.calls.filter((call) => given.isOver || !isEnd(call))) of.put(call);
  await drainAt(of, { OPENHOOK_OTEL_DISABLED: "true" });
  const names = /lookup_price|acme-store/;
  expect(storeText(of)).toMatch(names);
  const calls = counted(of, "openhook.tool.call.count");
  expect(calls).toBeGreaterThan(0);

  writeFileSync(join(cwd, ".openhook-otel.json"), JSON.stringify(given.settings));
  // Nothing new of the session if it is over
  for (const call of of.calls.filter((call) => !given.isOver && isEnd(call))) of.put(call);
  receiver = await startReceiver();
  await drainAt(of, { OPENHOOK_OTEL_OTLP_ENDPOINT: receiver.url });
  const sent = JSON.stringify(
    [receiver.metricPoints, receiver.spans].flat().map(({ name, attributes }) => [name, attributes]),
  );
  expect(sent).not.toMatch(names);
  expect(total(receiver, "openhook.tool.call.count")).toBeGreaterThanOrEqual(calls);
  expect(receiver.spans.length > 0).toBe(given.settings.disabled !== true);
  // The transcript's path contains the folder's name, which stays
  expect(storeText(of)).not.toMatch(/lookup_price|git\.example/);
});

test("at redacted, secrets in a prompt and in a tool's arguments are not stored, the rest is, and JSON stays JSON", async () => {
  const token = ["ghp", "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"].join("_");
  const of = new Replay("claude-code", "basic", { withTranscripts: false });
  replay = of;
  for (const call of of.calls) {
    const { stdin } = call;
    const prompt = stdin?.["prompt"] === undefined ? {} : { prompt: `deploy with ${token} please` };
    const input = stdin?.["tool_input"] === undefined ? {} : { tool_input: { command: `TOKEN=${token} make deploy` } };
    of.put({ ...call, stdin: { ...stdin, ...prompt, ...input } });
  }
  await drainAt(of, { OPENHOOK_OTEL_CAPTURE: "redacted" });
  const text = storeText(of);
  expect(text.includes(token)).toBe(false);
  expect(text.includes("deploy with [redacted")).toBe(true);
  const held = records(of).flatMap(({ attributes }) =>
    [...CONTENT_ATTRIBUTES].flatMap((name) => (/messages|arguments/.test(name) ? (attributes[name] ?? []) : [])),
  );
  expect(held.length).toBeGreaterThan(2);
  for (const json of held) JSON.parse(String(json));
});

test("if the level is lowered to none, streams lose their names, and nothing is sent twice", async () => {
  receiver = await startReceiver();
  const endpoint = { OPENHOOK_OTEL_OTLP_ENDPOINT: receiver.url, OPENHOOK_OTEL_OTLP_METRICS_TEMPORALITY: "delta" };
  const of = await drainedSession({ ...endpoint });
  const before = total(receiver, "openhook.tool.call.count");
  expect(before).toBeGreaterThan(0);
  // More counts, which are not sent before the level is lowered
  const second = new Replay("claude-code", "mcp");
  for (const call of second.calls) of.put(call);
  await drainAt(of, { OPENHOOK_OTEL_DISABLED: "true" });
  second.remove();
  const all = counted(of, "openhook.tool.call.count");
  expect(all).toBeGreaterThan(before);
  receiver.clear();
  await drainAt(of, { ...endpoint, OPENHOOK_OTEL_CAPTURE: "none" });
  expect(total(receiver, "openhook.tool.call.count")).toBe(all - before);
  const sent = JSON.stringify(
    [receiver.metricPoints, receiver.spans].flat().map(({ name, attributes }) => [name, attributes]),
  );
  expect(sent).not.toContain("lookup_price");
  expect(sent).not.toContain("vcs.repository");
  expect(sent).toContain('"mcp"');
});

test("streams whose names become equal by a new redaction rule are merged, and nothing is sent twice", async () => {
  receiver = await startReceiver();
  const endpoint = { OPENHOOK_OTEL_OTLP_ENDPOINT: receiver.url };
  const of = new Replay("claude-code", "subagent");
  replay = of;
  for (const call of of.calls) of.put(call);
  await drainAt(of, endpoint);
  const before = receiver.latestPoints().filter(({ name }) => name === "openhook.tool.call.count");
  expect(before.length).toBeGreaterThan(1);
  receiver.clear();
  mkdirSync(dirname(of.places.configPath), { recursive: true });
  writeFileSync(of.places.configPath, JSON.stringify({ redaction: { rules: { tool: "Bash|Read|Edit|Write|Agent" } } }));
  const second = new Replay("claude-code", "parallel-tools");
  for (const call of second.calls) of.put(call);
  second.remove();
  await drainAt(of, endpoint);
  const after = receiver.metricPoints.filter(({ name }) => name === "openhook.tool.call.count");
  const moments = after.map(({ resource, attributes, timeNs }) =>
    JSON.stringify([resource, attributes, String(timeNs)]),
  );
  expect(new Set(moments).size).toBe(moments.length);
  const sum = (points: typeof before): number =>
    points.reduce((n, { data }) => n + (data.kind === "sum" ? data.value : 0), 0);
  const latest = receiver.latestPoints().filter(({ name }) => name === "openhook.tool.call.count");
  expect(JSON.stringify(latest.map(({ attributes }) => attributes))).not.toMatch(/"(Bash|Read|Edit|Write|Agent)"/);
  expect(sum(before) + sum(latest)).toBe(rows(of, "tool_calls"));
});

test.each(firstOf(["none", "metadata"], 1))("at %s no adapter and no reader builds content", async (level) => {
  const of = new Replay("claude-code", "basic");
  replay = of;
  for (const call of of.calls) of.put(call);
  const asked: unknown[] = [];
  const agents = (await allAgents()).map((agent) => ({
    ...agent,
    toContent: () => {
      asked.push(agent.source);
      return [];
    },
    ...(agent.transcript !== undefined && {
      transcript: async () => {
        const { default: reader } = await (agent.transcript ?? never)();
        const read: typeof reader.read = (file, from, wanted) => {
          if (wanted?.content === true) asked.push(file.path);
          return reader.read(file, from, wanted);
        };
        return { default: { ...reader, read } };
      },
    }),
  }));
  of.env = { OPENHOOK_OTEL_CAPTURE: level };
  const { spans } = await of.drain({ endIdle: true }, { ...clockAt(Date.now()), agents });
  expect(spans).toBeGreaterThan(0);
  expect(asked).toEqual([]);
});

test.each(
  firstOf(
    (await allAgents())
      .map(({ source }) => source)
      .filter((source) => existsSync(join(CASES, source, "mcp", "expected.json"))),
    3,
  ),
)("at none each call of an MCP server's tool by %s counts once", async (source) => {
  const of = new Replay(source, "mcp");
  replay = of;
  for (const call of of.calls) of.put(call);
  await drainAt(of, { OPENHOOK_OTEL_CAPTURE: "none" });
  const { sessions } = JSON.parse(readFileSync(join(CASES, source, "mcp", "expected.json"), "utf8")) as Expected;
  expect(rows(of, "tool_calls")).toBe(sessions.flatMap((session) => session.tool_calls).length);
});

test("all built-in tools in the recordings are on the agents' cards", async () => {
  const others: string[] = [];
  for (const { source, own } of await allAgents()) {
    for (const name of recordedTools(source)) {
      if (own !== undefined && reduceToolName(name, undefined, own) !== name) others.push(`${source} ${name}`);
    }
  }
  expect(others.sort()).toEqual([
    // With the name of a user's subagent
    "auggie sub-agent-explore",
    "claude-code mcp__shop__lookup_price",
    "cline no_such_tool",
    "cline shop__stock",
    "codex mcp__shop.broken",
    "codex mcp__shop.price",
    "codex no_such_tool",
    "copilot no_such_tool",
    "copilot shop-stock",
    "gemini-cli mcp_shop_stock",
    "gemini-cli no_such_tool",
    "opencode no_such_tool",
    "opencode shop_broken",
    "opencode shop_price",
    // Of an extension
    "pi subagent",
    "vibe no_such_tool",
  ]);
});

// --- helpers: earlier state, and the state now ---

async function drainedSession(
  env: Record<string, string>,
  wanted: (call: RecordedCall) => boolean = () => true,
  endIdle = true,
): Promise<Replay> {
  const of = new Replay("claude-code", "basic", { withTranscripts: endIdle });
  replay = of;
  for (const call of of.calls.filter(wanted)) of.put(call);
  await drainAt(of, env, undefined, endIdle);
  return of;
}

async function drainAt(
  of: Replay,
  env: Record<string, string>,
  log: (line: string) => void = () => {},
  endIdle = true,
): Promise<void> {
  of.env = env;
  const ms = Math.max(...of.calls.map((call) => Date.parse(call.received_at)));
  await of.drain({ endIdle, isEager: true }, { ...clockAt(ms), log });
}

const never = (): never => {
  throw new Error("it has no transcript");
};

const storeText = (of: Replay): string =>
  ["", "-wal"]
    .flatMap((end) => {
      try {
        return readFileSync(`${of.places.storePath}${end}`, "latin1");
      } catch {
        return [];
      }
    })
    .join("");

function within<T>(of: Replay, look: (db: ReturnType<typeof openDatabase>) => T): T {
  const db = openDatabase(of.places.storePath);
  try {
    return look(db);
  } finally {
    db.close();
  }
}

const rows = (of: Replay, table: string): number =>
  within(of, (db) => Number(db.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.["n"]));

const records = (of: Replay) =>
  within(of, (db) =>
    db
      .prepare("SELECT record FROM spans")
      .all()
      .map((row) => JSON.parse(String(row["record"])) as { readonly attributes: Readonly<Record<string, unknown>> }),
  );

const spanTexts = (of: Replay): string => JSON.stringify(records(of));

const counted = (of: Replay, metric: string): number =>
  within(of, (db) =>
    Number(db.prepare("SELECT sum(value) AS n FROM counters WHERE metric = ?").get(metric)?.["n"] ?? 0),
  );

const total = ({ metricPoints }: Receiver, metric: string): number =>
  metricPoints
    .filter(({ name }) => name === metric)
    .reduce((sum, { data }) => sum + (data.kind === "sum" ? data.value : 0), 0);

function recordedTools(source: string): readonly string[] {
  const folder = join(CASES, source);
  const names = new Set<string>();
  for (const path of casesIn(folder)) {
    const { sessions } = JSON.parse(readFileSync(path, "utf8")) as Expected;
    for (const { tool_calls } of sessions) for (const { name } of tool_calls) names.add(name);
  }
  return [...names].sort();
}

const casesIn = (folder: string): readonly string[] =>
  !existsSync(folder)
    ? []
    : readdirSync(folder)
        .map((name) => join(folder, name, "expected.json"))
        .filter((path) => existsSync(path));
