// Many agents at the same time: recorded hook calls, moved to separate sessions, through the real hook from parallel processes
// while real drains run.

import { type ChildProcess, spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { cpus, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { allAgents } from "#agents/registry.ts";
import { counts } from "#collect/intake/inbox-dirs.ts";
import { formatEnd, formatHead } from "#collect/intake/inbox-file.ts";
import type { Agent } from "#core/model/agent.ts";
import { readStore } from "#store/read-only.ts";
import { type Machine, PROGRAM, ROOT, sleep } from "../support/program.ts";
import { recordedEnv } from "../support/recorded-env.ts";
import { CASES, hasPlugin, type RecordedCall } from "../support/replay.ts";
import { summaryOf } from "../support/summary.ts";

/** One hook call, as an agent makes it. */
export interface LoadCall {
  readonly source: string;
  readonly event: string;
  readonly payload: string;
  readonly env: Readonly<Record<string, string>>;
  /** `-d` if `enable` registers it. */
  readonly drains: boolean;
}

/** One agent: its calls come one after the other. */
export type Lane = readonly LoadCall[];

/**
 * The recorded sessions of every agent, repeated under new session ids, distributed over lanes.
 *
 * @param calls exact number of calls
 */
export async function lanesOf(calls: number, laneCount: number): Promise<readonly Lane[]> {
  const sessions = await recordedSessions();
  const lanes: LoadCall[][] = Array.from({ length: laneCount }, () => []);
  const nowMs = Date.now();
  for (let given = 0, copy = 0; given < calls; copy++) {
    const session = sessions[copy % sessions.length];
    const lane = lanes.reduce((shortest, one) => (one.length < shortest.length ? one : shortest));
    const moved = session === undefined ? [] : movedTo(session, copy, nowMs).slice(0, calls - given);
    // Hooks start drains as registered in one of eight lanes, which is still far more often than at the real pace of turns
    lane.push(...moved.map((call) => ({ ...call, drains: call.drains && lanes.indexOf(lane) % 8 === 0 })));
    given += moved.length;
  }
  return lanes;
}

export interface LoadResult {
  readonly calls: number;
  readonly callsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** Everything that a hook wrote to stdout or stderr. */
  readonly printed: string;
}

/** Runs the calls as processes, all lanes in parallel. @param hook the command before the hook's own arguments */
export async function play(machine: Machine, lanes: readonly Lane[], hook: readonly string[]): Promise<LoadResult> {
  const folder = mkdtempSync(join(tmpdir(), "openhook-load-"));
  try {
    const drivers = await Promise.all(
      chunks(lanes, Math.max(2, Math.min(4, cpus().length))).map((part, i) => drive(machine, part, hook, folder, i)),
    );
    const tookMs = drivers.flatMap((driver) => driver.tookMs).sort((a, b) => a - b);
    const seconds = (Math.max(...drivers.map((d) => d.endMs)) - Math.min(...drivers.map((d) => d.startMs))) / 1000;
    return {
      calls: tookMs.length,
      callsPerSecond: Math.round(tookMs.length / seconds),
      p50Ms: share(tookMs, 0.5),
      p99Ms: share(tookMs, 0.99),
      maxMs: share(tookMs, 1),
      printed: drivers.map((driver) => driver.printed).join(""),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  }
}

/** The built hook, without an installation. */
export const HOOK = ["/bin/sh", join(ROOT, "dist", "hook.sh")];
/** The cheapest program that reads an event: the limit of the generator itself. */
export const CAT = ["/bin/sh", "-c", "cat >/dev/null"];

/** Drains without a pause, and the longest queueing time. */
export class Drains {
  readonly lagsMs: number[] = [];
  readonly depths: number[] = [];
  count = 0;
  readonly #machine: Machine;
  #isOver = false;
  readonly #done: Promise<unknown>;
  #child: ChildProcess | undefined;

  constructor(machine: Machine, env: Readonly<Record<string, string>> = {}) {
    this.#machine = machine;
    this.#done = Promise.all([this.#drain(env), this.#watch()]);
  }

  /** Waits for the running drain. */
  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#done;
  }

  async #drain(env: Readonly<Record<string, string>>): Promise<void> {
    while (!this.#isOver) {
      const child = this.#machine.start(["drain", "--quiet"], { env });
      this.#child = child;
      await new Promise((done) => child.on("exit", done));
      this.count++;
    }
  }

  async #watch(): Promise<void> {
    for (; !this.#isOver || this.#child?.exitCode === null; await sleep(200)) {
      const { inbox, claimed, oldestMs } = await counts(this.#machine.places);
      this.depths.push(inbox + claimed);
      this.lagsMs.push(oldestMs === undefined ? 0 : Math.max(0, Date.now() - oldestMs));
    }
  }
}

/** What a store contains of all sessions, without times: the same for every order and pace. */
export function contentsOf(storePath: string): ReadonlyMap<string, unknown> {
  const sessions =
    readStore(storePath, (db) =>
      db
        .prepare("SELECT source, session_id FROM sessions WHERE parent IS NULL ORDER BY source, session_id")
        .all()
        .map((row) => [String(row["source"]), String(row["session_id"])] as const),
    ) ?? [];
  return new Map(
    sessions.map(([source, sessionId]) => {
      const found = summaryOf(storePath, sessionId);
      const { segments, lastTurn: _, tools, modelCalls, ...rest } = found ?? NOTHING;
      // An assigned id depends on its event and on the time of it
      const named = tools
        .map((tool) => JSON.stringify({ ...tool, id: tool.id.replace(/^minted:.*/, "minted") }))
        .sort();
      return [
        `${source} ${sessionId}`,
        {
          ...rest,
          tools: named,
          calls: modelCalls.map((c) => JSON.stringify(c)).sort(),
          allEnded: segments.every(({ ended }) => ended),
        },
      ];
    }),
  );
}

const NOTHING = { segments: [], lastTurn: undefined, tools: [], modelCalls: [] };

/** Number of events per session and kind: event ids depend on arrival times if the agent has none. */
export const eventsIn = (storePath: string): readonly string[] =>
  readStore(storePath, (db) =>
    db
      .prepare(
        `SELECT s.source, s.session_id, e.type, count(*) AS n FROM events e JOIN sessions s ON s.id = e.session
         GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`,
      )
      .all()
      .map((row) => Object.values(row).join(" ")),
  ) ?? [];

/** The same calls as files, without processes: the input of an undisturbed drain. */
export function putAll(machine: Machine, lanes: readonly Lane[]): void {
  const { inboxDir } = machine.places;
  mkdirSync(inboxDir, { recursive: true, mode: 0o700 });
  let pid = 0;
  const all = lanes.flat();
  const startMs = Date.now() - all.length;
  for (const { source, event, payload, env } of all) {
    const head = formatHead({
      source,
      event,
      ppid: 1,
      pid: ++pid,
      cwd: machine.home,
      env: recordedEnv({ HOME: machine.home, ...env }),
    });
    const file = join(inboxDir, `1-${pid}-0.evt`);
    writeFileSync(file, `${head}${at(machine, payload)}${formatEnd("whole")}`);
    // Equal payloads of some agents differ only in their arrival, so files arrive one millisecond apart; in the middle of a
    // millisecond, because the file system stores seconds as a fraction
    const arrivedS = (startMs + pid + 0.5) / 1_000;
    utimesSync(file, arrivedS, arrivedS);
  }
}

// --- internal ---

const DRIVER = join(dirname(fileURLToPath(import.meta.url)), "load-driver.mjs");

interface Recorded {
  readonly agent: Agent;
  readonly calls: readonly RecordedCall[];
  readonly sessionIds: readonly string[];
  readonly startMs: number;
}

/** Cases with one session, without agents whose records come from a plugin. */
async function recordedSessions(): Promise<readonly Recorded[]> {
  const agents = (await allAgents()).filter(({ source }) => !hasPlugin(source));
  const found = agents.flatMap((agent) => {
    const below = join(CASES, agent.source);
    const cases = existsSync(below) ? readdirSync(below).filter((n) => existsSync(join(below, n, "hooks.jsonl"))) : [];
    return cases.map((name): Recorded => {
      const calls = readFileSync(join(below, name, "hooks.jsonl"), "utf8")
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line) as RecordedCall)
        .filter((call) => call.stdin !== undefined);
      const ids = calls.flatMap((call) => eventsOf(agent, call).map((event) => event.session_id));
      return {
        agent,
        calls,
        sessionIds: [...new Set(ids)],
        startMs: Math.min(...calls.map((call) => Date.parse(call.received_at))),
      };
    });
  });
  // Agents in turn, so that a few calls already contain all agents
  const turns = Math.max(...agents.map((agent) => found.filter((one) => one.agent === agent).length));
  return Array.from({ length: turns }, (_, turn) =>
    agents.flatMap((agent) => found.filter((one) => one.agent === agent)[turn] ?? []),
  ).flat();
}

const eventsOf = (agent: Agent, { stdin, event }: RecordedCall) =>
  agent.toEvents(stdin, {
    source: agent.source,
    event,
    timeMs: 0,
    env: { HOME: "/home/dev" },
    payloadBytes: 0,
    truncated: false,
  });

/** The same calls under other session ids, as if made now. */
function movedTo({ agent, calls, sessionIds, startMs }: Recorded, copy: number, nowMs: number): readonly LoadCall[] {
  const move = (text: string): string =>
    sessionIds
      .reduce((moved, id) => moved.replaceAll(id, numbered(id, copy)), text)
      .replaceAll(TIMES, (time) => (/^\d+$/.test(time) ? String(Number(time) - startMs + nowMs) : later(time)));
  const later = (time: string): string => new Date(Date.parse(time) - startMs + nowMs).toISOString();
  return calls.map((call) => ({
    source: agent.source,
    event: call.event,
    payload: move(JSON.stringify(call.stdin)),
    env: JSON.parse(move(JSON.stringify(call.env ?? {}))) as Record<string, string>,
    drains: /^(Stop|SessionEnd|agent_end|stop|sessionEnd|AfterAgent)$/.test(call.event),
  }));
}

const at = ({ home }: Machine, text: string): string => text.replaceAll(/\/home\/dev\d*\b/g, home);

const TIMES = /\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\+00:00)|\b1[78]\d{11}\b/g;

/** Another id of the same form. Goose numbers the sessions of a day at the end of their ids, which keeps a recording's sessions apart. */
const numbered = (id: string, copy: number): string =>
  copy === 0 ? id : id.replace(/.{5}(?=(?:_\d+)?$)/, copy.toString(16).padStart(5, "0"));

async function drive(
  machine: Machine,
  lanes: readonly Lane[],
  hook: readonly string[],
  folder: string,
  index: number,
): Promise<{ startMs: number; endMs: number; tookMs: number[]; printed: string }> {
  const output = join(folder, `output-${index}`);
  writeFileSync(output, "");
  let files = 0;
  const job = {
    cwd: machine.home,
    env: machine.env,
    output,
    lanes: lanes.map((lane) =>
      lane.map(({ source, event, payload, env, drains }) => {
        const input = join(folder, `${index}-${files++}.json`);
        writeFileSync(input, at(machine, payload));
        return { command: [...hook, ...(drains ? ["-d"] : []), source, event], input, env };
      }),
    ),
  };
  const path = join(folder, `job-${index}.json`);
  writeFileSync(path, JSON.stringify(job));
  const child = spawn(process.execPath, [DRIVER, path], { stdio: ["ignore", "pipe", "inherit"] });
  let result = "";
  child.stdout.on("data", (data) => {
    result += data;
  });
  const code = await new Promise((done) => child.on("close", done));
  if (code !== 0) throw new Error(`the load generator exited with ${code}`);
  return {
    ...(JSON.parse(result) as { startMs: number; endMs: number; tookMs: number[] }),
    printed: readFileSync(output, "utf8"),
  };
}

const chunks = <T>(list: readonly T[], count: number): readonly (readonly T[])[] =>
  Array.from({ length: count }, (_, i) => list.filter((__, at) => at % count === i)).filter((part) => part.length > 0);

/** The value at a share of a sorted list, with one decimal: 0.5 is the median. */
export const share = (sorted: readonly number[], part: number): number =>
  Math.round((sorted[Math.floor(part * (sorted.length - 1))] ?? 0) * 10) / 10;

/** Installs the hook as `enable` does, with the program that it starts as a drain. @returns its command */
export function installHook(machine: Machine): readonly string[] {
  const folder = join(machine.home, ".local", "share", "openhook-otel");
  mkdirSync(folder, { recursive: true });
  const hook = join(folder, "hook");
  writeFileSync(hook, readFileSync(join(ROOT, "dist", "hook.sh")), { mode: 0o755 });
  writeFileSync(join(folder, "hook.conf"), `node='${process.execPath}'\nprogram='${PROGRAM}'\n`);
  return [hook];
}
