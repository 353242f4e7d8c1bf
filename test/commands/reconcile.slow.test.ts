// Slow: only `npm run test:all` runs it. reconcile/witness.test.ts has the comparison itself.
import { appendFileSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { type ReconcileOptions, reconcile } from "#commands/reconcile.ts";
import { openDatabase } from "#store/database.ts";
import { type Receiver, startReceiver } from "../receiver/receiver.ts";
import { clockAt } from "../support/clock.ts";
import { contextAt, SGR } from "../support/context.ts";
import { Replay } from "../support/replay.ts";
import { storeBytes } from "../support/store-bytes.ts";

let replay: Replay | undefined;
let receiver: Receiver | undefined;
let server: Server | undefined;
afterEach(async () => {
  replay?.remove();
  await receiver?.close();
  await new Promise<void>((done) => (server === undefined ? done() : server.close(() => done())));
  [replay, receiver, server] = [undefined, undefined, undefined];
});

/** A recorded session, drained and delivered to a receiver. */
async function delivered(source: string, name: string, isSent = true): Promise<Replay> {
  replay = new Replay(source, name);
  for (const call of replay.calls) replay.put(call);
  if (isSent) {
    receiver = await startReceiver();
    replay.env = { OPENHOOK_OTEL_OTLP_ENDPOINT: receiver.url };
  }
  await replay.drain({ endIdle: true, isEager: true });
  return replay;
}

interface Result {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  // biome-ignore lint/suspicious/noExplicitAny: what the program prints, checked by what is expected of it
  readonly json: any;
}

async function reconcileOf(of: Replay, options: Partial<ReconcileOptions> = {}, session?: string): Promise<Result> {
  const world = contextAt(of.places, { env: of.env });
  const range = session === undefined ? { since: "2020-01-01" } : {};
  const code = await reconcile(session, { ...range, sampled: false, json: true, ...options }, world.context);
  return {
    code,
    out: world.out(),
    err: world.err(),
    json: options.json === false ? undefined : JSON.parse(world.out()),
  };
}

/** Changes the store without using the program. */
function tamper(of: Replay, sql: string): void {
  const db = openDatabase(of.places.storePath);
  db.prepare(sql).run();
  db.close();
}

function transcriptOf(of: Replay): string {
  const files = readdirSync(of.transcriptRoot, { recursive: true, encoding: "utf8" });
  const main = files.find((file) => file.endsWith(".jsonl") && !file.includes("agent-"));
  return join(of.transcriptRoot, main ?? "");
}

describe("transcripts, store and delivery", () => {
  test.each([
    ["claude-code", "subagent"],
    ["claude-code", "fork"],
    ["claude-code", "killed-then-resumed"],
    ["codex", "fork"],
    ["opencode", "subagent"],
  ])("agree after a delivery: %s %s", async (source, name) => {
    const result = await reconcileOf(await delivered(source, name));
    expect(result.json).toMatchObject({ verdict: "agree", differences: [], unknown: [] });
    expect(result.code).toBe(0);
    expect(result.json.tokens.store).toEqual(result.json.tokens.transcripts);
    expect(result.json.tokens.delivered).toEqual(result.json.tokens.store);
    const { input } = result.json.counters.tokens;
    expect(input.store).toBeGreaterThan(0);
    expect(input.delivered).toBe(input.store);
  });

  test("reports a line added to a transcript, until the next drain reads it", async () => {
    const of = await delivered("claude-code", "basic");
    const path = transcriptOf(of);
    const lines = readFileSync(path, "utf8").trimEnd().split("\n");
    const last = lines.findLast((line) => line.includes('"output_tokens"')) ?? "";
    const added = last
      .replaceAll(/"(msg|req)_[^"]+"/g, '"$1_planted"')
      .replace(/"output_tokens":\d+/, '"output_tokens":777');
    appendFileSync(path, `${added.replace(/"uuid":"[^"]+"/, '"uuid":"11111111-2222-4333-8444-555555555555"')}\n`);
    const result = await reconcileOf(of);
    expect(result.code).toBe(1);
    expect(result.json.first_difference).toMatchObject({
      between: "transcript and store",
      session: expect.stringMatching(/^claude-code\//),
      subject: expect.stringContaining("msg_planted"),
      what: "is in the transcript but not in the store",
      left: 777,
    });
    expect(result.err).toContain("msg_planted");
    // Drains only re-read sessions of the last hour
    await of.drain({ endIdle: true, isEager: true }, clockAt(Date.parse(of.calls.at(-1)?.received_at ?? "")));
    expect((await reconcileOf(of)).json).toMatchObject({ verdict: "agree", differences: [] });
  });

  test("reports a call with other tokens in the store, with both numbers", async () => {
    const of = await delivered("claude-code", "basic");
    tamper(
      of,
      "UPDATE model_calls SET body = json_set(body, '$.usage.output', 5), output = 5 WHERE key = (SELECT min(key) FROM model_calls)",
    );
    const { code, json } = await reconcileOf(of);
    expect(code).toBe(1);
    expect(json.first_difference).toMatchObject({ what: "output tokens", right: 5 });
    expect(json.first_difference.left).toBeGreaterThan(5);
    // The counters still have the original number
    expect(json.differences.map((one: { between: string }) => one.between)).toContain("store and its counters");
  });

  test("reports a changed counter", async () => {
    const of = await delivered("claude-code", "basic");
    tamper(of, 'UPDATE counters SET value = value + 1 WHERE attributes LIKE \'%"openhook.token.type":"output"%\'');
    const { code, json } = await reconcileOf(of);
    expect(code).toBe(1);
    const [first, second] = json.differences;
    expect(first).toMatchObject({ between: "store and its counters", what: "output tokens" });
    expect(first.right - first.left).toBe(1);
    expect(second).toMatchObject({ between: "counters and delivery", what: "was not delivered yet" });
  });

  test("reports a span that was removed from the store", async () => {
    const of = await delivered("claude-code", "basic");
    tamper(
      of,
      'DELETE FROM spans WHERE record LIKE \'%"name":"chat %\' AND seq = (SELECT max(seq) FROM spans WHERE record LIKE \'%"name":"chat %\')',
    );
    const { code, json } = await reconcileOf(of);
    expect(code).toBe(1);
    expect(json.first_difference).toMatchObject({
      between: "store and its spans",
      what: "was counted but has no span",
    });
  });

  test("queued spans are a difference, with their number", async () => {
    const of = await delivered("claude-code", "basic");
    await receiver?.close();
    tamper(of, "INSERT INTO outbox (seq, since_ms, bytes) SELECT seq, 0, 1 FROM spans LIMIT 2");
    const { code, json } = await reconcileOf(of);
    expect(code).toBe(1);
    expect(json.first_difference).toMatchObject({ between: "store and delivery", left: 7, right: 5 });
  });

  test("without an endpoint nothing is delivered, which is not a difference", async () => {
    const { code, json } = await reconcileOf(await delivered("claude-code", "basic", false));
    expect(code).toBe(0);
    expect(json).toMatchObject({
      verdict: "agree",
      tokens: { delivered: null },
      sessions: [{ spans: { delivered: null } }],
    });
  });

  test("a transcript that is gone is unknown: neither agreement nor difference", async () => {
    const of = await delivered("claude-code", "basic", false);
    rmSync(transcriptOf(of));
    const { code, json } = await reconcileOf(of, {}, idOf(of));
    expect(json).toMatchObject({
      verdict: "unknown",
      tokens: { transcripts: null },
      sessions: [{ verdict: "unknown" }],
    });
    expect(json.unknown[0]).toMatch(/its transcript is gone: ".*\.jsonl"/);
    expect(code).toBe(2);
    const args = await reconcileOf(of, { json: false }, idOf(of));
    expect(args.out).toContain("nothing could be compared; 1 unknown");
  });

  test("one of two transcripts is gone: compares the other session, and shows the sum as a lower bound", async () => {
    const of = await delivered("claude-code", "two-sessions-at-once");
    rmSync(transcriptOf(of));
    const { code, json } = await reconcileOf(of);
    expect(code).toBe(0);
    expect(json.sessions.map((one: { verdict: string }) => one.verdict).sort()).toEqual(["agree", "unknown"]);
    expect(json.tokens.transcripts).toBe(null);
    const { out } = await reconcileOf(of, { json: false });
    expect(out).toMatch(/input +[\d,]+ \+ \? +[\d,]+/);
    expect(out).toContain("? claude-code/");
  });

  test("a session that is still open may have more in its transcript", async () => {
    replay = new Replay("claude-code", "basic", { withTranscripts: false });
    const calls = replay.calls.filter(({ event }) => event !== "SessionEnd");
    const lines = calls.find(({ event }) => event === "PostToolUse")?.transcript_lines ?? 0;
    for (const call of calls.slice(0, 2)) replay.put(call);
    replay.writeTranscripts({ lines });
    await replay.drain({}, { now: () => Date.parse(calls[1]?.received_at ?? "") });
    replay.writeTranscripts();
    const { code, json } = await reconcileOf(replay);
    expect(json).toMatchObject({ differences: [], sessions: [{ open: true }] });
    expect(json.remarks.join("\n")).toMatch(/still open, \d model calls? w(as|ere) written since the last drain/);
    expect(code).toBe(0);
  });

  test("prints what it compared, no line wider than the terminal", async () => {
    const of = await delivered("claude-code", "subagent");
    const world = contextAt(of.places, { env: of.env, columns: 60 });
    expect(await reconcile(undefined, { since: "2020-01-01", sampled: false, json: false }, world.context)).toBe(0);
    const lines = world.out().replaceAll(SGR, "").split("\n");
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(60);
    expect(world.out()).toContain("everything that can be compared agrees");
    expect(world.err()).toBe("");
  });

  test("does not change the store", async () => {
    const of = await delivered("claude-code", "basic");
    const before = storeBytes(of.places.storePath);
    await reconcileOf(of);
    expect(storeBytes(of.places.storePath).equals(before)).toBe(true);
  });
});

describe("options and backends", () => {
  test("invalid input and unreachable backends exit with 2 and a remedy", async () => {
    const of = await delivered("claude-code", "basic", false);
    const wrong = async (options: Partial<ReconcileOptions>, session?: string): Promise<string> =>
      reconcileOf(of, options, session).then(
        () => "",
        (error: { exitCode: number; message: string }) => `${error.exitCode} ${error.message}`,
      );
    expect(await wrong({ since: "last-week" })).toMatch(/^2 --since takes an age like 7d or 36h/);
    expect(await wrong({ since: "1d", until: "2d" })).toBe("2 --since is later than --until");
    expect(await wrong({ since: "1d" }, "abc")).toMatch(/^2 give a session or a time/);
    expect(await wrong({}, "nosuch")).toMatch(/^2 no session begins with "nosuch"; .*the newest is "/);
    expect(await wrong({ jaeger: "localhost" })).toMatch(/^2 --jaeger takes an address/);
    expect(await wrong({ jaeger: "http://ada:pw@127.0.0.1:1" })).toMatch(/^2 --jaeger contains a user or password/);
    expect(await wrong({ jaeger: "http://127.0.0.1:1" })).toMatch(/^2 cannot query Jaeger: connection refused by http/);
  });

  test("headers come only from the environment, and go only to their backend", async () => {
    const of = await delivered("claude-code", "basic");
    const requests: (string | undefined)[] = [];
    const url = await serve((path, headers) => {
      requests.push(`${path.split("/")[2]} ${headers["authorization"]}`);
      return path.includes("query") ? '{"status":"success","data":{"resultType":"vector","result":[]}}' : undefined;
    });
    of.env = { ...of.env, OPENHOOK_RECONCILE_JAEGER_HEADERS: "authorization=Bearer%20abc" };
    const { code, json } = await reconcileOf(of, { jaeger: url, prometheus: url });
    expect(code).toBe(1);
    expect(json.first_difference).toMatchObject({ between: "store and Jaeger", left: 7, right: 0 });
    expect(requests).toContain("v3 Bearer abc");
    expect(requests).toContain("v1 undefined");
  });
});

// --- internal ---

function idOf(of: Replay): string {
  return String(of.calls[0]?.stdin?.["session_id"]);
}

/** Serves responses of a backend; `undefined` is 404. */
async function serve(
  answer: (path: string, headers: Readonly<Record<string, string | string[] | undefined>>) => string | undefined,
): Promise<string> {
  server = createServer((request, response) => {
    const body = answer(request.url ?? "", request.headers);
    request.resume();
    response.writeHead(body === undefined ? 404 : 200).end(body ?? "not found");
  });
  await new Promise<void>((done) => server?.listen(0, "127.0.0.1", done));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
