// Slow: only `npm run test:all` runs it. Ids that a provider counts; agents/equal-call-ids.slow.test.ts has two subagents.
//
// Some servers number tool calls from zero in every conversation or answer. The result is the same as with random ids.
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import type { SpanRecord } from "#core/model/telemetry.ts";
import { openDatabase } from "#store/database.ts";
import { clockAt } from "../support/clock.ts";
import { ensureBuilt, PROGRAM } from "../support/program.ts";
import { CASES, type RecordedCall, Replay, type ReplayOptions } from "../support/replay.ts";
import { IS_WHOLE } from "../support/whole.ts";

const RECORDED = [
  ["claude-code", "subagent"],
  ["claude-code", "nested-subagents"],
  ["claude-code", "parallel-tools"],
  ["claude-code", "permission-denied"],
  ["claude-code", "compaction"],
  ["claude-code", "older-version-2.0.77"],
  ["codex", "subagent"],
  ["codex", "nested-subagents"],
  ["codex", "parallel-tools"],
] as const;

beforeAll(ensureBuilt);
let replay: Replay | undefined;
afterEach(() => replay?.remove());

describe.each(IS_WHOLE ? RECORDED : ([["claude-code", "nested-subagents"]] as const))("%s %s", (source, name) => {
  const renamed = {
    conversation: countedIn(source, name, "conversation"),
    answer: countedIn(source, name, "answer"),
  };

  test("the edited recording has equal ids for different calls", () => {
    const ids = [...renamed.answer.values()];
    expect(new Set(ids).size).toBeLessThan(ids.length);
  });

  /** The recording with numbers that restart in every conversation, and in every answer. */
  const counted = (IS_WHOLE ? (["conversation", "answer"] as const) : (["answer"] as const)).map((within) => ({
    within,
    edit: (text: string): string =>
      text.replaceAll(/"([\w-]+)"/g, (quoted, id: string) => {
        const number = renamed[within].get(id);
        return number === undefined ? quoted : `"${number}"`;
      }),
  }));
  const same = async (play: (replay: Replay) => Promise<void>, options: ReplayOptions = {}) => {
    const pathsWith = async (more: ReplayOptions) => {
      replay = new Replay(source, name, { ...options, ...more });
      await play(replay);
      const paths = pathsOf(replay.places.storePath);
      replay.remove();
      return paths;
    };
    const random = await pathsWith({});
    expect(random.length).toBeGreaterThan(2);
    for (const { within, edit } of counted) expect(await pathsWith({ edit }), within).toEqual(random);
  };

  test("from hooks only, with a drain after every hook", () =>
    same(
      async (there) => {
        for (const call of there.calls) {
          there.put(call);
          await there.drain({}, clockAt(msOf(call)));
        }
        await there.drain({ endIdle: true });
      },
      { withTranscripts: false },
    ));

  test("from the transcript only", () =>
    same(async (there) => {
      const end = there.calls.findLast((call) => call.stdin?.["session_id"] !== undefined);
      if (end?.event === "SessionEnd") there.put(end);
      else there.sessionEnd(String(end?.stdin?.["session_id"]), msOf(end));
      await there.drain({ endIdle: true }, clockAt(msOf(end)));
    }));

  test("from both, with hooks duplicated and reversed", () =>
    same(async (there) => {
      for (const call of [...there.calls, ...there.calls].reverse()) there.put(call);
      await there.drain({ endIdle: true });
    }));

  test("in real order: a drain at each hook, with the transcript as far as written then", () =>
    same(
      async (there) => {
        for (const call of there.calls) {
          there.writeTranscripts({ untilMs: msOf(call) });
          there.put(call);
          await there.drain({}, clockAt(msOf(call)));
        }
        there.writeTranscripts();
        await there.drain({ endIdle: true });
      },
      { withTranscripts: false },
    ));

  test("in arguments and results", async () => {
    const content = async (more: ReplayOptions) => {
      replay = new Replay(source, name, more);
      replay.env = { OPENHOOK_OTEL_CAPTURE: "full" };
      for (const call of replay.calls) replay.put(call);
      await replay.drain({ endIdle: true });
      const db = openDatabase(replay.places.storePath);
      const tools = db
        .prepare("SELECT record FROM spans")
        .all()
        .map((row) => (JSON.parse(String(row["record"])) as SpanRecord).attributes)
        .filter((attributes) => attributes["gen_ai.tool.name"] !== undefined)
        .map((of) => ["name", "call.arguments", "call.result"].map((what) => of[`gen_ai.tool.${what}`]));
      db.close();
      const home = replay.home;
      replay.remove();
      return tools.map((tool) => JSON.stringify(tool).replaceAll(home, "")).sort();
    };
    const random = await content({});
    expect(random.some((text) => !text.includes("null"))).toBe(true);
    for (const { within, edit } of counted) expect(await content({ edit }), within).toEqual(random);
  });

  test("in an import", () => {
    const tools = (options: ReplayOptions) => {
      replay = new Replay(source, name, options);
      const env = { PATH: process.env["PATH"], HOME: replay.home };
      const { status, stderr } = spawnSync(process.execPath, [PROGRAM, "import", source], {
        env,
        encoding: "utf8",
      });
      expect([status, stderr]).toEqual([0, ""]);
      const db = openDatabase(replay.places.storePath);
      const rows = db.prepare("SELECT name, calls, subagent FROM packed_tools ORDER BY name, subagent").all();
      db.close();
      replay.remove();
      return rows;
    };
    const drawn = tools({});
    expect(drawn.length).toBeGreaterThan(0);
    for (const { within, edit } of counted) expect(tools({ edit }), within).toEqual(drawn);
  });
});

// --- internal ---

const msOf = (call: RecordedCall | undefined): number => Date.parse(call?.received_at ?? "");

/** The ancestors of each span, up to its root. */
function pathsOf(storePath: string): readonly string[] {
  const db = openDatabase(storePath);
  try {
    const spans = db
      .prepare("SELECT record FROM spans")
      .all()
      .map((row) => JSON.parse(String(row["record"])) as SpanRecord);
    const byId = new Map(spans.map((span) => [span.spanId, span]));
    expect(byId.size).toBe(spans.length);
    return spans
      .map((span) => {
        const names: string[] = [];
        for (
          let at: SpanRecord | undefined = span, above = "";
          at !== undefined;
          at = byId.get(above as SpanRecord["spanId"])
        ) {
          names.push(`${at.name} ${at.status.code} ${String(at.attributes["openhook.tool.status"] ?? "")}`);
          expect(names.length).toBeLessThan(30);
          if (at.parentSpanId === undefined) break;
          above = at.parentSpanId;
        }
        return names.join(" < ");
      })
      .sort();
  } finally {
    db.close();
  }
}

/** Maps a recording's call ids to the ids of a server that numbers calls. */
function countedIn(source: string, name: string, within: "conversation" | "answer"): ReadonlyMap<string, string> {
  const counted = new Map<string, string>();
  const folder = join(CASES, source, name, "transcripts");
  for (const path of readdirSync(folder, { recursive: true, encoding: "utf8" }).sort()) {
    if (!path.endsWith(".jsonl")) continue;
    let [answer, next, outputs] = ["", 0, 0];
    const lines = readFileSync(join(folder, path), "utf8").split("\n");
    for (const line of lines.filter((text) => text !== "")) {
      if (/"type":\s*"\w+_output"/.test(line)) outputs++;
      for (const [id, answerOf = String(outputs)] of callsIn(JSON.parse(line))) {
        if (within === "answer" && answerOf !== answer) next = 0;
        answer = answerOf;
        if (!counted.has(id)) counted.set(id, `call_${next++}`);
      }
    }
  }
  return counted;
}

/** Ids of the calls in a line, each with the id of its answer if there is one. */
function callsIn(value: unknown, answer?: string): readonly (readonly [string, string | undefined])[] {
  if (typeof value !== "object" || value === null) return [];
  const o = value as Readonly<Record<string, unknown>>;
  const inner = typeof o["id"] === "string" && o["role"] === "assistant" ? o["id"] : answer;
  const id = o["type"] === "tool_use" ? o["id"] : /_call$/.test(String(o["type"])) ? o["call_id"] : undefined;
  return [
    ...(typeof id === "string" ? [[id, inner] as const] : []),
    ...Object.values(o).flatMap((member) => callsIn(member, inner)),
  ];
}
