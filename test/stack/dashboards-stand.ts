import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import type { NativeFacts, NativeIdKind, NativeRecord } from "#core/model/native.ts";
import { commitCounts, fateCounts, mergedChangeCounts } from "#core/telemetry/changes.ts";
import { METRIC_SHAPES } from "#core/telemetry/shapes.ts";
import { countFacts } from "#store/counters.ts";
import { openDatabase } from "#store/database.ts";
import { putNative } from "#store/native.ts";
import { ROOT } from "../support/program.ts";
import type { Replay } from "../support/replay.ts";
import type { Team } from "./sessions.ts";

// For the dashboards' stack test: data that no recording has, and the servers' settings

/** Adds failures of hooks to some machines, so that the panels about them have data. */
export function addTrouble({ machines }: Pick<Team, "machines">): void {
  for (const [index, machine] of machines.entries()) {
    const call = machine.calls.find(({ stdin }) => stdin !== undefined);
    if (call === undefined) continue;
    const torn = { received_at: call.received_at, event: call.event, stdin_raw: "{ torn" };
    if (index % 9 === 0) for (let copies = 0; copies < 8; copies++) machine.put(torn);
    addRateLimits(machine);
    addCacheMisses(machine);
    addSkill(machine);
    addNative(machine);
    if (index % 2 === 1) addVersion(machine);
    if (index % 11 === 0) machine.put({ ...call, stdin: { ...call.stdin, a_name_of_next_year: 1 } });
  }
}

/** Adds what an agent's own telemetry says of the calls in a transcript: recordings with telemetry are other ones. */
export function addNative(machine: Replay): void {
  const records: NativeRecord[] = [];
  editTranscripts(machine, (line) => {
    if (!line.includes('"type":"assistant"')) return line;
    const { requestId, sessionId, timestamp, message } = JSON.parse(line);
    const add = (kind: NativeIdKind, id: string, facts: NativeFacts): void => {
      records.push({ key: `of-${id}`, sessionId, ids: [{ kind, id }], timeMs: Date.parse(timestamp), facts });
    };
    const answer = { firstTokenMs: 400 + 100 * records.length, attempts: 2, costNanoUsd: 7_000_000 };
    if (requestId !== undefined) add("requestId", requestId, { ...answer, refusal: "refusal" });
    for (const { type, id } of message.content) {
      const isDenied = records.length % 5 === 4;
      const decided = isDenied
        ? ({ decision: "deny", decidedBy: "user_reject" } as const)
        : ({ decision: "allow", decidedBy: "user_temporary" } as const);
      if (type === "tool_use") add("callId", id, { ...decided, permissionMs: 3_000 * (1 + records.length) });
    }
    return line;
  });
  if (records.length === 0) return;
  const db = openDatabase(machine.places.storePath);
  try {
    db.transaction(() => putNative(db, machine.source, records, Date.now()));
  } finally {
    db.close();
  }
}

/** Adds the provider's reasons why its cache was not read, as Claude Code writes them: no recording has one. */
const addCacheMisses = (machine: Replay): void => editTranscripts(machine, withReason);

/** Most recordings are of one version: some machines have got another one since. */
export const [BEFORE, SINCE] = ["2.1.329", "2.1.330"] as const;
const addVersion = (machine: Replay): void =>
  editTranscripts(machine, (line) => line.replaceAll(`"version":"${BEFORE}"`, `"version":"${SINCE}"`));

function editTranscripts({ source, transcriptRoot }: Replay, edit: (line: string) => string): void {
  if (source !== "claude-code" || !existsSync(transcriptRoot)) return;
  for (const name of readdirSync(transcriptRoot, { recursive: true, encoding: "utf8" })) {
    if (!name.endsWith(".jsonl")) continue;
    const path = join(transcriptRoot, name);
    writeFileSync(path, readFileSync(path, "utf8").split("\n").map(edit).join("\n"));
  }
}

/** Adds a call that loads a skill, after another call: no recording has one. */
export function addSkill(machine: Replay): void {
  const call = machine.calls.find(({ event }) => event === "PostToolUse");
  if (machine.source !== "claude-code" || call?.stdin === undefined) return;
  const of = { tool_name: "Skill", tool_input: { skill: "release-notes" }, tool_use_id: "toolu_skill" };
  machine.put({ ...call, stdin: { ...call.stdin, ...of } });
}

function withReason(line: string): string {
  if (!line.includes('"type":"assistant"')) return line;
  const record = JSON.parse(line);
  const { usage } = record.message;
  const tokens = (usage?.input_tokens ?? 0) + (usage?.cache_creation_input_tokens ?? 0);
  record.message.diagnostics = { cache_miss_reason: { type: "tools_changed", cache_missed_input_tokens: tokens } };
  return JSON.stringify(record);
}

/** Adds limits, as a status line writes them. */
export function addRateLimits({ places }: Replay): void {
  const inAnHour = Math.floor(Date.now() / 1000) + 3_600;
  mkdirSync(places.stateDir, { recursive: true });
  const text = `five_hour 85.5 ${inAnHour}\nseven_day 0 ${inAnHour}\nend\n`;
  writeFileSync(join(places.stateDir, "rate-limits.claude-code"), text);
}

/**
 * Adds what git would report weeks later: commits of two agents that were merged, one of which was reverted.
 *
 * @param from of the first machine; every fourth number has a reverted commit
 * @returns the machines with new counts
 */
export function addOutcomes({ machines }: Pick<Team, "machines">, from = 0): readonly Replay[] {
  const changed = machines.filter(({ source }) => source === "claude-code" || source === "codex");
  for (const [i, { source, places }] of changed.entries()) {
    const index = from + i;
    const by = { source, sessionId: `outcome-${index}`, repository: index % 3 === 1 ? "lighthouse" : "harbour" };
    const commit = `${index}`.padStart(40, "0");
    const lines = { written: 40, after: { 1: 40, 7: 38, 30: 30 } };
    const fate = index % 4 === 0 ? "reverted" : "merged";
    const db = openDatabase(places.storePath);
    try {
      const counted = [
        commitCounts(by, commit, "observed"),
        mergedChangeCounts(by, "pull_request", `work-${index}`),
        ...fateCounts(by, "observed", { commit, fate, lines, attested: [] }),
      ];
      db.transaction(() => countFacts(db, counted, METRIC_SHAPES, Date.now()));
    } finally {
      db.close();
    }
  }
  return changed;
}

/** In the folder in which the recordings were made: a repository in the home folder itself is one of dotfiles. */
export function repositoryIn(home: string, name: string): void {
  const git = join(home, "acme-shop", ".git");
  mkdirSync(git, { recursive: true });
  writeFileSync(join(git, "HEAD"), "ref: refs/heads/main\n");
  writeFileSync(join(git, "config"), `[remote "origin"]\n\turl = https://git.example.org/coast/${name}.git\n`);
}

/** As in the shipped outputs: agent and environment are labels, and counters do not expire. */
export const configuration = (
  port: Readonly<Record<"otlp" | "scrape" | "health", number>>,
  otlp: string | undefined,
  jaegerOtlp: string | undefined,
): Readonly<Record<string, unknown>> => ({
  extensions: { health_check: { endpoint: `127.0.0.1:${port.health}` } },
  receivers: { otlp: { protocols: { http: { endpoint: `127.0.0.1:${port.otlp}` } } } },
  // As shipped: the labels by which dashboards filter
  processors: parse(readFileSync(join(ROOT, "collector-config/outputs/prometheus-scrape.yaml"), "utf8")).processors,
  exporters: {
    ...(jaegerOtlp === undefined ? { debug: {} } : { otlp_http: { endpoint: jaegerOtlp } }),
    prometheus: {
      endpoint: `127.0.0.1:${port.scrape}`,
      metric_expiration: "720h",
      translation_strategy: "UnderscoreEscapingWithSuffixes",
      without_scope_info: true,
    },
    ...(otlp !== undefined && {
      "otlp_http/prometheus": { metrics_endpoint: `${otlp}/v1/metrics`, sending_queue: { num_consumers: 1 } },
    }),
  },
  service: {
    extensions: ["health_check"],
    telemetry: { metrics: { level: "none" } },
    pipelines: {
      metrics: {
        receivers: ["otlp"],
        processors: ["transform/labels"],
        exporters: ["prometheus", ...(otlp === undefined ? [] : ["otlp_http/prometheus"])],
      },
      traces: { receivers: ["otlp"], exporters: [jaegerOtlp === undefined ? "debug" : "otlp_http"] },
    },
  },
});

/**
 * Between evaluations of the rules, which are shipped with five minutes, and between scrapes. With one second, the servers
 * would use as much processor time as the machines that send to them.
 */
export const EVERY_SECONDS = 5;

/** The shipped rules, evaluated every few seconds. */
export function quickened(rules: string): readonly string[] {
  return ["recording", "budgets", "alerts"].map((name) => {
    const path = join(rules, `${name}.yaml`);
    // Including the example budgets, which are comments in the file
    const text = readFileSync(join(ROOT, "dashboards", "rules", `${name}.yaml`), "utf8")
      .replace(/^groups: \[\]\n/m, "")
      .replaceAll(/^# (groups:| {2,}\S.*)$/gm, "$1");
    writeFileSync(
      path,
      text.replaceAll(/^( +interval:).+$/gm, `$1 ${EVERY_SECONDS}s`).replaceAll(/^( +for:).+$/gm, "$1 0s"),
    );
    return path;
  });
}
