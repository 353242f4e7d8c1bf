// `report hook` over recorded sessions: the recorder was a hook itself and kept each of its calls, so they can be counted.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { report } from "#commands/report.ts";
import { placesOf } from "#config/places.ts";
import type { hooksJson } from "#show/report/hooks/json.ts";
import { recordedCases, recordedHome } from "../import/home.ts";
import { importInto } from "../import/run.ts";
import { clockAt } from "../support/clock.ts";
import { contextAt } from "../support/context.ts";
import { Replay } from "../support/replay.ts";
import { firstRecordings } from "../support/whole.ts";

const OPTIONS = { json: true, csv: false, refresh: false, titles: true, since: "2026-01-01" };

const cases = (await recordedCases()).filter(({ agent }) => agent.hookRuns !== undefined);
let replay: Replay | undefined;
afterEach(() => {
  replay?.remove();
  replay = undefined;
});

async function shown(options: object = {}, words: readonly string[] = ["hook"]): Promise<string> {
  if (replay === undefined) throw new Error("no home");
  const { context, out } = contextAt(replay.places);
  expect(await report(words, { ...OPTIONS, ...options }, context)).toBe(0);
  return out();
}
const json = async (options: object = {}) => JSON.parse(await shown(options)) as ReturnType<typeof hooksJson>;

/** The hook of that recording. */
const RECORDER = /\/[^"]*\/recorder\/record\.py/g;

/** `PreToolUse`, `pre_tool_use` and `preToolUse` are one event. */
const plain = (event: string): string => event.replaceAll("_", "").toLowerCase();

const counted = (events: readonly (readonly [event: string, runs: number])[]): Readonly<Record<string, number>> => {
  const sums = new Map<string, number>();
  for (const [event, runs] of events) sums.set(plain(event), (sums.get(plain(event)) ?? 0) + runs);
  return Object.fromEntries([...sums].sort());
};

/** Events whose runs are never written down. */
const NOT_WRITTEN: Readonly<Record<string, readonly string[]>> = {
  openhands: ["sessionend"],
  grok: ["notification", "subagentstart"],
};

describe("runs by event are the calls that the recorder received", () => {
  test.each(firstRecordings(cases))("$source $name", async (of) => {
    const home = await recordedHome(of);
    replay = home.replay;
    await importInto(replay, of.source);
    const imported = await json();
    const runs = counted(imported.rows.map(({ event, runs }) => [event, runs] as const));
    const calls = counted(home.calls.map(({ event }) => [event, 1] as const));
    const unwritten = new Set(NOT_WRITTEN[of.source]);
    if (unwritten.size > 0 || of.source === "droid") {
      const written = Object.entries(calls).filter(([event]) => !unwritten.has(event));
      // Grok's last one, after the session's end
      const last = of.source === "grok" && of.name === "basic" ? { stop: 1 } : {};
      expect(runs).toEqual({ ...Object.fromEntries(written), ...last });
    }
    for (const { event, runs_are_lower_bound } of imported.rows) {
      const isComplete =
        of.source === "claude-code" || of.source === "grok"
          ? (plain(event) === "stop") === (of.source === "claude-code")
          : of.source !== "copilot";
      expect(runs_are_lower_bound, event).toBe(!isComplete);
    }
    // Its PascalCase hooks are those of other events' names; an async hook was killed, and another refused before the recorder ran
    if (!["pascal-case-hooks", "async-hooks"].includes(of.name))
      for (const [event, number] of Object.entries(runs))
        expect(calls[event] ?? 0, event).toBeGreaterThanOrEqual(number);
    expect(imported.own_hook).toBeNull();

    for (const call of home.calls) replay.put(call);
    await replay.drain({ endIdle: true }, clockAt(Math.max(...home.calls.map((call) => Date.parse(call.received_at)))));
    expect({ ...(await json()), sessions_to_read: 0, sessions_read: 0 }).toEqual({
      ...imported,
      sessions_to_read: 0,
      sessions_read: 0,
    });
  });
});

describe("a session of Claude Code", () => {
  const denied = async (edit = (text: string): string => text): Promise<void> => {
    replay = new Replay("claude-code", "permission-denied", { edit });
    await importInto(replay, "claude-code");
  };

  test("a table, with the user's hooks by event", async () => {
    await denied();
    const lines = (await shown({ json: false })).split("\n").map((line) => line.trimEnd());
    expect(lines).toEqual([
      "hooks since 2026-01-01",
      "",
      "hook       event       agent        runs  blocked    time   mean  longest",
      "record.py  Stop        claude-code     1            40 ms  40 ms    40 ms",
      "block.sh   PreToolUse  claude-code    ≥1        1       ?",
      "all                                   ≥2        1  ≥40 ms  40 ms    40 ms",
      "",
      "≥ runs: the agent writes down only some of them, or several as one",
      "time: of the runs whose time is known; hooks that ran together have none of their own",
      "",
    ]);
  });

  test("our own hook is no row, and what it took is said", async () => {
    await denied((text) => text.replaceAll(RECORDER, "exec ~/.local/share/openhook-otel/hook -d claude-code"));
    const { rows, own_hook, total } = await json();
    expect(rows.map(({ hook }) => hook)).toEqual(["block.sh"]);
    expect(own_hook).toMatchObject({ runs: 1, failed: 0, time_ms: 40, runs_without_time: 0 });
    expect(total).toMatchObject({ runs: 1, blocked: 1, time_ms: null });
    expect(await shown({ json: false })).toContain(
      "the hook of openhook-otel: 1 run written down, 40 ms in all, 40 ms each\n",
    );
  });

  test("secrets and control characters in a command are not shown", async () => {
    const secret = `ghp_${"a1B2c3D4e5F6".repeat(3)}`;
    await denied((text) =>
      text.replaceAll(RECORDER, `TOKEN=${secret} node /x/${secret}.js --key ${secret} \\u001b[31m \\u202e`),
    );
    const text = `${await shown()}${await shown({ json: false })}`;
    expect(text).toContain("node");
    expect(text).not.toContain(secret);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: matches control characters
    expect(text).not.toMatch(/[\x1b\u202e]/);
  });

  test("the time that is asked for, and the limit", async () => {
    await denied();
    expect((await json({ until: "2026-11-01" })).rows).toEqual([]);
    const { rows, rows_left_out, total } = await json({ limit: 1 });
    expect([rows.length, rows_left_out, total?.runs]).toEqual([1, 1, 2]);
    expect(await shown({ json: false, until: "2026-11-01" })).toContain("no run of your own hooks is written down");
  });

  test("without its file the runs are unknown, and that is said", async () => {
    await denied();
    rmSync(join(replay?.home ?? "", ".claude"), { recursive: true });
    expect(await json()).toMatchObject({ rows: [], total: null, sessions_read: 0, sessions_to_read: 1 });
    expect(await shown({ json: false })).toContain("of 0 of 1 session: the files of the others are gone");
  });

  test("an earlier version wrote nothing down: unknown, not 0", async () => {
    replay = new Replay("claude-code", "older-version-2.0.77");
    await importInto(replay, "claude-code");
    expect(await json()).toMatchObject({ rows: [], sessions_read: 0, sessions_to_read: 1 });
  });

  test("content that may not be shown is not read", async () => {
    await denied();
    const { configPath } = replay?.places ?? { configPath: "" };
    mkdirSync(dirname(configPath), { recursive: true });
    writeFileSync(configPath, JSON.stringify({ display: { content: "off" } }));
    expect(await json()).toMatchObject({ rows: [], sessions_read: 0, sessions_to_read: 1 });
  });
});

test("agents whose files say nothing are named", async () => {
  const of = (await recordedCases()).find(({ source }) => source === "codex");
  if (of === undefined) throw new Error("no recording");
  replay = (await recordedHome(of)).replay;
  await importInto(replay, "codex");
  expect(await json()).toMatchObject({ agents_without_records: ["codex"], sessions_to_read: 0, total: null });
  expect(await shown({ json: false })).toContain("nothing is written down by Codex");
});

test("a report by hook is by nothing else, of no model, and no CSV", async () => {
  const home = mkdtempSync(join(tmpdir(), "hooks-"));
  try {
    const { context, out } = contextAt(placesOf({ env: {}, home, platform: "linux" }));
    const asked = (words: readonly string[], options: object = {}) =>
      report(words, { ...OPTIONS, ...options }, context);
    await expect(asked(["hook", "week"])).rejects.toThrow("hook cannot be combined with other groupings");
    await expect(asked(["hooks"], { model: "x" })).rejects.toThrow("hooks have no model");
    await expect(asked(["hook"], { json: false, csv: true })).rejects.toThrow("no CSV");
    expect(await asked(["hook", "today"], { since: undefined })).toBe(0);
    expect(out()).toBe("null\n");
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
});
