import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { forwardNative } from "#collect/drain/forward-native.ts";
import { type BodyFacts, bodyFileName } from "#collect/native/body-file.ts";
import { readForwardState } from "#collect/native/forward-state.ts";
import { forwardDir } from "#collect/native/receiver-file.ts";
import { loadConfig } from "#config/load.ts";
import { placesOf } from "#config/places.ts";
import { openDatabase } from "#store/database.ts";

/** The pass of a step that fails. */
let failAt: { n: number; when: "before" | "after" } | undefined;
let passed: string[] = [];
vi.mock("#kit/fault-points.ts", () => ({
  step: (name: string, work: () => unknown) => {
    if (!name.startsWith("forward.")) return work();
    passed.push(name);
    const isHere = failAt?.n === passed.length;
    if (isHere && failAt?.when === "before") throw new Error("killed");
    const result = work();
    if (!isHere) return result;
    if (result instanceof Promise) return result.then(() => Promise.reject(new Error("killed")));
    throw new Error("killed");
  },
}));

interface Got {
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

let got: Got[];
let answer: { status: number; headers?: Record<string, string>; body?: string };
let nowMs: number;
let world: Awaited<ReturnType<typeof makeWorld>>;
const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    got.push({ url: request.url, headers: request.headers, body: Buffer.concat(chunks) });
    response.writeHead(answer.status, answer.headers).end(answer.body);
  });
});

async function makeWorld(settings: Record<string, unknown> = {}) {
  const home = mkdtempSync(join(tmpdir(), "forward-"));
  const places = placesOf({ env: {}, home, platform: "linux" });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const forward = { goose: { endpoint: `${url}/base/`, headers: { "x-key": "geheim" } } };
  mkdirSync(join(places.configPath, ".."), { recursive: true });
  writeFileSync(places.configPath, JSON.stringify({ native: { forward }, ...settings }));
  mkdirSync(forwardDir(places.stateDir), { recursive: true });
  const logged: string[] = [];
  const loaded = await loadConfig({ env: {}, places });
  const db = openDatabase(places.storePath);
  const report = { problems: [] as string[] };
  const deps = { db, loaded, log: (line: string) => void logged.push(line), now: () => nowMs, places, version: "1" };
  return {
    places,
    logged,
    forward: (isEager = false) =>
      forwardNative({ ...deps, report } as unknown as Parameters<typeof forwardNative>[0], { isEager }),
    put(body: string | Buffer, facts: Partial<BodyFacts> = {}, ms = nowMs): string {
      const whole = { source: "goose", signal: "traces", encoding: "json", isGzip: false, ...facts } as const;
      const name = bodyFileName(whole, ms);
      writeFileSync(join(forwardDir(places.stateDir), name), body);
      return name;
    },
    waiting: () => readdirSync(forwardDir(places.stateDir)).filter((name) => name !== "state.json"),
    state: () => readForwardState(places.stateDir),
  };
}

beforeEach(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  [got, answer, nowMs, failAt, passed] = [[], { status: 200, body: "{}" }, Date.now(), undefined, []];
  world = await makeWorld();
});
afterEach(() => {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(resolve));
});

test("bodies arrive byte for byte, oldest first, with their encoding and the user's headers, and leave the queue", async () => {
  const packed = gzipSync('{"resourceSpans":[]}');
  world.put(packed, { isGzip: true }, nowMs - 3);
  world.put("\0\x01\xff", { signal: "logs", encoding: "proto" }, nowMs - 2);
  world.put("{}", { signal: "metrics" }, nowMs - 1);
  await world.forward();
  expect(got.map(({ url }) => url)).toEqual(["/base/v1/traces", "/base/v1/logs", "/base/v1/metrics"]);
  expect(got.map(({ body }) => body)).toEqual([packed, Buffer.from("\0\x01\xff"), Buffer.from("{}")]);
  expect(got.map(({ headers }) => [headers["content-type"], headers["content-encoding"], headers["x-key"]])).toEqual([
    ["application/json", "gzip", "geheim"],
    ["application/x-protobuf", undefined, "geheim"],
    ["application/json", undefined, "geheim"],
  ]);
  expect(world.waiting()).toEqual([]);
  expect(world.state()).toMatchObject({ sent: 3, dropped: 0, pauses: {} });
});

test("an exporter that asks for time gets it, also from a drain of the user; then everything arrives", async () => {
  for (let i = 0; i < 3; i++) world.put(`${i}`, {}, nowMs + i);
  answer = { status: 503, headers: { "retry-after": "120" } };
  await world.forward();
  expect(got, "one attempt per drain").toHaveLength(1);
  expect(world.state().pauses["goose"]).toMatchObject({ isAsked: true, failures: 1, untilMs: nowMs + 120_000 });
  await world.forward(true);
  expect(got).toHaveLength(1);
  [nowMs, answer] = [nowMs + 120_001, { status: 200 }];
  await world.forward();
  expect(got.slice(1).map(({ body }) => body.toString())).toEqual(["0", "1", "2"]);
  expect([world.waiting(), world.state().pauses]).toEqual([[], {}]);
});

test.each([401, 403, 404, 500, 502])("%i: they stay, and are tried again later or by the user", async (status) => {
  world.put("a");
  answer = { status };
  await world.forward();
  await world.forward();
  expect(got).toHaveLength(1);
  expect(world.logged.join()).toContain(`answered ${status}`);
  expect(world.logged.join()).not.toContain("geheim");
  await world.forward(true);
  expect(got).toHaveLength(2);
  expect(world.waiting()).toHaveLength(1);
  expect(world.state()).toMatchObject({ sent: 0, dropped: 0, pauses: { goose: { failures: 2 } } });
});

test.each([400, 413, 415])(
  "%i: that body is dropped and counted with the reason, the others arrive",
  async (status) => {
    world.put("bad", {}, nowMs - 1);
    answer = { status, body: "no such field" };
    await world.forward();
    answer = { status: 200 };
    world.put("good");
    await world.forward();
    expect(got.map(({ body }) => body.toString())).toEqual(["bad", "good"]);
    expect(world.state()).toMatchObject({ sent: 1, dropped: 1, dropReason: expect.stringContaining(`${status}`) });
    expect(world.logged.join()).toContain("1 dropped");
  },
);

test("beyond the limits of age and size the oldest are dropped and counted", async () => {
  world = await makeWorld({ outbox: { maxAgeDays: 2, maxMegabytes: 1 } });
  world.put("old", {}, nowMs - 3 * 86_400_000);
  for (let i = 0; i < 4; i++) world.put(String(i).repeat(400_000), {}, nowMs - 100 + i);
  await world.forward();
  expect(got.map(({ body }) => body.toString("latin1", 0, 1))).toEqual(["2", "3"]);
  expect(world.state()).toMatchObject({ sent: 2, dropped: 3 });
});

test("without the setting they are dropped and counted; while export is off, or nobody is there, they stay", async () => {
  world.put("other", { source: "codex" });
  await world.forward();
  expect(world.state()).toMatchObject({ dropped: 1, dropReason: "native.forward.codex is not set any more" });
  world = await makeWorld({ disabled: true });
  world.put("a");
  await world.forward();
  expect([got.length, world.waiting().length]).toEqual([0, 1]);
  world = await makeWorld({ native: { forward: { goose: { endpoint: "http://127.0.0.1:1" } } } });
  world.put("a");
  await world.forward();
  expect([world.waiting().length, world.state().pauses["goose"]?.failures]).toEqual([1, 1]);
});

test("killed before or after any step: everything arrives, and twice only between the answer and the removal", async () => {
  const run = async (at?: typeof failAt) => {
    world = await makeWorld();
    got = [];
    for (const text of ["a", "b"]) world.put(text, {}, nowMs - (text === "a" ? 2 : 1));
    [failAt, passed] = [at, []];
    await world.forward().catch((error: Error) => expect(error.message).toBe("killed"));
    failAt = undefined;
    await world.forward();
    expect(world.waiting()).toEqual([]);
    return got.map(({ body }) => body.toString()).join("");
  };
  expect(await run()).toBe("ab");
  expect(passed).toEqual(["forward.send", "forward.settle", "forward.send", "forward.settle"]);
  const all = new Map<string, string>();
  for (const n of [1, 2, 3, 4])
    for (const when of ["before", "after"] as const) all.set(`${when} ${n}`, await run({ n, when }));
  expect(Object.fromEntries(all)).toEqual({
    "before 1": "ab",
    "after 1": "aab",
    "before 2": "aab",
    "after 2": "ab",
    "before 3": "ab",
    "after 3": "abb",
    "before 4": "abb",
    "after 4": "ab",
  });
});

test("nothing waits: nothing is created, and nothing of OTLP is loaded", async () => {
  const { places } = world;
  await world.forward();
  expect(existsSync(join(forwardDir(places.stateDir), "state.json"))).toBe(false);
  expect(readFileSync("src/collect/drain/forward-native.ts", "utf8")).not.toMatch(/from "#send/);
});
