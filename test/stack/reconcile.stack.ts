import { execFile, spawnSync } from "node:child_process";
import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import PQueue from "p-queue";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openDatabase } from "#store/database.ts";
import { useCertificates } from "../support/certificates.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { PROGRAM, ROOT } from "../support/program.ts";
import type { Replay } from "../support/replay.ts";
import { type Gateway, startGateway, TOKEN, until } from "./gateway.ts";
import { freePorts } from "./process.ts";
import { programs } from "./programs.ts";
import {
  type Collector,
  type Jaeger,
  type Prometheus,
  startCollector,
  startJaeger,
  startPrometheus,
} from "./servers.ts";
import { AT_ONCE, type Recording, recordings, Team } from "./sessions.ts";

const { collector, jaeger, prometheus, oldPrometheus } = await programs();

/** The members of `reconcile --json` that these tests use. */
interface Reconciled {
  readonly code: number | null;
  readonly err: string;
  readonly verdict: string;
  readonly first_difference: Readonly<Record<string, unknown>> | null;
  readonly differences: readonly Readonly<Record<string, unknown>>[];
  readonly unknown: readonly string[];
  readonly sessions: readonly { readonly spans: Readonly<Record<string, number>> }[];
  readonly tokens: Readonly<Record<string, unknown>>;
  readonly counters: { readonly tokens: Readonly<Record<string, Readonly<Record<string, number>>>> };
}

/** The built program on one machine. */
async function reconcile(
  { home }: Pick<Replay, "home">,
  env: Readonly<Record<string, string>>,
  args: readonly string[],
): Promise<Reconciled> {
  const { code, stdout, stderr } = await new Promise<{ code: number | null; stdout: string; stderr: string }>(
    (done) => {
      const child = execFile(
        process.execPath,
        [PROGRAM, "reconcile", "--since", "2020-01-01", "--json", ...args],
        { cwd: home, env: { PATH: process.env["PATH"], HOME: home, ...env }, maxBuffer: 1 << 28 },
        (_error, stdout, stderr) => done({ code: child.exitCode, stdout, stderr }),
      );
    },
  );
  if (code !== 0 && code !== 1) throw new Error(`reconcile in ${home} exited with ${code}: ${stdout}${stderr}`);
  return { code, err: stderr, ...JSON.parse(stdout) };
}

/** The results of all machines of a team, in their order. They do not depend on each other. */
function reconcileAll(
  { machines }: Team,
  env: Readonly<Record<string, string>>,
  args: readonly string[],
): Promise<readonly { readonly machine: Replay; readonly result: Reconciled }[]> {
  const queue = new PQueue({ concurrency: AT_ONCE });
  return queue.addAll(
    machines.map((machine) => async () => ({ machine, result: await reconcile(machine, env, args) })),
  );
}

/** Changes a store directly. */
function tamper({ places }: Replay, sql: string): void {
  const db = openDatabase(places.storePath);
  db.prepare(sql).run();
  db.close();
}

const machineOf = (team: Team, source: string, has: RegExp): Replay => {
  const found = team.machines.find(
    (machine) => machine.source === source && has.test(JSON.stringify(machine.calls)) && machine.hasTranscripts,
  );
  if (found === undefined) throw new Error(`no recording of ${source} contains ${has}`);
  return found;
};

describe.skipIf(jaeger === undefined || prometheus === undefined)("reconcile, with Jaeger and Prometheus 3", () => {
  let team: Team;
  let traces: Jaeger;
  let metrics: Prometheus;
  let env: Record<string, string>;
  let args: readonly string[];
  beforeAll(async () => {
    [traces, metrics] = await Promise.all([
      startJaeger(jaeger ?? ""),
      startPrometheus(prometheus ?? "", { otlp: true }),
    ]);
    env = {
      OPENHOOK_OTEL_OTLP_TRACES_ENDPOINT: `${traces.otlpHttp}/v1/traces`,
      OPENHOOK_OTEL_OTLP_METRICS_ENDPOINT: `${metrics.otlp}/v1/metrics`,
    };
    args = ["--jaeger", traces.url, "--prometheus", metrics.url];
    team = await Team.at();
    for (const { waiting, problems } of await team.drain(env))
      expect({ waiting, problems }).toEqual({ waiting: 0, problems: [] });
  });
  afterAll(async () => {
    team?.remove();
    await Promise.all([traces?.remove(), metrics?.remove()]);
  });

  test("every recorded session agrees, to the token and the span", async () => {
    const all = await reconcileAll(team, env, args);
    let spans = 0;
    for (const { machine, result } of all) {
      const where = `${machine.source} ${machine.calls[0]?.received_at}`;
      expect([where, result.differences]).toEqual([where, []]);
      expect([where, result.code]).toEqual([where, 0]);
      for (const session of result.sessions) {
        expect([where, session.spans["jaeger"]]).toEqual([where, session.spans["store"]]);
        spans += session.spans["store"] ?? 0;
      }
      for (const [kind, { store, prometheus: found }] of Object.entries(result.counters.tokens)) {
        expect([where, kind, found]).toEqual([where, kind, store]);
      }
      // Everything that is not compared has a reason
      expect(
        result.unknown.filter(
          (line) =>
            !/its transcript was never found|reports tokens only in hook payloads|does not report tokens|writes no readable transcript/.test(
              line,
            ),
        ),
      ).toEqual([]);
    }
    expect(all.length).toBeGreaterThan(70);
    expect(spans).toBeGreaterThan(500);
  });

  test("every session agrees after everything was sent a second time", async () => {
    const machine = machineOf(team, "claude-code", /SubagentStop/);
    tamper(machine, "INSERT INTO outbox (seq, since_ms, bytes) SELECT seq, 1e15, 1 FROM spans");
    tamper(machine, "UPDATE counters SET changed = 1");
    const drained = spawnSync(process.execPath, [PROGRAM, "drain"], {
      env: { PATH: process.env["PATH"], HOME: machine.home, ...env },
      encoding: "utf8",
    });
    expect(drained.status).toBe(0);
    expect(await reconcile(machine, env, args)).toMatchObject({ code: 0, differences: [] });
  });

  test("a line added to a transcript is reported", async () => {
    const machine = machineOf(team, "claude-code", /mcp__/);
    const files = readdirSync(machine.transcriptRoot, { recursive: true, encoding: "utf8" });
    const path = join(
      machine.transcriptRoot,
      files.find((file) => file.endsWith(".jsonl") && !file.includes("agent-")) ?? "",
    );
    const lines = readFileSync(path, "utf8").trimEnd().split("\n");
    const last = lines.findLast((line) => line.includes('"output_tokens"')) ?? "";
    appendFileSync(path, `${last.replaceAll(/"(msg|req)_[^"]+"/g, '"$1_planted"')}\n`);
    const result = await reconcile(machine, env, args);
    expect(result.code).toBe(1);
    expect(result.first_difference).toMatchObject({
      between: "transcript and store",
      subject: expect.stringContaining("msg_planted"),
    });
    expect(result.err).toContain("first difference");
  });

  test("a span that is missing in Jaeger is reported", async () => {
    const machine = machineOf(team, "codex", /tool/);
    tamper(
      machine,
      `INSERT INTO spans (key, session, segment, record) SELECT 'planted', session, segment,
         json_set(record, '$.spanId', 'feedfeedfeedfeed') FROM spans ORDER BY seq LIMIT 1`,
    );
    const result = await reconcile(machine, env, args);
    expect(result.code).toBe(1);
    expect(result.differences).toHaveLength(1);
    expect(result.first_difference).toMatchObject({
      between: "store and Jaeger",
      subject: expect.stringContaining("feedfeedfeedfeed"),
      what: "was delivered but is missing",
    });
  });

  test("a span that is missing in the store is reported", async () => {
    const machine = machineOf(team, "opencode", /./);
    tamper(
      machine,
      `DELETE FROM spans WHERE seq = (SELECT max(seq) FROM spans WHERE record LIKE '%"name":"execute_tool%')`,
    );
    const result = await reconcile(machine, env, args);
    expect(result.code).toBe(1);
    expect(result.first_difference).toMatchObject({
      between: "store and Jaeger",
      subject: expect.stringContaining("execute_tool"),
      what: "is in the backend but not in the store",
    });
  });

  test("tokens that differ from Jaeger's are reported with both numbers", async () => {
    const machine = machineOf(team, "gemini-cli", /./);
    tamper(
      machine,
      `UPDATE spans SET record = json_set(record, '$.attributes."gen_ai.usage.output_tokens"', 123456)
       WHERE seq = (SELECT min(seq) FROM spans WHERE record LIKE '%"name":"chat %')`,
    );
    const result = await reconcile(machine, env, args);
    expect(result.code).toBe(1);
    expect(result.differences).toContainEqual(
      expect.objectContaining({ what: "gen_ai.usage.output_tokens", left: 123456, right: expect.any(Number) }),
    );
  });

  test("a counter that differs from Prometheus is reported with both numbers", async () => {
    const machine = machineOf(team, "copilot", /./);
    tamper(
      machine,
      `UPDATE counters SET value = value + 1, sent_value = sent_value + 1
       WHERE metric = 'openhook.tool.call.count' AND id = (SELECT min(id) FROM counters WHERE metric = 'openhook.tool.call.count')`,
    );
    const result = await reconcile(machine, env, args);
    expect(result.code).toBe(1);
    expect(result.differences).toHaveLength(1);
    const { between, subject, left, right } = result.first_difference ?? {};
    expect(between).toBe("delivered and Prometheus");
    expect(subject).toMatch(/^openhook\.tool\.call\.count\{/);
    expect(Number(left) - Number(right)).toBe(1);
  });

  test("a missing trace is reported; behind a sampling gateway it is unknown", async () => {
    const machine = machineOf(team, "cline", /./);
    const empty = await startJaeger(jaeger ?? "");
    try {
      const result = await reconcile(machine, env, ["--jaeger", empty.url]);
      expect(result.code).toBe(1);
      expect(result.first_difference).toMatchObject({ what: "was delivered but is missing; spans", right: 0 });
      const sampled = await reconcile(machine, env, ["--jaeger", empty.url, "--sampled"]);
      expect(sampled).toMatchObject({ code: 0, differences: [] });
      expect(sampled.unknown.join("\n")).toContain("not kept by the sampler, or lost");
    } finally {
      await empty.remove();
    }
  });

  // Records the responses that `npm test` reads: OPENHOOK_STACK_RECORD=1 npm run test:stack -- reconcile
  const record = (): void =>
    test("records the backends' responses", async () => {
      const [machine] = (await Team.at([{ source: "claude-code", name: "subagent" }])).machines;
      if (machine === undefined) throw new Error("no such recording");
      const drained = spawnSync(process.execPath, [PROGRAM, "drain", "--end-idle"], {
        env: { PATH: process.env["PATH"], HOME: machine.home, ...env, OPENHOOK_OTEL_SELF_TELEMETRY: "false" },
        encoding: "utf8",
      });
      expect(drained.status).toBe(0);
      const db = openDatabase(machine.places.storePath);
      const traceId = String(db.prepare("SELECT json_extract(record, '$.traceId') AS id FROM spans").get()?.["id"]);
      const instance = String(db.prepare("SELECT value FROM meta WHERE key = 'instance.id'").get()?.["value"]);
      db.close();
      const folder = join(ROOT, "test", "commands", "reconcile");
      mkdirSync(folder, { recursive: true });
      const keep = async (name: string, url: string): Promise<void> => {
        const answer = await fetch(url);
        writeFileSync(join(folder, name), `${JSON.stringify(await answer.json(), null, 1)}\n`);
      };
      await keep("jaeger-v3.json", `${traces.url}/api/v3/traces/${traceId}`);
      await keep("jaeger-ui.json", `${traces.url}/api/traces/${traceId}`);
      const query = `last_over_time({__name__=~"gen_ai.*|openhook.*",__name__!~".*_bucket",instance="${instance}"}[1h])`;
      await keep("prometheus.json", `${metrics.url}/api/v1/query?query=${encodeURIComponent(query)}`);
      machine.remove();
    });
  if (process.env["OPENHOOK_STACK_RECORD"] === "1") record();
});

describe.skipIf(collector === undefined || jaeger === undefined || prometheus === undefined)(
  "reconcile, behind the team's gateway: TLS, a token, redaction",
  () => {
    const certificates = useCertificates();
    let gateway: Gateway;
    let traces: Jaeger;
    let metrics: Prometheus;
    let team: Team;
    afterAll(async () => {
      team?.remove();
      await Promise.all([gateway?.remove(), traces?.remove(), metrics?.remove()]);
    });

    test("one session of each agent agrees, to the token and the span: redaction removes nothing that is counted", async () => {
      traces = await startJaeger(jaeger ?? "");
      const storage = { tsdb: { out_of_order_time_window: "7d" } };
      metrics = await startPrometheus(prometheus ?? "", { otlp: true, config: { storage } });
      gateway = await startGateway(
        collector ?? "",
        certificates,
        ["outputs/jaeger.yaml", "outputs/prometheus-otlp.yaml"],
        { OPENHOOK_JAEGER: traces.otlpGrpc, OPENHOOK_PROMETHEUS: metrics.url },
      );
      team = await Team.at(await onePerAgent());
      const env = {
        OPENHOOK_OTEL_OTLP_ENDPOINT: gateway.url,
        OPENHOOK_OTEL_OTLP_HEADERS: `authorization=Bearer%20${TOKEN}`,
        OPENHOOK_OTEL_OTLP_CERTIFICATE: certificates.ca.certPath,
      };
      for (const { waiting, problems } of await team.drain(env)) {
        expect({ waiting, problems }).toEqual({ waiting: 0, problems: [] });
      }
      const args = ["--jaeger", traces.url, "--prometheus", metrics.url];
      // Accepted data passes the gateway's queue first
      const untilMs = Date.now() + PATIENCE_MS;
      for (const machine of team.machines) {
        let result = await reconcile(machine, env, args);
        while (result.code !== 0 && Date.now() < untilMs) result = await reconcile(machine, env, args);
        expect([machine.source, result.differences]).toEqual([machine.source, []]);
        expect([machine.source, result.code]).toEqual([machine.source, 0]);
      }
      expect(team.machines.length).toBeGreaterThan(5);
    });
  },
);

describe.skipIf(collector === undefined || oldPrometheus === undefined)(
  "reconcile, with a Collector that Prometheus 2 scrapes",
  () => {
    let gateway: Collector;
    let metrics: Prometheus;
    let team: Team;
    let env: Record<string, string>;
    afterAll(async () => {
      team?.remove();
      await Promise.all([gateway?.remove(), metrics?.remove()]);
    });

    beforeAll(async () => {
      const port = await freePorts("otlp", "scrape", "health");
      const at = (name: keyof typeof port): string => `127.0.0.1:${port[name]}`;
      gateway = await startCollector(collector ?? "", {
        readyUrl: `http://${at("health")}/`,
        configs: [
          {
            extensions: { health_check: { endpoint: at("health") } },
            receivers: { otlp: { protocols: { http: { endpoint: at("otlp") } } } },
            exporters: { prometheus: { endpoint: at("scrape"), metric_expiration: "720h" } },
            service: {
              extensions: ["health_check"],
              pipelines: { metrics: { receivers: ["otlp"], exporters: ["prometheus"] } },
              telemetry: { metrics: { level: "none" } },
            },
          },
        ],
      });
      // Without honor_labels, as in most scrape configurations, our labels are named `exported_…`
      metrics = await startPrometheus(oldPrometheus ?? "", {
        // A scrape ends after the interval, and this one has the series of all machines
        everySeconds: 10,
        config: { scrape_configs: [{ job_name: "collector", static_configs: [{ targets: [at("scrape")] }] }] },
      });
      // The first test of this file compares every recording; here it is about names, which an agent's recordings share
      team = await Team.at(await onePerAgent(), { runsHooks: false });
      env = { OPENHOOK_OTEL_OTLP_METRICS_ENDPOINT: `http://${at("otlp")}/v1/metrics` };
      await team.drain(env);
      const drainedMs = Date.now();
      await until("everything is scraped", async () => (await lastScrapeMs(metrics.url)) > drainedMs);
    });

    test("the sums of a session of each agent agree, although their names are translated", async () => {
      const all = await reconcileAll(team, env, ["--prometheus", metrics.url]);
      expect(all.length).toBeGreaterThan(15);
      for (const { machine, result } of all) {
        const where = `${machine.source} ${machine.calls[0]?.received_at}`;
        expect([where, result.code, result.differences]).toEqual([where, 0, []]);
        for (const [kind, { store, prometheus: found }] of Object.entries(result.counters.tokens)) {
          expect([where, kind, found]).toEqual([where, kind, store]);
        }
      }
    });
  },
);

/** When the last scrape that succeeded began, in milliseconds since the epoch; 0 before the first one. */
async function lastScrapeMs(url: string): Promise<number> {
  const response = await fetch(`${url}/api/v1/targets`);
  const { data } = (await response.json()) as {
    readonly data: { readonly activeTargets: readonly { readonly health: string; readonly lastScrape: string }[] };
  };
  return Math.max(0, ...data.activeTargets.map((one) => (one.health === "up" ? Date.parse(one.lastScrape) : 0)));
}

const onePerAgent = async (): Promise<readonly Recording[]> => [
  ...new Map((await recordings()).map((one) => [one.source, one])).values(),
];
