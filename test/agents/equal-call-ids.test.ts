// A tool call belongs to the agent that made it. Providers that count their ids give every agent of a session the same ones.
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import type { SpanRecord } from "../../src/model/telemetry.ts";
import { openDatabase } from "../../src/store/database.ts";
import { clockAt } from "../support/clock.ts";
import { opencode } from "../support/equal-ids/opencode.ts";
import { ENDS_MS, EXPECTED, type MadeSession, T } from "../support/equal-ids/timeline.ts";
import { CASES, type RecordedCall, Replay } from "../support/replay.ts";

const MADE: Readonly<Record<string, (home: string) => MadeSession>> = { opencode };

let replay: Replay | undefined;
let made: MadeSession | undefined;
afterEach(() => {
  made?.close?.();
  replay?.remove();
  [made, replay] = [undefined, undefined];
});

describe.each(Object.entries(MADE))("%s: the main agent and two parallel subagents with equal ids", (source, make) => {
  const begin = () => {
    replay = new Replay(source, firstCase(source), { withTranscripts: false });
    made = make(replay.home);
    return { to: replay, ...made };
  };
  const expectEach = async ({ to, ...session }: ReturnType<typeof begin>, ms = ENDS_MS + 10) => {
    await to.drain({ endIdle: true }, clockAt(ms));
    expect(callsIn(to.places.storePath, session)).toEqual(EXPECTED);
  };

  test("one drain at the end", async () => {
    const session = begin();
    session.writeUntil(ENDS_MS);
    for (const call of session.hooks) session.to.put(call);
    await expectEach(session);
  });

  test("hooks first", async () => {
    const session = begin();
    for (const call of session.hooks) session.to.put(call);
    await session.to.drain({}, clockAt(ENDS_MS + 1));
    session.writeUntil(ENDS_MS);
    await expectEach(session, ENDS_MS + 60_000);
  });

  test("hooks in reverse order", async () => {
    const session = begin();
    session.writeUntil(ENDS_MS);
    for (const call of session.hooks.toReversed()) session.to.put(call);
    await expectEach(session);
  });

  test("transcripts first", async () => {
    const session = begin();
    session.writeUntil(ENDS_MS);
    const [first, ...rest] = session.hooks;
    if (first !== undefined) session.to.put(first);
    await session.to.drain({}, clockAt(T + 1));
    for (const call of rest) session.to.put(call);
    await expectEach(session);
  });

  test("drains between all events", { timeout: 60_000 }, async () => {
    const session = begin();
    for (const call of session.hooks) {
      session.writeUntil(msOf(call));
      session.to.put(call);
      await session.to.drain({}, clockAt(msOf(call)));
    }
    await expectEach(session);
  });

  test("drains between all events, each before its transcript", { timeout: 60_000 }, async () => {
    const session = begin();
    for (const call of session.hooks) {
      session.to.put(call);
      await session.to.drain({}, clockAt(msOf(call)));
      session.writeUntil(msOf(call));
    }
    await expectEach(session);
  });
});

// --- internal ---

const msOf = (call: RecordedCall): number => Date.parse(call.received_at);

/** Any recording of the agent; only the home that it is replayed in is used. */
const firstCase = (source: string): string =>
  readdirSync(join(CASES, source)).find((name) => existsSync(join(CASES, source, name, "hooks.jsonl"))) ?? "";

/** Each tool call with its id, its status and what it is below. */
function callsIn(storePath: string, { agents: ids, tools }: MadeSession): readonly string[] {
  const db = openDatabase(storePath);
  const spans = db
    .prepare("SELECT record FROM spans")
    .all()
    .map((row) => JSON.parse(String(row["record"])) as SpanRecord);
  db.close();
  const byId = new Map<string | undefined, SpanRecord>(spans.map((span) => [span.spanId, span]));
  const nameOf = ({ attributes: of, name }: SpanRecord): string => {
    const tool = Object.entries(tools).find(([, own]) => own === of["gen_ai.tool.name"]);
    if (of["gen_ai.tool.name"] !== undefined) {
      const id = String(of["gen_ai.tool.call.id"]).replace(/#.*/, "");
      return `${tool?.[0]} ${id} ${of["openhook.tool.status"] ?? "success"}`;
    }
    if (of["openhook.subagent.id"] === undefined) return name.startsWith("invoke_agent") ? "turn" : name;
    const agent = Object.entries(ids).find(([, own]) => own === of["openhook.subagent.id"]);
    return agent?.[0] ?? name;
  };
  return spans
    .filter(({ attributes }) => attributes["gen_ai.tool.name"] !== undefined)
    .map((span) => {
      const names: string[] = [];
      for (
        let at: SpanRecord | undefined = span;
        at !== undefined && names.length < 9;
        at = byId.get(at.parentSpanId)
      ) {
        names.push(nameOf(at));
      }
      return names.join(" < ");
    })
    .sort();
}
