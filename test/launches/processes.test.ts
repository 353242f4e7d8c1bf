// Agents whose processes are below those of other agents. A made-up system with few pids, which are used again, shows that a link is never
// wrong, and is there whenever the processes show it.
import { beforeEach, describe, expect, test } from "vitest";
import { formatProcesses, parseProcesses } from "#collect/intake/hook-process-file.ts";
import type { LaunchingAgent } from "#core/model/launch.ts";
import type { ToolCall } from "#core/model/session.ts";
import { launchingCall } from "#core/rules/launch.ts";
import { noteAncestors, noteBeginning } from "#store/ancestors.ts";
import type { Database } from "#store/database.ts";
import { launchedBy, launcherOf, noteLaunch } from "#store/launches.ts";
import { pruneSession } from "#store/prune.ts";
import { launchesFrom, launchOf, relativesOf } from "#store/sessions/launch.ts";
import { ensureSession, type StoredSession, sessionById } from "#store/sessions.ts";
import { temporaryStores } from "../store/temporary.ts";
import { ACME } from "../support/inbox-fixture.ts";
import fc from "../support/properties.ts";
import { runs } from "../support/whole.ts";

const store = temporaryStores();
let db: Database;
beforeEach(() => {
  db = store.open();
});

const BOOT_MS = Date.UTC(2026, 10, 30);
const HOSTS = ["1.00000000-0000-4000-8000-000000000001", "2.00000000-0000-4000-8000-000000000001"] as const;

// --- a made-up system ---

/** What happens next. Numbers choose among what there is. */
interface Step {
  readonly what: "user starts" | "command starts" | "begins" | "ends" | "exits" | "orphans";
  /** Whether a new agent begins a session at once. */
  readonly begins: boolean;
  readonly agent: number;
  readonly session: number;
  readonly ticks: number;
  /** Of a new agent: whether it has our hooks, and how many processes are between it and its starter. */
  readonly hasHooks: boolean;
  readonly between: number;
  readonly host: number;
}

interface Proc {
  readonly pid: number;
  readonly start: number;
  readonly host: string;
  /** `undefined`: the first process of the system. */
  parent: Proc | undefined;
  isRunning: boolean;
}

interface MadeSession {
  readonly id: string;
  readonly agent: MadeAgent;
  readonly beganMs: number;
  endedMs?: number;
  /** What its first hook wrote. */
  readonly file: string;
}

interface MadeAgent {
  readonly own: Proc;
  readonly hasHooks: boolean;
  /** The command's process, directly below the agent that ran it, and the session that did. */
  readonly command?: Proc;
  readonly by?: MadeSession;
  readonly sessions: MadeSession[];
}

const MAX_PIDS = 9;

function played(steps: readonly Step[]): readonly MadeSession[] {
  let now = 1_000;
  const processes: Proc[] = [];
  const agents: MadeAgent[] = [];
  const sessions: MadeSession[] = [];
  const next = new Map<string, number>();
  const spawn = (host: string, parent: Proc | undefined): Proc | undefined => {
    const taken = new Set(processes.filter((one) => one.isRunning && one.host === host).map(({ pid }) => pid));
    if (taken.size >= MAX_PIDS - 1) return undefined;
    let pid = next.get(host) ?? 2;
    while (taken.has(pid)) pid = (pid % MAX_PIDS) + 2;
    next.set(host, (pid % MAX_PIDS) + 2);
    const made = { pid, start: now, host, parent, isRunning: true };
    processes.push(made);
    return made;
  };
  const exit = (one: Proc): void => {
    one.isRunning = false;
    for (const child of processes) if (child.parent === one) child.parent = undefined;
  };
  const pick = <T>(list: readonly T[], number: number): T | undefined => list[number % Math.max(1, list.length)];
  const begin = (agent: MadeAgent): void => {
    const chain: Proc[] = [];
    for (let at: Proc | undefined = agent.own; at !== undefined; at = at.parent) chain.push(at);
    const names = chain.map((one) => ({ pid: one.pid, start: String(one.start) }));
    const uptime = (now / 100).toFixed(2);
    const file = formatProcesses({ host: agent.own.host, uptime, processes: names });
    const begun = { id: `s${sessions.length}`, agent, beganMs: BOOT_MS + now * 10, file };
    agent.sessions.push(begun);
    sessions.push(begun);
  };
  const add = (agent: Omit<MadeAgent, "sessions">, begins: boolean): void => {
    const made = { ...agent, sessions: [] };
    agents.push(made);
    if (begins) begin(made);
  };
  for (const { what, agent, session, ticks, hasHooks, between, host, begins } of steps) {
    now += ticks;
    const running = agents.filter(({ own }) => own.isRunning);
    const some = pick(running, agent);
    const open = some?.sessions.filter(({ endedMs }) => endedMs === undefined) ?? [];
    switch (what) {
      case "user starts": {
        const own = spawn(HOSTS[host % HOSTS.length] ?? "", undefined);
        if (own !== undefined) add({ own, hasHooks }, begins);
        break;
      }
      case "command starts": {
        const by = pick(open, session);
        if (by === undefined) break;
        const command = spawn(by.agent.own.host, by.agent.own);
        let last = command;
        for (let i = 0; i < between && last !== undefined; i++) {
          now += ticks % 7;
          last = spawn(last.host, last);
        }
        if (command !== undefined && last !== undefined) add({ own: last, hasHooks, command, by }, begins);
        break;
      }
      case "begins":
        if (some !== undefined) begin(some);
        break;
      case "ends": {
        const ended = pick(open, session);
        if (ended !== undefined) ended.endedMs = BOOT_MS + now * 10;
        break;
      }
      case "exits":
        if (some !== undefined) exit(some.own);
        break;
      case "orphans":
        if (some?.command !== undefined && some.command !== some.own) exit(some.command);
    }
  }
  return sessions;
}

/** Stores what hooks saw. @returns the sessions' numbers, by their ids */
function stored(sessions: readonly MadeSession[]): ReadonlyMap<string, number> {
  const ids = new Map<string, number>();
  for (const { id, agent, beganMs, endedMs, file } of sessions) {
    if (!agent.hasHooks) continue;
    const session = ensureSession(db, "acme", id, beganMs);
    ids.set(id, session.id);
    const known = parseProcesses(file, beganMs);
    if (known === undefined) throw new Error(`cannot parse ${JSON.stringify(file)}`);
    noteBeginning(db, session.id, known, beganMs);
    noteAncestors(db, known, known.ancestors);
    noteLaunch(db, session, beganMs, () => []);
    if (endedMs !== undefined) addEnd(session, endedMs);
  }
  return ids;
}

function addEnd({ id }: Pick<StoredSession, "id">, timeMs: number): void {
  db.prepare("INSERT INTO events (id, session, type, time_ms, body) VALUES (?, ?, 'session.end', ?, '{}')").run(
    `end of ${id} at ${timeMs}`,
    id,
    timeMs,
  );
}

function empty(): void {
  for (const table of ["launches", "agent_processes", "process_ancestors", "events", "sessions"])
    db.prepare(`DELETE FROM ${table}`).run();
}

/** The nearest session above with hooks, by what really happened. */
function reallyAbove(session: MadeSession): MadeSession | undefined {
  let by = session.agent.by;
  while (by !== undefined && !by.agent.hasHooks) by = by.agent.by;
  return by;
}

/** Whether the processes show it: the agent's first session saw the process above, and one session there was open since the command. */
function isShown(session: MadeSession, above: MadeSession): boolean {
  let { agent } = session;
  // The command of the agent above, perhaps with agents without hooks between
  while (agent.by !== undefined && agent.by !== above) agent = agent.by.agent;
  const { own } = above.agent;
  // The first file of an agent is the one that counts
  const seen =
    session.agent.sessions[0]?.file
      .split(" ")
      .slice(3)
      .map((name) => name.trim()) ?? [];
  if (!seen.includes(`${own.pid}.${own.start}`)) return false;
  const sinceMs = BOOT_MS + (agent.command?.start ?? 0) * 10 - 1_000;
  const open = above.agent.sessions.filter(
    ({ beganMs, endedMs }) => beganMs <= session.beganMs && (endedMs === undefined || endedMs >= sinceMs),
  );
  return open.length === 1;
}

const step = fc.record({
  what: fc.constantFrom(
    ...(["user starts", "command starts", "command starts", "begins", "begins", "begins"] as const),
    ...(["ends", "exits", "orphans"] as const),
  ),
  agent: fc.nat(20),
  session: fc.nat(5),
  ticks: fc.oneof(fc.nat(3), fc.nat(400)),
  begins: fc.nat(3).map((n) => n > 0),
  hasHooks: fc.integer({ min: 0, max: 4 }).map((n) => n > 0),
  between: fc.nat(2),
  host: fc.nat(1),
});
const steps = fc
  .array(step, { minLength: 15, maxLength: 60 })
  .map((list) => [{ ...(list[0] as Step), what: "user starts" as const, hasHooks: true, begins: true }, ...list]);

test("whatever processes start, end and get pids that were used: no link is wrong, and none is missing that they show", () => {
  let links = 0;
  fc.assert(
    fc.property(steps, fc.boolean(), (list, isReversed) => {
      const sessions = played(list);
      const ids = db.transaction(() => {
        empty();
        return stored(isReversed ? sessions.toReversed() : sessions);
      });
      for (const session of sessions.filter(({ agent }) => agent.hasHooks)) {
        const found = launcherOf(db, sessionById(db, ids.get(session.id) ?? 0));
        const above = reallyAbove(session);
        const name = `${session.id} below ${above?.id}`;
        if (found !== undefined) {
          links++;
          expect(found.knownBy).toBe("processes");
          expect(found.session.sessionId, name).toBe(above?.id);
          expect(launchedBy(db, found.session).map(({ sessionId }) => sessionId)).toContain(session.id);
        } else if (above !== undefined) expect(isShown(session, above), name).toBe(false);
      }
    }),
    { numRuns: runs(600) },
  );
  // Otherwise it would show nothing
  expect(links).toBeGreaterThan(30);
});

// --- one by one ---

const HOST = HOSTS[0];
const START_MS = BOOT_MS + 3_600_000;

interface Known {
  /** `pid:start` of the agent, and of those above it. */
  readonly process?: string;
  readonly above?: readonly string[];
  readonly found?: readonly LaunchingAgent[];
  readonly source?: string;
  readonly host?: string;
  readonly timeMs?: number;
  readonly sinceMs?: number;
}

/** A session of which a hook saw this. */
function seen(sessionId: string, known: Known): StoredSession {
  const { process, above = [], found = [], source = "acme", host = HOST, timeMs = START_MS, sinceMs = timeMs } = known;
  const { id } = ensureSession(db, source, sessionId, timeMs);
  noteLaunch(db, sessionById(db, id), timeMs, () => found);
  if (process !== undefined) {
    noteBeginning(db, id, { process, host }, timeMs);
    const ancestors = above.map((one) => ({ process: one, sinceMs }));
    noteAncestors(db, { process, host }, ancestors);
  }
  return sessionById(db, id);
}

const parentOf = (session: StoredSession): string | undefined => {
  const found = launcherOf(db, sessionById(db, session.id));
  return found && `${found.session.sessionId} by ${found.knownBy}`;
};

describe("the processes above", () => {
  test("name the nearest agent, also if one without hooks is between", () => {
    seen("outer", { process: "10:1" });
    seen("middle", { process: "20:2", above: ["15:2", "10:1"] });
    expect(parentOf(seen("inner", { process: "30:3", above: ["25:3", "20:2", "15:2", "10:1"] }))).toBe(
      "middle by processes",
    );
  });

  test.each([
    ["another start time", { above: ["10:2"] }],
    ["another system or container", { above: ["10:1"], host: HOSTS[1] }],
  ])("do not name a process with %s", (_, known) => {
    seen("outer", { process: "10:1" });
    expect(parentOf(seen("inner", { process: "30:3", ...known }))).toBeUndefined();
  });

  test("name no session if two were open in the process, and one as soon as the other had ended before the command", () => {
    const first = seen("first", { process: "10:1", timeMs: START_MS - 60_000 });
    seen("second", { process: "10:1", timeMs: START_MS - 30_000 });
    const inner = seen("inner", { process: "30:3", above: ["10:1"], sinceMs: START_MS - 10_000 });
    expect(parentOf(inner)).toBeUndefined();
    // The command may have begun in the first one
    addEnd(first, START_MS - 9_000);
    expect(parentOf(inner)).toBeUndefined();
    addEnd(first, START_MS - 29_000);
    db.prepare("DELETE FROM events WHERE time_ms = ?").run(START_MS - 9_000);
    expect(parentOf(inner)).toBe("second by processes");
  });

  test("count for the one who started a session, not for the one who resumed it", () => {
    seen("outer", { process: "10:1" });
    seen("inner", { process: "30:3", timeMs: START_MS });
    const resumed = seen("inner", { process: "40:4", above: ["10:1"], timeMs: START_MS + 60_000 });
    expect(parentOf(resumed)).toBeUndefined();
  });

  test("count for every session of a process that a command started", () => {
    seen("outer", { process: "10:1" });
    for (const [i, id] of ["a", "b"].entries())
      expect(parentOf(seen(id, { process: "30:3", above: ["10:1"], timeMs: START_MS + i * 1_000 }))).toBe(
        "outer by processes",
      );
  });

  test("are forgotten with the session", () => {
    const outer = seen("outer", { process: "10:1" });
    const inner = seen("inner", { process: "30:3", above: ["10:1"] });
    for (const one of [inner, outer]) pruneSession(db, one, START_MS);
    for (const table of ["agent_processes", "process_ancestors"])
      expect(db.prepare(`SELECT * FROM ${table}`).all(), table).toEqual([]);
  });
});

test("below an agent with terminals, in which users type too, only what begins in a tool call is its child", () => {
  const outer = seen("outer", { process: "10:1", timeMs: START_MS - 60_000 });
  const inner = seen("inner", { process: "30:3", above: ["10:1"], sinceMs: START_MS - 1_000 });
  const linked = (hasTerminals: boolean) => {
    const source = { db, agents: [hasTerminals ? { ...ACME, hasTerminals } : ACME] };
    const links = {
      above: launchOf(source, inner)?.launcher.id,
      below: launchesFrom(source, outer).map(({ launched }) => launched.id),
    };
    const { parent, children } = relativesOf(source, inner);
    expect([parent?.id, children]).toEqual([links.above, []]);
    expect(relativesOf(source, outer).children.map(({ id }) => id)).toEqual(links.below);
    return links;
  };
  const both = { above: outer.id, below: [inner.id] };
  expect(linked(false)).toEqual(both);
  expect(linked(true)).toEqual({ above: undefined, below: [] });
  const times = { startMs: START_MS - 1_500, endMs: START_MS + 1_000 };
  const call: ToolCall = { callId: "call", name: "shell", status: "success", ...times };
  db.prepare(
    `INSERT INTO tool_calls (session, call_id, segment, name, status, subagent, start_ms, end_ms, body)
     VALUES (?, 'call', 0, 'shell', 'success', 0, ?, ?, ?)`,
  ).run(outer.id, times.startMs, times.endMs, JSON.stringify(call));
  expect(linked(true)).toEqual(both);
});

describe("the call", () => {
  const call = (callId: string, startMs: number, endMs: number): ToolCall => ({
    callId,
    name: "shell",
    status: "success",
    startMs,
    endMs,
  });
  const found = (...calls: readonly ToolCall[]) =>
    launchingCall({ calls, turnStarts: [], shells: undefined }, 100_000, undefined, 90_000)?.callId;

  test.each([
    ["the only one from the command's start to the agent's", [call("a", 89_990, 120_000)], "a"],
    [
      "none of two that ran then, even if one of them had ended",
      [call("a", 89_990, 120_000), call("b", 89_000, 95_000)],
      undefined,
    ],
    ["none if the only one began after the command", [call("a", 95_000, 120_000)], undefined],
    ["none if the only one ended before the agent began", [call("a", 89_000, 95_000)], undefined],
    [
      "not affected by calls before and after",
      [call("b", 1, 80_000), call("a", 89_990, 120_000), call("c", 110_000, 120_000)],
      "a",
    ],
  ])("is %s", (_, calls, expected) => {
    expect(found(...calls)).toBe(expected);
  });
});

describe("environment and processes", () => {
  const acme = (sessionId: string): LaunchingAgent => ({ source: "acme", sessionId });

  test("that agree are one link, with the call that the environment names", () => {
    seen("outer", { process: "10:1" });
    const inner = seen("inner", { process: "30:3", above: ["10:1"], found: [{ ...acme("outer"), callId: "call" }] });
    expect(launcherOf(db, inner)).toMatchObject({ knownBy: "environment", named: "call" });
    expect(launchedBy(db, sessionById(db, 1)).map(({ sessionId }) => sessionId)).toEqual(["inner"]);
  });

  test("that disagree: the environment counts", () => {
    seen("named", { process: "10:1" });
    seen("other", { process: "20:2" });
    const inner = seen("inner", { process: "30:3", above: ["20:2"], found: [acme("named")] });
    expect(parentOf(inner)).toBe("named by environment");
  });

  test("an agent that passes nothing on is between the one in the environment and its child", () => {
    seen("outer", { process: "10:1" });
    seen("hidden", { process: "20:2", above: ["10:1"], found: [acme("outer")] });
    const inner = seen("inner", { process: "30:3", above: ["20:2", "10:1"], found: [acme("outer")] });
    expect(parentOf(inner)).toBe("hidden by processes");
  });

  test.each([
    ["of the agent itself", { source: "acme", sessionId: "" }, "outer by processes"],
    ["of an agent that is not above it", { source: "gemini-cli", sessionId: "" }, undefined],
  ])("a mark %s", (_, mark, expected) => {
    seen("outer", { process: "10:1" });
    expect(parentOf(seen("inner", { process: "30:3", above: ["10:1"], found: [mark] }))).toBe(expected);
  });
});
