// Agents that start agents, made up: what each finds in its environment decides which links there are.
import { beforeEach, expect, test } from "vitest";
import { allAgents } from "#agents/registry.ts";
import { addSums, sumOfCalls } from "#core/rules/call-sums.ts";
import { innermost, launchingAgents } from "#core/rules/launch.ts";
import { descendants, familyOf } from "#show/report/family.ts";
import { summarise } from "#show/report/session-summary.ts";
import { noteAncestors, noteBeginning } from "#store/ancestors.ts";
import type { Database } from "#store/database.ts";
import { launchedBy, launcherOf, noteLaunch } from "#store/launches.ts";
import { ensureSession, sessionById } from "#store/sessions.ts";
import { temporaryStores } from "../store/temporary.ts";
import fc from "../support/properties.ts";
import { runs } from "../support/whole.ts";

const agents = await allAgents();

/** Codex and Copilot pass their sessions on, Claude Code and Qwen Code also to their own hooks; Gemini CLI and OpenCode only a mark. */
const KINDS = ["codex", "copilot", "claude-code", "qwen-code", "gemini-cli", "opencode"] as const;

interface Started {
  readonly kind: (typeof KINDS)[number];
  /** Number of the session that started it, smaller than its own; none: the user. */
  readonly by: number | undefined;
}

interface Made extends Started {
  readonly sessionId: string;
  /** Of its hooks, and of the programs that its commands start. */
  readonly hookEnv: Readonly<Record<string, string>>;
  readonly commandEnv: Readonly<Record<string, string>>;
}

/** As the real programs do it: each gives its environment to what it starts, with its own variables. */
function launched(started: readonly Started[]): readonly Made[] {
  const made: Made[] = [];
  for (const [number, { kind, by }] of started.entries()) {
    const sessionId = `${kind}-${number}`;
    const inherited = by === undefined ? {} : (made[by]?.commandEnv ?? {});
    const { session, call, mark, inOwnHooks } = agents.find(({ source }) => source === kind)?.inCommands ?? {};
    const own = {
      ...Object.fromEntries((session ?? []).map((name) => [name, sessionId])),
      ...(call !== undefined && { [call]: `call-of-${number}` }),
      ...(mark !== undefined && { [mark]: "1" }),
    };
    const hookEnv = inOwnHooks === true ? { ...inherited, ...own } : inherited;
    made.push({ kind, by, sessionId, hookEnv, commandEnv: { ...inherited, ...own } });
  }
  return made;
}

const store = temporaryStores();
let db: Database;
beforeEach(() => {
  db = store.open();
});

const START_MS = Date.UTC(2026, 10, 30);

/** @param hasProcess whether the hooks of a session, by its number, saw processes */
function stored(made: readonly Made[], hasProcess: (number: number) => boolean = () => false): readonly number[] {
  return made.map(({ kind, sessionId, hookEnv, by }, number) => {
    const session = ensureSession(db, kind, sessionId, START_MS + number);
    if (hasProcess(number)) {
      const own = { process: `${number}:1`, host: "here" };
      const above: { readonly process: string }[] = [];
      for (let at = by; at !== undefined; at = made[at]?.by) above.push({ process: `${at}:1` });
      noteBeginning(db, session.id, own, START_MS + number);
      noteAncestors(db, own, above);
    }
    noteLaunch(db, session, START_MS + number, () =>
      launchingAgents(agents, hookEnv, { source: kind, sessionId: session.sessionId }),
    );
    return session.id;
  });
}

const started = fc
  .array(fc.record({ kind: fc.constantFrom(...KINDS), by: fc.option(fc.nat(), { nil: undefined }) }), { maxLength: 12 })
  .map((list) =>
    list.map(({ kind, by }, i): Started => ({ kind, by: by === undefined || i === 0 ? undefined : by % i })),
  );

test("a link leads to an agent that is really above, and to the next one if all of them can be seen", () => {
  fc.assert(
    fc.property(started, (list) => {
      db.prepare("DELETE FROM launches").run();
      db.prepare("DELETE FROM sessions").run();
      const made = launched(list);
      const ids = stored(made);
      for (const [number, { kind, by }] of made.entries()) {
        const launcher = launcherOf(db, sessionById(db, ids[number] ?? 0))?.session.id;
        const above: Made[] = [];
        for (let at = by; at !== undefined; at = made[at]?.by) {
          const one = made[at];
          if (one !== undefined) above.push(one);
        }
        if (launcher !== undefined) expect(above.map((one) => ids[made.indexOf(one)])).toContain(launcher);
        const [next] = above;
        const inCommands = (of: string) => agents.find(({ source }) => source === of)?.inCommands;
        // It passes no session on, or what it passed on was overwritten
        const isHidden =
          next !== undefined &&
          (inCommands(next.kind)?.session === undefined ||
            (next.kind === kind && inCommands(kind)?.inOwnHooks === true));
        if (!isHidden) expect(launcher, `${kind} below ${next?.kind}`).toBe(next && ids[made.indexOf(next)]);
      }
    }),
    { numRuns: runs(160) },
  );
});

test("with processes every link leads to the next agent; where only some are known, to one that is above", () => {
  fc.assert(
    fc.property(started, fc.infiniteStream(fc.boolean()), fc.boolean(), (list, known, isWhole) => {
      for (const table of ["launches", "agent_processes", "process_ancestors", "sessions"])
        db.prepare(`DELETE FROM ${table}`).run();
      const made = launched(list);
      const ids = stored(made, () => isWhole || known.next().value === true);
      for (const [number, { kind, by }] of made.entries()) {
        const launcher = launcherOf(db, sessionById(db, ids[number] ?? 0))?.session.id;
        const above: (number | undefined)[] = [];
        for (let at = by; at !== undefined; at = made[at]?.by) above.push(ids[at]);
        if (isWhole) expect(launcher, kind).toBe(above[0]);
        else if (launcher !== undefined) expect(above, kind).toContain(launcher);
      }
    }),
    { numRuns: runs(160) },
  );
});

const claims = fc.uniqueArray(fc.record({ session: fc.nat(9), of: fc.nat(9) }), {
  selector: ({ session, of }) => `${session} ${of}`,
  maxLength: 25,
});

test("whatever sessions claim: no session is in two trees, none is above itself, and the sums of the trees are those of the sessions", () => {
  fc.assert(
    fc.property(claims, fc.array(fc.nat(1_000_000), { minLength: 10, maxLength: 10 }), (list, costs) => {
      for (const table of ["launches", "model_calls", "sessions"]) db.prepare(`DELETE FROM ${table}`).run();
      const ids = costs.map((cost, i) => {
        const { id } = ensureSession(db, `agent-${i}`, `s${i}`, START_MS);
        db.prepare("UPDATE sessions SET launched_ms = ? WHERE id = ?").run(START_MS, id);
        db.prepare(
          `INSERT INTO model_calls (session, key, segment, subagent, end_ms, input, output, cost_nano_usd, complete, body)
           VALUES (?, 'k', 0, 0, 1, 1, 1, ?, 1, '{}')`,
        ).run(id, cost);
        return id;
      });
      for (const { session, of } of list)
        db.prepare("INSERT INTO launches (session, source, session_id) VALUES (?, ?, ?)").run(
          ids[session] ?? 0,
          `agent-${of}`,
          `s${of}`,
        );
      const source = { db, agents };
      const tops = ids.filter((id) => launcherOf(db, sessionById(db, id)) === undefined);
      const trees = tops.map((id) => {
        const own = summarise(db, sessionById(db, id), source);
        const { children, withChildren } = familyOf(source, own);
        const below = [...descendants(children)].map(({ child }) => child.summary);
        return { ids: [id, ...below.map(({ stored }) => stored.id)], sums: withChildren?.sums ?? own.sums };
      });
      expect(trees.flatMap((tree) => tree.ids).sort((a, b) => a - b)).toEqual(ids);
      const whole = trees.map(({ sums }) => sums).reduce(addSums, sumOfCalls([]));
      expect(whole.costNanoUsd).toBe(costs.reduce((sum, cost) => sum + cost, 0));
    }),
    { numRuns: runs(80) },
  );
});

test("two sessions that claim to have started each other are linked by neither", () => {
  const [a, b] = [ensureSession(db, "codex", "a", START_MS), ensureSession(db, "copilot", "b", START_MS)];
  noteLaunch(db, a, START_MS, () => [{ source: "copilot", sessionId: "b" }]);
  noteLaunch(db, b, START_MS, () => [{ source: "codex", sessionId: "a" }]);
  for (const { id } of [a, b]) {
    expect(launcherOf(db, sessionById(db, id))).toBeUndefined();
    expect(launchedBy(db, sessionById(db, id))).toEqual([]);
  }
});

test.each([
  ["the only agent, even if none of its hooks is known", { a: undefined }, "a"],
  ["an agent that found the other one", { a: [], b: ["a"] }, "b"],
  ["the last of three", { a: [], b: ["a"], c: ["a", "b"] }, "c"],
  ["none of two that found nothing", { a: [], b: [] }, undefined],
  ["none of two that found each other", { a: ["b"], b: ["a"] }, undefined],
  ["none if a hook of the inner one is not known", { a: [], b: undefined }, undefined],
] as const)("the innermost agent: %s", (_, found, expected) => {
  const all = Object.keys(found).map((sessionId) => ({ source: `agent-${sessionId}`, sessionId }));
  const foundBy: Readonly<Record<string, readonly string[] | undefined>> = found;
  const inner = innermost(all, ({ sessionId }) =>
    foundBy[sessionId]?.map((id) => ({ source: `agent-${id}`, sessionId: id })),
  );
  expect(inner?.sessionId).toBe(expected);
});

test("values that are no ids are not kept", () => {
  const env = { CODEX_THREAD_ID: "a b", COPILOT_AGENT_SESSION_ID: "x".repeat(500), GEMINI_CLI: "" };
  expect(launchingAgents(agents, env, { source: "claude-code", sessionId: "own" })).toEqual([]);
});
