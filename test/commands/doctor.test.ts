import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { createServer as createHttp2Server } from "node:http2";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { findAgent } from "#agents/registry.ts";
import { agentReports } from "#check/health/checks/agents.ts";
import { collectStatus } from "#check/health/examine.ts";
import { doctor } from "#commands/doctor.ts";
import { enable } from "#commands/enable.ts";
import type { Context } from "#config/context.ts";
import { placesOf } from "#config/places.ts";
import type { Agent } from "#core/model/agent.ts";
import type { Installer } from "#core/model/installer.ts";
import { VERSION } from "#kit/version.ts";
import { openDatabase } from "#store/database.ts";
import { readStore } from "#store/read-only.ts";
import { startGrpcReceiver } from "../receiver/grpc-receiver.ts";
import { type Receiver, startReceiver } from "../receiver/receiver.ts";
import { CONTROL, columnsOf, contextAt, SGR } from "../support/context.ts";
import { Replay, ROOT } from "../support/replay.ts";

/** The only real agent here; others may or may not be installed on this machine. */
const agents = {
  list: async () => [await claude()],
  find: async (source: string) => (source === "claude-code" ? claude() : undefined),
};
const claude = async (): Promise<Agent> => {
  const agent = await findAgent("claude-code");
  if (agent === undefined) throw new Error("no such card");
  return agent;
};

const hookSource = join(ROOT, "src", "collect", "intake", "hook.sh");
const NOW_MS = Date.parse("2026-11-21T10:00:00Z");

let of: Replay;
let bin: string;
let program: string;
beforeEach(() => {
  of = new Replay("claude-code", "basic");
  bin = mkdtempSync(join(tmpdir(), "openhook-doctor-bin-"));
  program = join(bin, "openhook-otel.cjs");
  writeFileSync(program, "");
  writeFileSync(join(bin, "claude"), "#!/bin/sh\necho '2.1.329 (Claude Code)'\n", { mode: 0o755 });
});
afterEach(() => {
  of.remove();
  rmSync(bin, { recursive: true, force: true, maxRetries: 10 });
});

interface Said {
  readonly level: "ok" | "remark" | "broken";
  readonly area: string;
  readonly text: string;
  readonly todo: string | null;
}
interface Report {
  readonly fixed?: readonly string[];
  readonly not_fixed?: readonly string[];
  readonly findings: readonly Said[];
  readonly agents: readonly {
    readonly source: string;
    readonly version: string | null;
    readonly reported_version: string | null;
    readonly last_event: string | null;
    readonly findings: readonly Said[];
  }[];
}

type World = Partial<Pick<Context, "env" | "cwd" | "now">> & { readonly columns?: number };

function settledContext({ env = {}, cwd = of.home, now = () => NOW_MS, ...rest }: World = {}) {
  const PATH = `${bin}:/usr/bin:/bin`;
  return contextAt(of.places, {
    env: { PATH, HOME: of.home, ...env } as Record<string, string>,
    cwd,
    now,
    programPath: program,
    ...rest,
  });
}

async function examine(world: World = {}, fix = false) {
  const { context, out } = settledContext(world);
  const code = await doctor({ json: true, fix, hookSource }, context, agents);
  const report = JSON.parse(out()) as Report;
  const own = report.agents.find(({ source }) => source === "claude-code");
  const all = [...report.findings, ...(own?.findings ?? [])];
  const brokenOnes = all.filter(({ level }) => level === "broken");
  expect(code).toBe(report.findings.some(({ level }) => level === "broken") || brokenOnes.length > 0 ? 1 : code);
  const about = (area: string): readonly string[] =>
    all.filter((one) => one.area === area).map(({ level, text }) => `${level}: ${text}`);
  return { code, report, own, all, about, broken: brokenOnes };
}

const enableClaude = async (scope: "user" | "project" = "user", cwd = of.home): Promise<void> => {
  const { context } = settledContext({ cwd });
  await enable(["claude-code"], { scope, yes: true, dryRun: false, hookSource }, context, agents);
};
const collect = async (): Promise<void> => {
  for (const call of of.calls) of.hook(call);
  await of.drain({ endIdle: true });
};
/** The store's bytes are unreliable: SQLite merges its log into the file when a connection is garbage-collected. */
const everyRow = () =>
  readStore(of.places.storePath, (db) =>
    db
      .prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name")
      .all()
      .map(({ name, sql }) => {
        const rows = db.prepare(`SELECT * FROM ${name}`).all();
        return { name, sql, rows: rows.map((row) => ({ ...row, _metadata: undefined })) };
      }),
  );
const settingsPath = (): string => join(of.home, ".claude", "settings.json");

describe("doctor", () => {
  test("nothing installed: nothing is broken, and doctor creates no files", async () => {
    const { code, about, own } = await examine();
    expect(code).toBe(0);
    expect(about("node")).toEqual([expect.stringMatching(/^ok: v\d+\./)]);
    expect(about("state")).toEqual([expect.stringMatching(/^ok: .*does not exist yet/)]);
    expect(about("hook")).toEqual(["ok: not installed: no agent is enabled"]);
    expect(about("store")).toEqual(["ok: none yet"]);
    expect(about("traces")).toEqual(["ok: export is off (no endpoint)"]);
    expect(about("Claude Code")).toEqual(["remark: version 2.1.329, not enabled"]);
    expect(own?.findings[0]?.todo).toBe("openhook-otel enable claude-code");
    expect(existsSync(of.places.stateDir)).toBe(false);
    expect(existsSync(dirname(of.places.hookPath))).toBe(false);
  });

  test("everything works, from the hook to the last session's transcript", async () => {
    await enableClaude();
    await collect();
    const { code, about, own, broken } = await examine({
      now: () => Date.parse(of.calls.at(-1)?.received_at ?? "") + 60_000,
    });
    expect(broken).toEqual([]);
    expect(code).toBe(0);
    expect(about("hook")).toEqual([`ok: ${of.places.hookPath} records an event and prints nothing`]);
    expect(about("state")).toEqual([`ok: ${of.places.stateDir} is private and writable`]);
    expect(about("store")).toEqual([
      expect.stringMatching(/^ok: 1 session, 0 open, \d+ spans? queued; SQLite's integrity check found no problem$/),
    ]);
    expect(about("inbox")).toEqual(["ok: empty"]);
    expect(about("quarantine")).toEqual(["ok: empty"]);
    expect(about("Claude Code")).toEqual([
      expect.stringMatching(/^ok: version 2\.1\.329/),
      `ok: registered in ${settingsPath()} (user, 10 events)`,
      expect.stringMatching(/^ok: last event 1m 0\ds ago, 1 session in total$/),
      "ok: the last session's transcript can be read (1 part)",
    ]);
    expect(own).toMatchObject({ version: "2.1.329", reported_version: expect.stringMatching(/^2\./) });
    expect(Date.parse(own?.last_event ?? "")).toBeCloseTo(Date.parse(of.calls.at(-1)?.received_at ?? ""), -4);
  });

  test("starts the hook: reports one that fails, prints, or writes no event", async () => {
    await enableClaude();
    const findingsOf = async (script: string): Promise<string> => {
      writeFileSync(of.places.hookPath, `#!/bin/sh\n${script}\n`);
      const { code, broken } = await examine();
      expect(code).toBe(1);
      expect(broken).toHaveLength(1);
      return broken[0]?.text ?? "";
    };
    expect(await findingsOf("exit 3")).toMatch(/was started as an agent starts it, and it failed \(3\)$/);
    expect(await findingsOf("echo '{}'")).toMatch(/it printed something/);
    expect(await findingsOf("exit 0")).toMatch(/no event was written$/);
    chmodSync(of.places.hookPath, 0o644);
    expect((await examine()).broken).toEqual([
      expect.objectContaining({ text: expect.stringMatching(/cannot be executed/) }),
    ]);
    // none of the test runs left events in the real inbox
    expect((await examine()).about("inbox")).toEqual(["ok: empty"]);
  });

  test("runs the registered lines in the user's own shell, and names a shell that cannot run them", async () => {
    await enableClaude();
    const hook = of.places.hookPath;
    const ok = await examine({ env: { SHELL: "/bin/sh" } });
    expect(ok.about("hook")).toEqual([`ok: ${hook} records an event and prints nothing (started by /bin/sh)`]);
    // A shell without ||, as nushell
    const shell = join(bin, "nu");
    writeFileSync(shell, '#!/bin/sh\ncase $2 in "sh -c "*) eval "$2" ;; *) exit 1 ;; esac\n', { mode: 0o755 });
    const { broken, about } = await examine({ env: { SHELL: shell } });
    expect(broken).toEqual([
      expect.objectContaining({
        area: "hook",
        text: `the command line in the settings of claude-code was run as the agent runs it, and in ${shell} it failed (1)`,
        todo: expect.stringMatching(/^openhook-otel enable claude-code /),
      }),
    ]);
    expect(about("hook")[0]).toContain("records an event and prints nothing");
    const { context } = settledContext({ env: { SHELL: shell } });
    await enable(["claude-code"], { scope: "user", yes: true, dryRun: false, hookSource }, context, agents);
    expect((await examine({ env: { SHELL: shell } })).broken).toEqual([]);
  });

  test("without a folder for temporary files the hook is still tested, and leaves no files", async () => {
    await enableClaude();
    vi.stubEnv("TMPDIR", join(of.home, "was-deleted"));
    const { code, about } = await examine();
    vi.unstubAllEnvs();
    expect({ code, hook: about("hook") }).toEqual({ code: 0, hook: [expect.stringMatching(/^ok: .*prints nothing$/)] });
    expect(readdirSync(of.places.stateDir).filter((name) => name.startsWith("doctor"))).toEqual([]);
  });

  test("--fix repairs file modes, the hook program and removed registrations, reports each, and never changes the store", async () => {
    const project = join(of.home, "acme-shop");
    mkdirSync(project, { recursive: true });
    await enableClaude();
    await enableClaude("project", project);
    await collect();
    const before = everyRow();
    chmodSync(of.places.stateDir, 0o755);
    chmodSync(of.places.storePath, 0o644);
    rmSync(of.places.hookPath);
    writeFileSync(settingsPath(), '{ "model": "opus" }\n');
    rmSync(join(project, ".claude"), { recursive: true });
    const sick = await examine();
    expect(sick.code).toBe(1);
    expect(sick.broken.map(({ area }) => area)).toEqual(["hook", "Claude Code", "Claude Code"]);
    expect(sick.about("state")).toHaveLength(2);

    const { code, report, broken } = await examine({}, true);
    expect(broken).toEqual([]);
    expect(code).toBe(0);
    expect(report.not_fixed).toEqual([]);
    expect(report.fixed).toEqual([
      `${of.places.stateDir} is private again`,
      `${of.places.storePath} is private again`,
      `reinstalled the hook program: ${of.places.hookPath}`,
      expect.stringMatching(/^Claude Code: enabled in \S+settings\.json \(10 events/),
      expect.stringMatching(/^Claude Code: enabled in \S+acme-shop\S+ \(7 events/),
    ]);
    expect(statSync(of.places.stateDir).mode & 0o777).toBe(0o700);
    expect(statSync(of.places.storePath).mode & 0o777).toBe(0o600);
    expect(readFileSync(settingsPath(), "utf8")).toContain('"model": "opus"');
    expect(everyRow()).toEqual(before);
    expect((await examine({}, true)).report.fixed).toEqual([]);
  });

  test("--fix reports what it could not fix", async () => {
    await enableClaude();
    writeFileSync(settingsPath(), "{}\n");
    chmodSync(settingsPath(), 0o444);
    const { code, report } = await examine({}, true);
    expect(code).toBe(1);
    expect(report.not_fixed).toEqual([
      expect.stringMatching(/^could not register with Claude Code again: .*read-only/),
    ]);
  });

  test("reports a registration that differs from what this version writes", async () => {
    await enableClaude();
    writeFileSync(join(bin, "claude"), "#!/bin/sh\necho 2.0.77\n");
    const { code, own } = await examine();
    expect(code).toBe(0);
    expect(own?.findings).toContainEqual({
      area: "Claude Code",
      level: "remark",
      text: `registered in ${settingsPath()} (user, 10 events), but not as this version would`,
      todo: "openhook-otel enable claude-code updates it",
    });
    expect(own?.findings).toContainEqual(expect.objectContaining({ text: "no event received yet" }));
  });

  test("after an update: the hook program and wrapper of the previous version, and another installation", async () => {
    await enableClaude();
    const wrapper = join(dirname(of.places.hookPath), "wrapper");
    const shipped = readFileSync(hookSource, "utf8");
    writeFileSync(of.places.hookPath, `${shipped}# before\n`);
    writeFileSync(wrapper, "#!/bin/sh\n# before\n");
    const before = program;
    program = join(bin, "new.cjs");
    writeFileSync(program, "");
    const { code, about } = await examine();
    expect(code).toBe(0);
    expect(about("hook")).toEqual([
      `ok: ${of.places.hookPath} records an event and prints nothing`,
      `remark: ${of.places.hookPath} is from another version`,
    ]);
    expect(about("version")).toEqual([
      `remark: hooks start drains with ${before} (an unknown version), and this is ${program} (${VERSION})`,
    ]);
    const fixed = await examine({}, true);
    expect(fixed.report.fixed).toEqual([`reinstalled the hook program: ${of.places.hookPath}`]);
    expect(fixed.about("hook")).toEqual([`ok: ${of.places.hookPath} records an event and prints nothing`]);
    expect(readFileSync(of.places.hookPath, "utf8")).toBe(shipped);
    expect(readFileSync(wrapper, "utf8")).not.toContain("# before");
    expect((await examine({}, true)).report.fixed).toEqual([]);
  });

  test("a transcript that no longer exists, and an unreadable one", async () => {
    await enableClaude();
    await collect();
    const path = of.calls.map((call) => call.stdin?.["transcript_path"]).find((one) => typeof one === "string");
    const text = readFileSync(String(path));
    rmSync(String(path));
    const deleted = await examine();
    expect(deleted.code).toBe(0);
    expect(deleted.about("Claude Code")).toContain(`remark: the last session's transcript does not exist: ${path}`);
    const elsewhere = join(of.home, "elsewhere.jsonl");
    writeFileSync(elsewhere, text);
    symlinkSync(elsewhere, String(path));
    expect((await examine()).about("Claude Code").join()).toMatch(
      /broken: .*transcript cannot be read: .*transcripts\.folders/,
    );
    rmSync(String(path));
    writeFileSync(String(path), text);
    expect((await examine()).about("Claude Code").at(-1)).toMatch(/^ok: the last session's transcript/);
  });

  test("quarantined payloads by reason, with a remedy; events queued for a day", async () => {
    for (const stdin_raw of ["sk-secret no JSON", '{"unknown":"sk-secret"}', '{"unknown":2}']) {
      of.hook({ received_at: "2026-11-20T05:00:00Z", event: "Stop", stdin_raw });
    }
    await of.drain();
    of.hook({ received_at: "2026-11-20T05:00:00Z", event: "Stop", stdin: { hook_event_name: "Stop" } });
    const { code, report, about } = await examine();
    expect(code).toBe(0);
    expect(about("inbox")).toEqual([expect.stringMatching(/^remark: events have been queued for 1d 5h/)]);
    expect(about("quarantine")).toEqual([
      expect.stringMatching(/^remark: 3 payloads quarantined in /),
      "remark: 2 × claude-code: no agent recognises it",
      expect.stringMatching(/^remark: 1 × claude-code: the payload is not JSON/),
    ]);
    expect(report.findings).toContainEqual(
      expect.objectContaining({
        todo: "update openhook-otel: the next drain retries them; to retry now: openhook-otel replay",
      }),
    );
    expect(JSON.stringify(report)).not.toContain("sk-secret");
  });

  test("a corrupt store, one from before the first release, a file that is not a store, and times in the future", async () => {
    await collect();
    const at = (await examine({ now: () => Date.parse("2020-01-01T00:00:00Z") })).about("clock");
    expect(at).toEqual([
      expect.stringMatching(/^remark: the store has an event at 2026-.* ahead of this machine's clock$/),
    ]);
    const db = openDatabase(of.places.storePath);
    const version = Number(db.prepare("PRAGMA user_version").get()?.["user_version"]);
    db.prepare("PRAGMA user_version = 3").get();
    expect((await examine()).about("store")).toEqual([
      expect.stringMatching(/^broken: .* from before the first release/),
    ]);
    db.prepare(`PRAGMA user_version = ${version}`).get();
    // one page of many: status can still read everything it needs
    const page = Number(db.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'increments'").get()?.["rootpage"]);
    const pageBytes = Number(db.prepare("PRAGMA page_size").get()?.["page_size"]);
    db.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get();
    db.close();
    const file = openSync(of.places.storePath, "r+");
    writeSync(file, Buffer.alloc(64, 0xff), 0, 64, (page - 1) * pageBytes);
    closeSync(file);
    const torn = await examine();
    expect(torn.code).toBe(1);
    expect(torn.about("store")).toContainEqual(expect.stringMatching(/^broken: .* is damaged: /));
    for (const suffix of ["-wal", "-shm"]) rmSync(`${of.places.storePath}${suffix}`, { force: true });
    writeFileSync(of.places.storePath, "no database at all. ".repeat(500));
    expect((await examine()).about("store")).toEqual([
      expect.stringMatching(/^broken: .*is damaged: .*openhook-otel drain/),
    ]);
  });

  test("a HOME that drains ignore, because a file there names it: doctor and status say what they read instead", async () => {
    writeFileSync(join(of.home, ".profile"), "export PATH=$HOME/bin:$PATH\n");
    const problem = `drains that hooks start do not read ${of.places.configPath}, because ${join(of.home, ".profile")} names HOME`;
    const remedy = /^put your settings into \S+config\.json, or write ~ instead of \$HOME in \S+\.profile$/;
    const said = (await examine()).report.findings.filter(({ text }) => text.startsWith(problem));
    expect(said).toMatchObject([{ area: "settings", level: "remark", todo: expect.stringMatching(remedy) }]);
    const { remarks } = await collectStatus(settledContext().context, await agents.list());
    expect(remarks).toContain(`configuration: ${said[0]?.text}; ${said[0]?.todo}`);

    // As the remedy says
    writeFileSync(join(of.home, ".profile"), "export PATH=~/bin:$PATH\n");
    expect((await examine()).about("settings")).toEqual([expect.stringMatching(/^ok: .* are valid$/)]);
  });

  test("an invalid setting, and an invalid .openhook.json", async () => {
    writeFileSync(join(of.home, ".openhook.json"), '{ "hooks": [{}] }');
    const wrong = await examine({ env: { OPENHOOK_OTEL_OTLP_ENDPOINT: "ftp://collector" } });
    expect(wrong.code).toBe(1);
    expect(wrong.about("settings")).toEqual([expect.stringMatching(/^broken: .*OPENHOOK_OTEL_OTLP_ENDPOINT/)]);
    expect(wrong.about("traces")).toEqual(["ok: not sent until the configuration is fixed"]);
    expect(wrong.about("discovery")).toEqual([
      expect.stringMatching(/^remark: .* does not follow OpenHook v0\.1: openhook/),
    ]);
    const write = (hooks: unknown) =>
      writeFileSync(join(of.home, ".openhook.json"), JSON.stringify({ openhook: "0.1", hooks }));
    write([{ command: "collect" }]);
    expect((await examine()).about("discovery")).toEqual([expect.stringMatching(/runs 1 hook, none of them ours$/)]);
    write([{ command: "openhook-otel hook", events: ["session.end"] }]);
    expect((await examine()).about("discovery")).toEqual([
      expect.stringMatching(/^ok: .* runs our hook for session\.end$/),
      expect.stringMatching(/^remark: .* makes agents wait for "openhook-otel hook"$/),
    ]);
  });
});

describe("doctor probes the endpoint with an empty export", () => {
  let receiver: Receiver;
  beforeEach(async () => {
    receiver = await startReceiver();
  });
  afterEach(() => receiver.close());

  const at = (url: string, more: Readonly<Record<string, string>> = {}) => ({
    env: { OPENHOOK_OTEL_OTLP_ENDPOINT: url, ...more },
  });

  test.each(["http/protobuf", "http/json"])("accepts an OTLP backend that reads %s", async (protocol) => {
    const world = { ...at(receiver.url, { OPENHOOK_OTEL_OTLP_PROTOCOL: protocol }), now: Date.now };
    const { code, about } = await examine(world);
    expect(code).toBe(0);
    for (const signal of ["traces", "metrics"]) {
      expect(about(signal)).toEqual([
        expect.stringMatching(
          new RegExp(`^ok: ${receiver.url}/v1/${signal} answers 200 to ${protocol} \\(gzip\\) in `),
        ),
      ]);
    }
    expect(about("clock")).toEqual(["ok: agrees with the backend's clock to within seconds"]);
    // Empty ones, and ones of real size without records
    expect(receiver.requests.map(({ body }) => body.length > 400_000)).toEqual([false, true, false, true]);
    expect([receiver.spans, receiver.metricPoints]).toEqual([[], []]);
  });

  test("warns about metrics as deltas because of an OTEL_ variable", async () => {
    const deltas = { OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE: "delta" };
    const { code, about } = await examine({ ...at(receiver.url, deltas), now: Date.now });
    expect(code).toBe(0);
    expect(about("metrics")).toContainEqual(
      expect.stringMatching(/^remark: exported as deltas \(.*TEMPORALITY_PREFERENCE\): Prometheus rejects deltas/),
    );
  });

  test("reports a wrong clock", async () => {
    const { code, about } = await examine({ ...at(receiver.url), now: () => Date.now() - 2 * 3_600_000 });
    expect(code).toBe(0);
    expect(about("clock")).toContain("remark: this machine's clock is 2h 00m behind the backend's");
  });

  test.each([
    [401, "broken", /requires credentials/],
    [404, "broken", /not an OTLP endpoint/],
    [415, "broken", /otlp\.protocol/],
    [429, "remark", /asks to retry later/],
    [503, "remark", /asks to retry later/],
  ])("status %i: %s, with a remedy and without secrets", async (status, level, todo) => {
    receiver.setBehaviour(() => ({ status, body: "hunter2 is wrong" }));
    const { report } = await examine(
      at(`${receiver.url}/?key=hunter2`, { OPENHOOK_OTEL_OTLP_HEADERS: "authorization=Bearer hunter2" }),
    );
    const traces = report.findings.find(({ area }) => area === "traces");
    expect(traces).toMatchObject({
      level,
      text: expect.stringContaining(String(status)),
      todo: expect.stringMatching(todo),
    });
    expect(JSON.stringify(report)).not.toContain("hunter2");
  });

  test.each([403, 413, 500, 502])(
    "a gateway that refuses large requests with %i: an empty export is fine, and one of real size is not",
    async (status) => {
      receiver.setBehaviour(({ headers }) => (Number(headers["content-length"]) > 20_000 ? { status } : undefined));
      const { code, report } = await examine(at(receiver.url));
      expect(code).toBe(0);
      expect(report.findings.filter(({ area }) => area === "traces")).toMatchObject([
        {
          level: "remark",
          text: expect.stringMatching(new RegExp(`^an empty export is accepted, but not one of 500 kB: .* ${status}`)),
          todo: expect.stringMatching(
            /drains find the size .*openhook-otel config set otlp\.maxBytesPerRequest <bytes>$/,
          ),
        },
        { level: "ok" },
      ]);
    },
  );

  test("an address that is ignored is a remark, with where it came from", async () => {
    const { about } = await examine({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: "localhost:4318" } });
    for (const signal of ["traces", "metrics"]) {
      expect(about(signal)).toEqual([
        expect.stringMatching(
          /^remark: not sent: environment variable OTEL_EXPORTER_OTLP_ENDPOINT: .*write http:\/\/localhost:4318/,
        ),
      ]);
    }
  });

  test.each([404, 405])("status %i for metrics only: suggests switching metrics off", async (status) => {
    receiver.setBehaviour(({ path }) => (path.endsWith("/v1/metrics") ? { status } : undefined));
    const { report } = await examine(at(receiver.url));
    expect(report.findings.find(({ area }) => area === "traces")?.level).toBe("ok");
    expect(report.findings.find(({ area }) => area === "metrics")?.todo).toContain(
      "openhook-otel config set otlp.metrics.enabled false",
    );
  });

  test("a backend that refuses only empty exports is fine after a real delivery", async () => {
    receiver.setBehaviour(({ headers }) => (Number(headers["content-length"]) < 50 ? { status: 400 } : undefined));
    const world = at(receiver.url);
    const ofTraces = async () => (await examine(world)).report.findings.find(({ area }) => area === "traces");
    expect(await ofTraces()).toMatchObject({
      level: "broken",
      todo: expect.stringContaining("refuses only empty exports"),
    });
    for (const call of of.calls) of.put(call);
    of.env = world.env;
    await of.drain({ endIdle: true, isEager: true });
    expect(await ofTraces()).toMatchObject({
      level: "ok",
      text: `${receiver.url}/v1/traces answers 400 to an empty export, but accepted the last real one`,
    });
  });

  test.each([415, 400, 500])(
    "a backend that responds with %i to gzip: names the setting, found by trying",
    async (status) => {
      receiver.setBehaviour(({ headers }) => (headers["content-encoding"] === "gzip" ? { status } : undefined));
      const { report } = await examine(at(receiver.url));
      const traces = report.findings.find(({ area }) => area === "traces");
      expect(traces).toMatchObject({
        level: "broken",
        text: expect.stringContaining(String(status)),
        todo: expect.stringContaining("openhook-otel config set otlp.compression none"),
      });
    },
  );

  test("a backend that reads only JSON: names the setting, found by trying", async () => {
    receiver.setBehaviour(({ headers }) =>
      headers["content-type"] === "application/json" ? undefined : { status: 400 },
    );
    const { report } = await examine(at(receiver.url));
    expect(report.findings.find(({ area }) => area === "traces")?.todo).toContain("config set otlp.protocol http/json");
  });

  test("a redirect: shows the target, and the setting that uses an address unchanged", async () => {
    receiver.setBehaviour(() => ({ status: 301, headers: { location: "/otlp/v1/traces/?key=hunter2" } }));
    const { report } = await examine(at(receiver.url));
    expect(report.findings.find(({ area }) => area === "traces")).toMatchObject({
      text: `${receiver.url}/v1/traces redirects to ${receiver.url}/otlp/v1/traces/ (301), and redirects are not followed`,
      todo: expect.stringContaining("config set otlp.traces.endpoint"),
    });
  });

  test("accepts an OTLP backend over gRPC, and reports one that refuses the credentials", async () => {
    const grpc = await startGrpcReceiver();
    const world = { ...at(grpc.url, { OPENHOOK_OTEL_OTLP_PROTOCOL: "grpc" }), now: Date.now };
    const { code, about } = await examine(world);
    expect(code).toBe(0);
    for (const signal of ["traces", "metrics"]) {
      expect(about(signal)).toEqual([expect.stringMatching(`^ok: ${grpc.url}/? answers OK to grpc \\(gzip\\) in `)]);
    }
    grpc.setBehaviour(() => ({ grpc: { code: 16, details: "who are you?" } }));
    const { report } = await examine(world);
    await grpc.close();
    expect(report.findings.find(({ area }) => area === "traces")).toMatchObject({
      level: "broken",
      text: expect.stringContaining("answered UNAUTHENTICATED (16): who are you?"),
      todo: expect.stringContaining("config set otlp.headers.authorization"),
    });
  });

  test("gRPC to a receiver of HTTP: names both settings", async () => {
    const { report } = await examine(at(receiver.url, { OPENHOOK_OTEL_OTLP_PROTOCOL: "grpc" }));
    expect(report.findings.find(({ area }) => area === "traces")).toMatchObject({
      level: "broken",
      text: expect.stringContaining("HTTP/1.1 only, and gRPC needs HTTP/2"),
      todo: expect.stringMatching(/otlp\.protocol to http\/protobuf, .*4317/),
    });
  });

  test("a gRPC receiver: names the port for HTTP", async () => {
    const server = createHttp2Server().on("sessionError", () => {});
    const port = await new Promise<number>((listening) =>
      server.listen(0, "127.0.0.1", () => listening((server.address() as AddressInfo).port)),
    );
    const { report } = await examine(at(`http://127.0.0.1:${port}`));
    server.close();
    expect(report.findings.find(({ area }) => area === "traces")).toMatchObject({
      level: "broken",
      text: expect.stringContaining("HTTP/2"),
      todo: expect.stringMatching(/otlp\.protocol to grpc, .*4318/),
    });
  });

  test("an endpoint with the port of gRPC: a warning before anything is sent", async () => {
    const { about } = await examine(at("http://127.0.0.1:4317"));
    expect(about("settings")).toContainEqual(expect.stringMatching(/otlp\.endpoint has port 4317.*4318/));
  });

  test("reports a refused connection, with a remedy", async () => {
    const { code, report } = await examine(at("http://127.0.0.1:9"));
    expect(code).toBe(1);
    expect(report.findings).toContainEqual(
      expect.objectContaining({
        area: "traces",
        level: "broken",
        text: "connection refused by http://127.0.0.1:9/v1/traces",
        todo: expect.stringContaining("spans stay queued"),
      }),
    );
  });
});

test("reports findings of an agent's own check, in several settings files, and an agent whose program is missing", async () => {
  const files = [join(of.home, "rover.toml"), join(of.home, "rover.trust")];
  for (const path of files) writeFileSync(path, "ours\n");
  const installer: Installer = {
    scopes: ["user"],
    paths: async () => files,
    add: (all) => all,
    remove: (all) => all,
    registered: () => ["end"],
    check: async () => [
      { level: "broken", text: "Rover trusts nobody: run rover trust" },
      { level: "remark", text: "Rover 6 asks at its next start" },
    ],
    detect: async () => ({ present: false }),
  };
  const rover: Agent = {
    ...(await claude()),
    source: "rover",
    title: "Rover",
    installer: async () => ({ default: installer }),
  };
  const registration = {
    scope: "user",
    paths: files,
    project: null,
    state: "enabled",
    events: ["end"],
    recorded: true,
    blocked: [],
  } as const;
  const status = { source: "rover", title: "Rover", registrations: [registration], managed: null, blocked: [] };
  const { context } = settledContext();
  const lookup = { list: async () => [rover], find: async () => rover };
  const [report] = await agentReports([status], new Map(), context, lookup);
  expect(report?.findings.map(({ level, text }) => `${level}: ${text}`)).toEqual([
    "remark: registered, but its program was not found",
    `ok: registered in ${files[0]} and ${files[1]} (user, 1 event)`,
    "broken: Rover trusts nobody: run rover trust",
    "remark: Rover 6 asks at its next start",
    "remark: no event received yet",
  ]);
});

test("as text: each finding with its mark and remedy, no line wider than the terminal", async () => {
  await enableClaude();
  rmSync(of.places.hookPath);
  for (const columns of [20, 40, 80, 200]) {
    const { context, out } = settledContext({ columns, env: { OPENHOOK_OTEL_SEMCONV: "\u001b[31m" } });
    expect(await doctor({ json: false, fix: false, hookSource }, context, agents)).toBe(1);
    const plain = out().replaceAll(SGR, "");
    expect(plain).not.toMatch(CONTROL);
    for (const line of plain.split("\n")) expect(columnsOf(line), line).toBeLessThanOrEqual(columns);
    expect(plain.trim().split("\n").at(-1)).toMatch(/^\d+ broken, \d+ remarks?$/);
    if (columns === 200) expect(plain).toMatch(/\nhook\n✗ agents are configured to run \S+, which does not exist: /);
  }
});

test("as text: what is broken first, then remarks, then a line for each finding that is fine", async () => {
  await enableClaude();
  rmSync(of.places.hookPath);
  const { context, out } = settledContext({ columns: 200, env: { OPENHOOK_OTEL_SEMCONV: "old" } });
  await doctor({ json: false, fix: false, hookSource }, context, agents);
  const marks = [
    ...out()
      .replaceAll(SGR, "")
      .matchAll(/^[✗!✓]/gm),
  ].map(([mark]) => mark);
  expect(marks.lastIndexOf("✗")).toBeLessThan(marks.indexOf("!"));
  expect(marks.lastIndexOf("!")).toBeLessThan(marks.lastIndexOf("✓"));
  expect(out().replaceAll(SGR, "")).toMatch(/\n✓ node: v\d/);
});

test("as text, without an agent: nothing to collect yet, and absent agents in one line", async () => {
  const { context, out } = settledContext({ columns: 200, env: { PATH: "" } });
  rmSync(join(of.home, ".claude"), { recursive: true });
  expect(await doctor({ json: false, fix: false, hookSource }, context, agents)).toBe(0);
  const plain = out().replaceAll(SGR, "");
  expect(plain).toMatch(
    /^openhook-otel \S+\n\n! Nothing to collect yet: no supported agent found on this machine\n {2}→ /,
  );
  expect(plain).toMatch(/\n- not on this machine: Claude Code\n\nnothing is broken\n$/);
});

test("programs that send OpenHook themselves are not called absent", async () => {
  const openhook = await findAgent("openhook");
  if (openhook === undefined) throw new Error("no such card");
  const { context, out } = settledContext({ columns: 200, env: { PATH: "" } });
  rmSync(join(of.home, ".claude"), { recursive: true });
  const both = { ...agents, list: async () => [await claude(), openhook], find: findAgent };
  expect(await doctor({ json: false, fix: false, hookSource }, context, both)).toBe(0);
  expect(out().replaceAll(SGR, "")).toMatch(
    /\n- not on this machine: Claude Code\n- other programs can send OpenHook v0\.1 events themselves: .* enable openhook\n/,
  );
});

test("checks the moved state directory when OPENHOOK_OTEL_HOME is set", async () => {
  const moved = join(of.home, "moved");
  mkdirSync(moved, { mode: 0o755 });
  const places = placesOf({ env: { OPENHOOK_OTEL_HOME: moved }, home: of.home, platform: "linux" });
  const { context, out } = contextAt(places, { env: { PATH: bin, HOME: of.home, OPENHOOK_OTEL_HOME: moved } });
  await doctor({ json: true, fix: false, hookSource }, context, agents);
  expect(out()).toContain(`other users of this machine can access ${moved}`);
});
