import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { explain } from "#commands/explain.ts";
import { refreshed } from "#commands/refreshed.ts";
import { report } from "#commands/report.ts";
import { sessions } from "#commands/sessions.ts";
import { show } from "#commands/show.ts";
import type { Context } from "#config/context.ts";
import { messageOf } from "#kit/errors.ts";
import { withDrainLock } from "#store/lock.ts";
import { claudePath, claudeSession, sessionIdOf, writeLines } from "../import/claude.ts";
import { type ContextOptions, contextAt } from "../support/context.ts";
import { Replay } from "../support/replay.ts";

const STARTED_MS = Date.parse("2026-08-03T10:00:00Z");
const HOUR_MS = 3_600_000;

let at: Replay;
beforeEach(() => {
  at = new Replay("claude-code", "basic", { withTranscripts: false });
});
afterEach(() => at.remove());

/** Writes a session as the agent would. */
function write(day: number, { turns, answer = "" }: { readonly turns: number; readonly answer?: string }): void {
  const { lines } = claudeSession({ id: sessionIdOf(day), startMs: STARTED_MS + day * HOUR_MS, turns });
  writeLines(claudePath(at, sessionIdOf(day)), [...lines, ...(answer === "" ? [] : [answer])]);
}

async function listed(refresh = true, world: ContextOptions = {}) {
  const { context, out, err } = contextAt(at.places, { now: () => STARTED_MS + 24 * HOUR_MS, ...world });
  expect(await sessions({ limit: 20, json: true, refresh }, context)).toBe(0);
  return { turns: (JSON.parse(out()) as { turns: number }[]).map(({ turns }) => turns), err: err() };
}

test("a list imports what is new first, and again what has grown", async () => {
  write(1, { turns: 2 });
  expect(await listed()).toEqual({ turns: [2], err: "" });
  write(1, { turns: 3 });
  write(2, { turns: 1 });
  expect(await listed()).toEqual({ turns: [1, 3], err: "" });
  expect(await listed()).toEqual({ turns: [1, 3], err: "" });
});

test("a report imports what is new first", async () => {
  write(1, { turns: 2 });
  const { context, out } = contextAt(at.places, { now: () => STARTED_MS + 24 * HOUR_MS });
  expect(await report(["agent"], { json: true, csv: false, refresh: true }, context)).toBe(0);
  expect(JSON.parse(out())).toMatchObject({ rows: [{ agent: "claude-code", sessions: 1 }] });
});

test("--no-refresh and the setting show only what is stored, and write nothing", async () => {
  write(1, { turns: 2 });
  expect(await listed(false)).toEqual({ turns: [], err: "" });
  expect(await listed(true, { env: { OPENHOOK_OTEL_DISPLAY_REFRESH: "false" } })).toEqual({ turns: [], err: "" });
  expect(existsSync(at.places.stateDir)).toBe(false);
});

test("more than fits into the time is announced and left to the background", async () => {
  const padding = JSON.stringify({ type: "progress", data: "x".repeat(9 << 20) });
  write(1, { turns: 2, answer: padding });
  const { turns, err } = await listed();
  expect(turns).toEqual([]);
  expect(err).toBe("not shown yet: 1 session with new data (9.4 MB), being imported in the background\n");
});

test("while the first import runs behind, a command says so instead of that there are no sessions", async () => {
  write(1, { turns: 2, answer: JSON.stringify({ type: "progress", data: "x".repeat(9 << 20) }) });
  const text = "importing 1 session; run it again in a moment";
  const run = async (command: (context: Context) => Promise<number>) => {
    const { context, out } = contextAt(at.places, { now: () => STARTED_MS + 24 * HOUR_MS });
    return { done: await command(context).catch(messageOf), out: out() };
  };
  const list = { limit: 20, json: false, refresh: true };
  expect(await run((context) => sessions(list, context))).toEqual({ done: 0, out: `${text}\n` });
  expect(await run((context) => sessions({ ...list, agent: "codex" }, context))).toEqual({ done: 0, out: `${text}\n` });
  const asked = { json: false, csv: false, refresh: true };
  expect(await run((context) => report([], asked, context))).toEqual({ done: 0, out: `${text}\n` });
  expect(await run((context) => explain(undefined, asked, context))).toEqual({ done: text, out: "" });
  expect(await run((context) => show(undefined, { ...asked, envelopes: false }, context))).toEqual({
    done: text,
    out: "",
  });
});

test("if the state directory cannot be created, a command says why new sessions are missing, and promises no import", async () => {
  write(1, { turns: 2, answer: JSON.stringify({ type: "progress", data: "x".repeat(9 << 20) }) });
  const { stateDir } = at.places;
  // Root ignores permissions, but nobody can create a folder below a file
  mkdirSync(dirname(stateDir), { recursive: true });
  writeFileSync(stateDir, "");
  const { turns, err } = await listed();
  expect(turns).toEqual([]);
  expect(err).toContain(`new sessions are not shown: cannot create the directory ${JSON.stringify(stateDir)}: `);
  expect(err).not.toContain("background");
});

test("while another import or drain is at work, a command says so and starts no further import", async () => {
  write(1, { turns: 2 });
  mkdirSync(at.places.stateDir, { recursive: true });
  let shown: Awaited<ReturnType<typeof listed>> | undefined;
  await withDrainLock(join(at.places.stateDir, "drain.lock"), async () => {
    shown ??= await listed();
  });
  expect(shown).toEqual({
    turns: [],
    err: "not shown yet: 1 session with new data (<0.1 MB), another import or drain is running\n",
  });
});

test("a search gives up after its processor time, not because the machine is busy", async () => {
  write(1, { turns: 2 });
  /** What has been used at the start is 0. */
  const after = (ms: number): (() => number) => {
    let isStart = true;
    return () => {
      if (!isStart) return ms;
      isStart = false;
      return 0;
    };
  };
  const search = (timeMs: number, processorMs: number) =>
    refreshed({ refresh: true }, contextAt(at.places).context, {
      time: after(timeMs),
      processorTime: after(processorMs),
    });
  expect((await search(900, 300)).behind).toEqual({ bytes: 0 });
  expect((await search(1_100, 100)).behind).toEqual({ bytes: 0 });
  expect((await search(900, 100)).behind).toBeUndefined();
  expect((await listed(false)).turns).toEqual([2]);
});

test("what hooks have reported is left to a drain; other sessions are imported", async () => {
  const hooked = new Replay("claude-code", "killed");
  try {
    for (const call of hooked.calls) hooked.put(call);
    await hooked.drain();
    at.remove();
    at = hooked;
    write(1, { turns: 2 });
    hooked.writeTranscripts();
    const { turns } = await listed();
    expect(turns).toContain(2);
  } finally {
    hooked.remove();
  }
});
