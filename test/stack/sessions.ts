import { spawn } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import PQueue from "p-queue";
import { allAgents } from "#agents/registry.ts";
import type { Attributes, SpanRecord } from "#core/model/telemetry.ts";
import { METRIC_SHAPES } from "#core/telemetry/shapes.ts";
import { counterValues } from "#store/counters.ts";
import { type Database, openDatabase } from "#store/database.ts";
import { recentSessions } from "#store/queries.ts";
import { settledSpans } from "#store/spans.ts";
import { ensureBuilt, PROGRAM } from "../support/program.ts";
import { CASES, hasPlugin, Replay } from "../support/replay.ts";

/** A recorded run of an agent. */
export interface Recording {
  readonly source: string;
  readonly name: string;
}

/** Every recorded run of every agent that has an `expected.json`: the totals that `npm test` compares the store with. */
export async function recordings(): Promise<readonly Recording[]> {
  const sources = (await allAgents()).map(({ source }) => source).filter((source) => existsSync(join(CASES, source)));
  return sources.flatMap((source) =>
    readdirSync(join(CASES, source))
      .filter((name) => existsSync(join(CASES, source, name, "expected.json")))
      .map((name) => ({ source, name })),
  );
}

/** One stream in a store: of a counter, or of a histogram with its count. */
export interface Stream {
  readonly metric: string;
  readonly attributes: Attributes;
  /** Without the machine's `service.instance.id`, which is added when the metric is sent. */
  readonly resource: Attributes;
  readonly value: number;
}

/** What all stores of a team contain, and the backends must return. */
export interface Truth {
  /** As they were or will be sent; one per span id. */
  readonly spans: readonly SpanRecord[];
  readonly streams: readonly Stream[];
  readonly sessions: number;
}

/** One machine per recording, each with its own home and the recorded events in its inbox. */
export class Team {
  readonly machines: readonly Replay[];

  private constructor(machines: readonly Replay[]) {
    this.machines = machines;
  }

  /**
   * Calls the agents' hooks as recorded, with the transcripts in place.
   *
   * @param which @default all recordings
   * @param options.runsHooks false: the inboxes are filled without the hook program, which is a process for each of
   * 1,900 calls
   */
  static async at(which?: readonly Recording[], { runsHooks = true } = {}): Promise<Team> {
    await ensureBuilt();
    const machines = (which ?? (await recordings())).map(({ source, name }) => {
      const machine = new Replay(source, name);
      const isByProgram = runsHooks && !hasPlugin(source);
      for (const call of machine.calls) isByProgram ? machine.hook(call) : machine.put(call);
      return machine;
    });
    return new Team(machines);
  }

  /**
   * `openhook-otel drain --end-idle` by the built program.
   *
   * @param env with the endpoint, e.g. `OPENHOOK_OTEL_OTLP_ENDPOINT`
   * @param machines @default all
   * @returns each machine's report @throws if a drain did not exit with 0
   */
  async drain(env: Readonly<Record<string, string>>, machines = this.machines): Promise<readonly DrainReport[]> {
    const queue = new PQueue({ concurrency: AT_ONCE });
    return queue.addAll(
      machines.map((machine) => async () => {
        const { code, stdout, stderr } = await runProgram(machine.home, ["drain", "--end-idle", "--json"], env);
        if (code !== 0)
          throw new Error(`openhook-otel drain in ${machine.home} exited with ${code}: ${stdout}${stderr}`);
        return JSON.parse(stdout);
      }),
    );
  }

  /** @throws if two stores have different spans with one id */
  truth(): Truth {
    const spans = new Map<string, SpanRecord>();
    const streams: Stream[] = [];
    let sessions = 0;
    for (const { places } of this.machines) {
      const db = openDatabase(places.storePath);
      try {
        for (const span of spansIn(db)) spans.set(`${span.traceId}/${span.spanId}`, span);
        streams.push(...counterValues(db));
        sessions += recentSessions(db, 1_000).length;
      } finally {
        db.close();
      }
    }
    return { spans: [...spans.values()], streams, sessions };
  }

  remove(): void {
    for (const machine of this.machines) machine.remove();
  }
}

/** The sum of a metric over the streams that have all of these attributes. */
export const totalOf = ({ streams }: Truth, metric: string, having: Attributes = {}): number =>
  streams
    .filter((stream) => stream.metric === metric)
    .filter(({ attributes }) => Object.entries(having).every(([key, value]) => attributes[key] === value))
    .reduce((total, { value }) => total + inUnits(metric, value), 0);

/** Machines that work in parallel: each is a process of 100 MB. */
export const AT_ONCE = 3;

/** The members of a drain's report that tests use. */
export interface DrainReport {
  readonly spans: number;
  readonly sent: number;
  readonly waiting: number;
  readonly rejected: number;
  readonly problems: readonly string[];
}

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The built program on one machine, with its output. */
export function runProgram(
  home: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Finished> {
  return new Promise((done, failed) => {
    const child = spawn(process.execPath, [PROGRAM, ...args], {
      cwd: home,
      env: { PATH: process.env["PATH"], HOME: home, ...KEEP_ALL, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const output = { stdout: "", stderr: "" };
    child.stdout.on("data", (data: Buffer) => {
      output.stdout += data.toString("utf8");
    });
    child.stderr.on("data", (data: Buffer) => {
      output.stderr += data.toString("utf8");
    });
    child.on("error", failed);
    child.on("close", (code) => done({ code, ...output }));
  });
}

// --- internal ---

function* spansIn(db: Database): Generator<SpanRecord> {
  const rows = db.prepare("SELECT session, ordinal FROM segments").all();
  for (const row of rows) yield* settledSpans(db, Number(row["session"]), Number(row["ordinal"]));
}

/** The store has costs in billionths of a dollar. */
const inUnits = (metric: string, value: number): number =>
  METRIC_SHAPES.get(metric)?.value === "nano" ? value / 1e9 : value;

/** Recordings can be older than the default retention. */
export const KEEP_ALL = { OPENHOOK_OTEL_STORE_RETENTION_DAYS: "36500" };
