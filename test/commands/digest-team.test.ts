import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { digestQueries } from "#check/team-digest.ts";
import { digest } from "#commands/digest.ts";
import { placesOf } from "#config/places.ts";
import { columnsOf, contextAt } from "../support/context.ts";

// Responses of a real Prometheus about four machines, recorded by test/stack/digest.stack.ts
type Answers = Readonly<Record<string, unknown>>;
const ANSWERS: Answers = JSON.parse(readFileSync(join(import.meta.dirname, "digest-prometheus.json"), "utf8"));
const NOTHING = { status: "success", data: { resultType: "vector", result: [] } };
const NOW_MS = new Date(2026, 9, 14, 15).getTime();
const SUNDAY_S = new Date(2026, 9, 12).getTime() / 1000;
const BY_QUERY = new Map(Object.entries(digestQueries("604800s")).map(([name, query]) => [query, name]));

let server: Server;
let url: string;
let home: string;
/** What the server answers, by the names of the queries; those of the week before have none. */
let answers: Answers = ANSWERS;
let status = 200;
let asked: {
  readonly query: string | null;
  readonly time: string | null;
  readonly authorization: string | undefined;
}[] = [];

beforeEach(async () => {
  [answers, status, asked] = [ANSWERS, 200, []];
  home = mkdtempSync(join(tmpdir(), "openhook-digest-"));
  server = createServer((request, response) => {
    let form = "";
    request.on("data", (data) => {
      form += data;
    });
    request.on("end", () => {
      const values = new URLSearchParams(form);
      const [query, time] = [values.get("query"), values.get("time")];
      asked.push({ query, time, authorization: request.headers.authorization });
      const name = BY_QUERY.get(query ?? "") ?? "";
      const answer = Number(time) === SUNDAY_S ? (answers[name] ?? NOTHING) : NOTHING;
      response.writeHead(request.url === "/team/api/v1/query" ? status : 404).end(JSON.stringify(answer));
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/team`;
});
afterEach(async () => {
  await new Promise((done) => server.close(done));
  rmSync(home, { recursive: true });
});

async function run(options: Partial<Parameters<typeof digest>[1]> = {}, env: Readonly<Record<string, string>> = {}) {
  const places = placesOf({ env: {}, home, platform: "linux" });
  const { context, out } = contextAt(places, { columns: 80, env: { NO_COLOR: "1", ...env }, now: () => NOW_MS });
  expect(await digest("week", { markdown: false, json: false, from: url, ...options }, context)).toBe(0);
  return out();
}

test("the week's growth on all machines, and what no dashboard has is unknown", async () => {
  const found = JSON.parse(await run({ json: true }));
  expect(found).toMatchObject({ of: url, since: new Date(2026, 9, 5).toISOString() });
  expect(found.figures).toMatchObject({ turns: expect.any(Number), merged_changes: 4, work_ms: null });
  expect(found.figures.cost_usd).toBeGreaterThan(0);
  expect(found.before).toMatchObject({ cost_usd: null, sessions: null, merged_changes: null });
  const costs = found.repositories.map((part: { readonly cost_usd: number }) => part.cost_usd);
  expect(costs.reduce((sum: number, cost: number) => sum + cost, 0)).toBeCloseTo(found.figures.cost_usd, 9);
  expect(asked).toHaveLength(2 * BY_QUERY.size);
});

test("text and Markdown are those of one machine's digest", async () => {
  const text = await run();
  expect(text).toMatch(/^Coding agents, week from 2026-10-05 to 2026-10-11, http:\/\/127\.0\.0\.1:\d+\/team$/m);
  expect(text).toMatch(/^cost +\$\d+\.\d\d +\?$/m);
  expect(text).toMatch(/^\(no repository\) +\$/m);
  expect(text).toMatch(/^Unknown: the time at work\.$/m);
  const lines = text.trimEnd().split("\n");
  expect(lines.length).toBeLessThanOrEqual(25);
  for (const line of lines) expect(columnsOf(line)).toBeLessThanOrEqual(80);
  expect(await run({ markdown: true })).toMatch(/^- merged changes: 4 \(the week before: \?\)$/m);
});

test("calls without a price make the cost a lower bound", async () => {
  answers = { ...ANSWERS, unpriced: { status: "success", data: { result: [{ metric: {}, value: [0, "3"] }] } } };
  const text = await run();
  expect(text).toMatch(/^cost +≥\$/m);
  expect(text).toMatch(/^Unknown: the time at work and the price of 3 calls\.$/m);
});

test("no series at all is unknown, not 0", async () => {
  answers = {};
  const found = JSON.parse(await run({ json: true }));
  expect(found.figures).toMatchObject({ cost_usd: null, sessions: null, turns: null, tool_errors: null });
  expect(found.repositories).toEqual([]);
});

test("the address comes from the option or the user's settings, the token from the environment", async () => {
  await expect(run({ from: true })).rejects.toThrow(/--from takes the address of Prometheus.*reconcile\.prometheus/);
  const file = placesOf({ env: {}, home, platform: "linux" }).configPath;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify({ reconcile: { prometheus: url } }));
  const env = { OPENHOOK_RECONCILE_PROMETHEUS_HEADERS: "authorization=Bearer%20secret" };
  expect(await run({ from: true, json: true }, env)).toContain(`"of":"${url}"`);
  expect(asked.at(-1)?.authorization).toBe("Bearer secret");
});

test("a wrong address and an answer that is none are refused", async () => {
  await expect(run({ from: "prometheus" })).rejects.toThrow(/--from|reconcile\.prometheus/);
  await expect(run({ from: "http://user:secret@127.0.0.1:1" })).rejects.toThrow(/user or password/);
  status = 401;
  await expect(run()).rejects.toThrow(/HTTP 401: check OPENHOOK_RECONCILE_PROMETHEUS_HEADERS/);
});
