import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { allAgents, findAgent } from "#agents/registry.ts";
import type { Status } from "#check/health/facts/shape.ts";
import { disable } from "#commands/disable.ts";
import { drainDeps } from "#commands/drain-deps.ts";
import { enable } from "#commands/enable.ts";
import { status } from "#commands/status.ts";
import { type Places, placesOf } from "#config/places.ts";
import { METRIC_SHAPES } from "#core/telemetry/shapes.ts";
import { drain } from "#pipeline.ts";
import { OVERFLOW } from "#store/cardinality.ts";
import { countFacts } from "#store/counters.ts";
import { openDatabase } from "#store/database.ts";
import { queuedSpans, recordFailure } from "#store/outbox.ts";
import { CONTROL, type ContextOptions, columnsOf, contextAt, SGR } from "../support/context.ts";
import { Replay, ROOT } from "../support/replay.ts";

let home: string;
let program: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "openhook-status-"));
  program = join(home, "openhook-otel.cjs");
  writeFileSync(program, "");
});
afterEach(() => rmSync(home, { recursive: true, force: true, maxRetries: 10 }));

const places = (): Places => placesOf({ env: {}, home, platform: "linux" });
const settingsPath = (): string => join(home, ".claude", "settings.json");

async function result(world: ContextOptions = {}, at: Places = places()) {
  const { context, out } = contextAt(at, { programPath: program, ...world });
  const code = await status({ json: false }, context);
  const machine = contextAt(at, { programPath: program, ...world });
  expect(await status({ json: true }, machine.context)).toBe(code);
  return { code, text: out(), facts: JSON.parse(machine.out()) as Status };
}

const agents = { list: allAgents, find: findAgent };
async function enabled(): Promise<void> {
  const { context } = contextAt(places(), { programPath: program });
  const hookSource = join(ROOT, "src", "collect", "intake", "hook.sh");
  await enable(["claude-code"], { scope: "user", yes: true, dryRun: false, hookSource }, context, agents);
}

const drained = async (at: Places, env: Readonly<Record<string, string>> = {}): Promise<void> => {
  const { context } = contextAt(at, { env });
  await drain(await drainDeps(context, () => {}), { endIdle: true });
};

/** Every path below a directory with its size and time. */
const listing = (dir: string): readonly string[] =>
  readdirSync(dir, { recursive: true })
    .map(String)
    .sort()
    .map((name) => `${name} ${statSync(join(dir, name)).mtimeMs}`);

describe("status", () => {
  test("nothing installed: exit 0, and status creates no files", async () => {
    const before = listing(home);
    const { code, text, facts } = await result();
    expect(code).toBe(0);
    expect(text).toMatch(/^openhook-otel \d/);
    expect(text).toMatch(/^agents +none is enabled: openhook-otel start finds those on this machine$/m);
    expect(text).toMatch(/^state .*\(does not exist yet\)$/m);
    expect(text).toMatch(/^last drain +none yet$/m);
    expect(text).toMatch(/^traces +export is off \(no endpoint\)$/m);
    expect(text).not.toMatch(/[✗!]/);
    expect(facts).toMatchObject({
      state_dir_exists: false,
      store: { state: "none", sessions: 0 },
      last_drain: null,
      inbox: { waiting: 0, oldest: null },
      broken: [],
      remarks: [],
    });
    expect(listing(home)).toEqual(before);
  });

  test("shows an agent that is enabled, drained and disabled", async () => {
    await enabled();
    const { code, text, facts } = await result();
    expect(code).toBe(0);
    expect(text).toMatch(
      new RegExp(`^agents +Claude Code: enabled in ${settingsPath()} \\(user, \\d+ events\\)$`, "m"),
    );
    expect(text).toMatch(/^hook .*\/\.local\/share\/openhook-otel\/hook$/m);
    expect(facts.hook).toMatchObject({ installed: true, executable: true, node: process.execPath, program });
    const claude = facts.agents.find(({ source }) => source === "claude-code");
    expect(claude?.registrations.filter((one) => one.state === "enabled")).toMatchObject([
      { scope: "user", paths: [settingsPath()], project: null, recorded: true },
    ]);
    expect(text).toMatch(/^ +not enabled: .*Codex/m);
    const { context } = contextAt(places(), { programPath: program });
    await disable(["claude-code"], { scope: "user", yes: true, dryRun: false }, context, agents);
    expect((await result()).text).toMatch(/^agents +none is enabled/m);
  });

  test("shows queued events, the last drain, and open sessions", async () => {
    const of = new Replay("claude-code", "subagent");
    for (const call of of.calls) of.hook(call);
    const last = Date.parse(of.calls.at(-1)?.received_at ?? "");
    const waiting = await result({ now: () => last + 120_000 }, of.places);
    expect(waiting.text).toMatch(/^inbox +18 events queued, the oldest for 2m 0\ds$/m);
    expect(waiting.facts.inbox.waiting).toBe(of.calls.length);
    expect(waiting.facts.store.state).toBe("none");

    await of.drain({ endIdle: true });
    const done = await result({ now: () => Date.now() + 60_000 }, of.places);
    expect(done.code).toBe(0);
    expect(done.text).toMatch(/^inbox +empty$/m);
    expect(done.text).toMatch(/^sessions +1$/m);
    expect(done.text).toMatch(/^last drain +1m 0\ds ago \(\S+ \S+\): 18 files, \d+ new events, 11 new spans$/m);
    expect(done.facts.outbox.waiting_spans).toBe(11);
    expect(done.text).toMatch(/^traces +export is off \(no endpoint\); 11 spans stored locally$/m);
    of.remove();
  });

  test("shows an open session, and events that no drain has processed", async () => {
    const of = new Replay("claude-code", "basic");
    for (const call of of.calls.slice(0, 4)) of.hook(call);
    const at = Date.parse(of.calls[3]?.received_at ?? "");
    let nowMs = at;
    const sleep = async (ms: number): Promise<void> => {
      nowMs += ms;
    };
    await of.drain({}, { now: () => nowMs, sleep });
    expect((await result({ now: () => at }, of.places)).text).toMatch(/^sessions +1, 1 open$/m);
    for (const call of of.calls.slice(4, 6)) of.hook(call);
    const { code, text } = await result({ now: () => at + 30 * 3_600_000 }, of.places);
    expect(code).toBe(0);
    expect(text).toMatch(/^! events have been queued for 1d 6h and no drain processed them: run openhook-otel drain$/m);
    of.remove();
  });

  test("the backend is unreachable: exit 0, the reason, and no secret from the address", async () => {
    const of = new Replay("claude-code", "basic");
    for (const call of of.calls) of.hook(call);
    const env = {
      OPENHOOK_OTEL_OTLP_ENDPOINT: "http://127.0.0.1:9/?key=hunter2",
      OPENHOOK_OTEL_OTLP_HEADERS: "authorization=Bearer hunter2",
    };
    await drained(of.places, env);
    const { code, text, facts } = await result({ env }, of.places);
    expect(code).toBe(0);
    expect(text).toMatch(
      /^traces +http:\/\/127\.0\.0\.1:9\/v1\/traces\?key=\*\*\* \(nothing delivered yet, \d+ spans queued\)$/m,
    );
    expect(text).toMatch(/^ +! .*(refused|connect)/m);
    expect(facts.delivery.traces).toMatchObject({ last_ok: null, why_not_sent: null });
    expect(facts.delivery.metrics.last_problem).not.toBeNull();
    expect(JSON.stringify(facts) + text).not.toContain("hunter2");
    of.remove();
  });

  test("shows refused spans, and metrics at their series limit", async () => {
    const of = new Replay("claude-code", "basic");
    for (const call of of.calls) of.hook(call);
    await of.drain({ endIdle: true });
    const db = openDatabase(of.places.storePath);
    const [first] = queuedSpans(db, 0, 1);
    if (first !== undefined) recordFailure(db, first.seq, true);
    const metric = "gen_ai.execute_tool.duration";
    const rest = { metric, amount: 1, attributes: OVERFLOW, resource: { "service.name": "claude-code" } };
    countFacts(db, [{ key: "one too many", increments: [rest] }], METRIC_SHAPES, Date.now());
    db.close();
    const { code, text, facts } = await result({}, of.places);
    expect(code).toBe(0);
    expect(facts.outbox).toMatchObject({ refused_spans: 1, oldest: expect.stringMatching(/Z$/) });
    expect(facts.outbox.bytes).toBeGreaterThan(1000);
    expect(facts.overflow).toEqual([{ metric, series: expect.any(Number) }]);
    expect(facts.remarks).toEqual([
      expect.stringMatching(
        /^the backend refuses 1 span or reports it .* retried every hour until outbox\.maxAgeDays$/,
      ),
      expect.stringMatching(
        /^series limit reached: gen_ai\.execute_tool\.duration: it has \d+ series.* holds 1 value;/,
      ),
    ]);
    expect(text).toMatch(/^! the backend refuses 1 span or reports it /m);
    expect(text).toMatch(/^! series limit reached: /m);
    of.remove();
  });

  test("shows how many payloads are quarantined and why, never their content", async () => {
    const of = new Replay("claude-code", "basic");
    for (const stdin_raw of ["sk-secret is no JSON", '{"unknown":"sk-secret"}', "", "\u0000\u0001sk-secret", "{"]) {
      of.hook({ received_at: new Date().toISOString(), event: "Stop", stdin_raw });
    }
    await of.drain();
    const { code, text, facts } = await result({}, of.places);
    expect(code).toBe(0);
    expect(facts.inbox.quarantined).toBeGreaterThan(3);
    expect(facts.inbox.quarantine_newest).toHaveLength(3);
    expect(text).toMatch(/^quarantine +\d payloads quarantined in /m);
    for (const { reason, source } of facts.inbox.quarantine_newest) {
      expect(reason).toMatch(/\w/);
      expect(source).toBe("claude-code");
    }
    expect(text + JSON.stringify(facts)).not.toContain("sk-secret");
    of.remove();
  });

  test("shows a deleted transcript, and an unreadable one", async () => {
    const of = new Replay("claude-code", "basic", { withTranscripts: false });
    for (const call of of.calls) of.hook(call);
    await of.drain({ endIdle: true });
    const deleted = await result({}, of.places);
    expect(deleted.code).toBe(0);
    expect(deleted.text).toMatch(/^! the transcript of a session could not be read, so tokens and model calls/m);
    expect(deleted.facts.remarks).toEqual([expect.stringMatching(/ are unknown: \S+\.jsonl does not exist$/)]);
    of.writeTranscripts();
    const path = of.calls.map((call) => call.stdin?.["transcript_path"]).find((one) => typeof one === "string");
    const subagents = join(String(path).replace(/\.jsonl$/, ""), "subagents");
    mkdirSync(join(subagents, "agent-a1.jsonl"), { recursive: true });
    const [first] = of.calls;
    if (first !== undefined) of.hook({ ...first, received_at: new Date().toISOString() });
    await of.drain({ endIdle: true });
    const unreadable = await result({}, of.places);
    expect(unreadable.facts.last_drain?.problems).toEqual([
      expect.stringMatching(/transcript "\S+\.jsonl"(?:: | is )\S/),
    ]);
    expect(unreadable.text).toMatch(/^ +! .*transcript/m);
    of.remove();
  });
});

describe("broken: exit 1, with a remedy", () => {
  const broken = async (expected: RegExp, world: ContextOptions = {}, at = places()): Promise<Status> => {
    const { code, text, facts } = await result(world, at);
    expect(facts.broken.join("\n")).toMatch(expected);
    expect(text.replaceAll(/\n {2}/g, " ")).toMatch(/^✗ /m);
    expect(code).toBe(1);
    return facts;
  };

  test("the hook program is missing, not executable, or starts a missing program", async () => {
    await enabled();
    const { hookPath, hookConfPath } = places();
    chmodSync(hookPath, 0o644);
    // Root can run every file with any x bit, and none without
    await broken(/hook cannot be executed: openhook-otel enable repairs it/);
    chmodSync(hookPath, 0o755);
    rmSync(program);
    await broken(/hooks cannot start a drain: \S+openhook-otel\.cjs, named in \S+hook\.conf, does not exist/);
    writeFileSync(program, "");
    writeFileSync(hookConfPath, "state=\n");
    await broken(/hook\.conf is missing or damaged/);
    rmSync(hookPath);
    await broken(/agents are configured to run \S+, which does not exist/);
    await enabled();
    expect((await result()).code).toBe(0);
  });

  test("reads a path with a quote from hook.conf unchanged", async () => {
    program = join(home, "o'brien's.cjs");
    writeFileSync(program, "");
    await enabled();
    expect((await result()).facts.hook.program).toBe(program);
  });

  test("the registration is gone from the settings, or the settings are unreadable", async () => {
    await enabled();
    const before = readFileSync(settingsPath());
    writeFileSync(settingsPath(), "{}\n");
    await broken(
      /Claude Code is not collected: our registration is gone from \S+; openhook-otel enable claude-code adds/,
    );
    rmSync(settingsPath());
    await broken(/registration is gone/);
    mkdirSync(settingsPath());
    await broken(/cannot read Claude Code's settings/);
    rmSync(settingsPath(), { recursive: true });
    writeFileSync(settingsPath(), before);
    expect((await result()).code).toBe(0);
  });

  test("shows a registration of another project; a deleted project is not a problem", async () => {
    const project = join(home, "acme-shop");
    mkdirSync(project);
    const { context } = contextAt(places(), { programPath: program, cwd: project });
    const hookSource = join(ROOT, "src", "collect", "intake", "hook.sh");
    await enable(["claude-code"], { scope: "project", yes: true, dryRun: false, hookSource }, context, agents);
    expect((await result()).text).toMatch(/Claude Code: enabled in \S+acme-shop\S+ \(project, /);
    rmSync(project, { recursive: true });
    const { code, text } = await result();
    expect(code).toBe(0);
    expect(text.replaceAll(/\n +/g, " ")).toMatch(/registration gone from \S+acme-shop/);
  });

  test("a state directory or inbox that is a file", async () => {
    const { stateDir, inboxDir } = places();
    mkdirSync(dirname(stateDir), { recursive: true });
    writeFileSync(stateDir, "");
    await broken(/openhook-otel is not a directory: events are lost/);
    rmSync(stateDir);
    mkdirSync(stateDir);
    writeFileSync(inboxDir, "");
    await broken(/inbox is not a directory/);
  });

  test("a damaged store, and one of a later version; the log's last lines are shown", async () => {
    const { storePath, stateDir } = places();
    const db = openDatabase(storePath);
    db.prepare("PRAGMA user_version = 999").run();
    db.close();
    writeFileSync(join(stateDir, "drain.log"), "2026-11-21T06:00:00.000Z cannot open the store\n");
    const newer = await broken(/was written by a later version of openhook-otel .*update openhook-otel/);
    expect(newer.store.state).toBe("newer");
    expect(newer.remarks.join("\n")).toContain("cannot open the store");
    for (const suffix of ["-wal", "-shm"]) rmSync(`${storePath}${suffix}`, { force: true });
    writeFileSync(storePath, "no database at all. ".repeat(500));
    expect((await broken(/is damaged: .*openhook-otel drain moves it aside/)).store.state).toBe("damaged");
  });

  test("a store from before the first release", async () => {
    const db = openDatabase(places().storePath);
    db.prepare("PRAGMA user_version = 3").run();
    db.close();
    const facts = await broken(
      /has schema 3, from before the first release .* cannot be brought up to date: .* import /,
    );
    expect(facts.store.state).toBe("unreadable");
  });

  test("an invalid setting; an invalid destination keeps data on this machine", async () => {
    const facts = await broken(/^configuration: .*OPENHOOK_OTEL_OTLP_ENDPOINT/, {
      env: { OPENHOOK_OTEL_OTLP_ENDPOINT: "ftp://collector" },
    });
    expect(facts.delivery.traces).toMatchObject({
      endpoint: null,
      why_not_sent: "not sent until the configuration is fixed",
    });
  });
});

test("no line is wider than the terminal, and control characters in data are escaped", async () => {
  const of = new Replay("claude-code", "basic", { withTranscripts: false });
  for (const call of of.calls) of.hook(call);
  of.hook({ received_at: new Date().toISOString(), event: "Stop", stdin_raw: "\u001b[2J" });
  await drained(of.places, { OPENHOOK_OTEL_OTLP_ENDPOINT: "http://127.0.0.1:9" });
  const odd = join(of.home, "漢字\u001b[31m 😀");
  cpSync(join(of.home, ".local"), join(odd, ".local"), { recursive: true });
  const at = placesOf({ env: {}, home: odd, platform: "linux" });
  expect(existsSync(at.storePath)).toBe(true);
  for (const columns of [20, 40, 60, 80, 200]) {
    const env = { OPENHOOK_OTEL_OTLP_ENDPOINT: "nowhere", OPENHOOK_OTEL_SEMCONV: "\u001b[31m" };
    const { text } = await result({ columns, env }, at);
    expect(text).toMatch(SGR);
    const plain = text.replaceAll(SGR, "");
    expect(plain).not.toMatch(CONTROL);
    for (const line of plain.split("\n")) expect(columnsOf(line), line).toBeLessThanOrEqual(columns);
  }
  of.remove();
});
