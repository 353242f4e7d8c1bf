// Slow: only `npm run test:all` runs it. A tool call belongs to the agent that made it. Providers that count their ids give every agent of a session the same ones.
// session/pair.test.ts has the rules.
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { allAgents } from "#agents/registry.ts";
import type { SpanRecord } from "#core/model/telemetry.ts";
import { openDatabase } from "#store/database.ts";
import { clockAt } from "../support/clock.ts";
import { claudeCode } from "../support/equal-ids/claude-code.ts";
import { cline } from "../support/equal-ids/cline.ts";
import { copilot } from "../support/equal-ids/copilot.ts";
import { droid } from "../support/equal-ids/droid.ts";
import { geminiCli } from "../support/equal-ids/gemini-cli.ts";
import { kimi } from "../support/equal-ids/kimi.ts";
import { opencode } from "../support/equal-ids/opencode.ts";
import { qwenCode } from "../support/equal-ids/qwen-code.ts";
import { ENDS_MS, EXPECTED, expectedFromHooks, type MadeSession, T } from "../support/equal-ids/timeline.ts";
import { CASES, type RecordedCall, Replay } from "../support/replay.ts";
import { firstOf } from "../support/whole.ts";

const MADE: Readonly<Record<string, (home: string) => MadeSession>> = {
  "claude-code": claudeCode,
  cline,
  copilot,
  droid,
  "gemini-cli": geminiCli,
  kimi,
  opencode,
  "qwen-code": qwenCode,
};

const NAME_NO_AGENT = new Set(
  (await allAgents()).filter((card) => card.hooksNameAgents === undefined).map(({ source }) => source),
);

let replay: Replay | undefined;
let made: MadeSession | undefined;
afterEach(() => {
  made?.close?.();
  replay?.remove();
  [made, replay] = [undefined, undefined];
});

describe.each(firstOf(Object.entries(MADE), 2))(
  "%s: each call belongs to its agent, although the main agent and two parallel subagents use equal ids",
  (source, make) => {
    const begin = () => {
      replay = new Replay(source, firstCase(source), { withTranscripts: false });
      made = make(replay.home);
      return { to: replay, ...made };
    };
    const expectEach = async (
      { to, ...session }: ReturnType<typeof begin>,
      { ms = ENDS_MS + 10, expected = EXPECTED }: { readonly ms?: number; readonly expected?: readonly string[] } = {},
    ) => {
      await to.drain({ endIdle: true }, clockAt(ms));
      expect(callsIn(to.places.storePath, session)).toEqual(expected);
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
      await expectEach(session, { ms: ENDS_MS + 60_000, expected: expectedFromHooks(session) });
    });

    test("hooks in reverse order", async () => {
      const session = begin();
      session.writeUntil(ENDS_MS);
      for (const call of session.hooks.toReversed()) session.to.put(call);
      await expectEach(session);
    });

    // Equal calls of two agents that hooks do not name differ in nothing but their time
    if (!NAME_NO_AGENT.has(source)) {
      test("all hooks at one time", async () => {
        const session = begin();
        session.writeUntil(ENDS_MS);
        for (const call of session.hooks.toReversed()) session.to.put(call, ENDS_MS);
        await expectEach(session);
      });
    }

    test("transcripts first", async () => {
      const session = begin();
      session.writeUntil(ENDS_MS);
      const [first, ...rest] = session.hooks;
      if (first !== undefined) session.to.put(first);
      await session.to.drain({}, clockAt(T + 1));
      for (const call of rest) session.to.put(call);
      await expectEach(session);
    });

    test("drains between all events", async () => {
      const session = begin();
      for (const call of session.hooks) {
        session.writeUntil(msOf(call));
        session.to.put(call);
        await session.to.drain({}, clockAt(msOf(call)));
      }
      await expectEach(session);
    });

    test("drains between all events, each before its transcript", async () => {
      const session = begin();
      for (const call of session.hooks) {
        session.to.put(call);
        await session.to.drain({}, clockAt(msOf(call)));
        session.writeUntil(msOf(call));
      }
      await expectEach(session);
    });
  },
);

test("a call that was settled under its given id is not counted again", async () => {
  replay = new Replay("opencode", firstCase("opencode"), { withTranscripts: false });
  made = opencode(replay.home);
  for (const call of made.hooks) replay.put(call);
  await replay.drain({ endIdle: true }, clockAt(ENDS_MS + 1));
  const open = () => openDatabase(String(replay?.places.storePath));
  const before = open();
  const calls = () => Number(before.prepare("SELECT count(*) AS calls FROM tool_calls").get()?.["calls"]);
  expect(calls()).toBe(6);
  before
    .prepare(
      `UPDATE tool_calls SET call_id = 'call_1', input_digest = NULL,
         body = json_remove(json_set(body, '$.callId', 'call_1'), '$.givenId', '$.hooks')
       WHERE json_extract(body, '$.givenId') = 'call_1' AND json_extract(body, '$.agentId') IS NULL`,
    )
    .run();
  // Read again, as from a backup of the inbox, with another event id
  for (const call of made.hooks.filter(({ event }) => event.startsWith("tool.execute"))) {
    const { plugin, input, ...rest } = call.stdin as Record<string, Record<string, unknown>>;
    if (input?.["callID"] !== "call_1" || input["sessionID"] !== "ses_e0350000000000AcmeShop") continue;
    replay.put({ ...call, stdin: { ...rest, input, plugin: { ...plugin, again: true } } });
  }
  await replay.drain({ endIdle: true }, clockAt(ENDS_MS + 100));
  expect(calls()).toBe(6);
  before.close();
});

/** Agents that the test above cannot play, and why. */
const NOT_MADE: Readonly<Record<string, string>> = {
  auggie:
    "its hooks have no call ids, and a subagent's are another conversation; auggie/transcript.test.ts has its files",
  codex: "counted-ids.test.ts plays its recorded subagents with equal ids, in the same orders",
  "copilot-vscode": "VS Code appends its own number to each call id",
  crush: "its hooks name no subagent; its database has its sessions",
  cursor: "a subagent's own events have another conversation id, so they are another session until its start names it",
  openhands: "its hooks have no call ids, and its subagents fire none; openhands/transcript.test.ts has numbered ids",
  goose: "its subagents run no hooks; its database has their calls in separate sessions",
  grok: "a subagent has a separate session id; its session file gives its calls their ids",
  kilo: "it shares OpenCode's adapter, reader and plugin, which are played here",
  kiro: "its hooks have no call ids; session files number them",
  vibe: "a subagent has the hooks and journals of a separate session; vibe/transcript.test.ts has equal ids",
  pi: "its helpers are processes without a session file; the calls that they make are written nowhere",
};

test("every agent with subagents is played here, or has a reason", async () => {
  const withSubagents = (await allAgents()).filter(({ capabilities }) => capabilities.subagents);
  expect(withSubagents.map(({ source }) => source).sort()).toEqual(
    [...Object.keys(MADE), ...Object.keys(NOT_MADE)].sort(),
  );
});

// --- internal ---

const msOf = (call: RecordedCall): number => Date.parse(call.received_at);

/** Any recording of the agent; only the home that it is replayed in is used. */
const firstCase = (source: string): string =>
  readdirSync(join(CASES, source)).find((name) => existsSync(join(CASES, source, name, "hooks.jsonl"))) ?? "";

/** Each tool call with its id, its status and its ancestors. */
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
      const id = String(of["gen_ai.tool.call.id"])
        .replace(/#.*/, "")
        .replace(/^minted:.*/, "?");
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
      return names.slice(0, -1).join(" < ");
    })
    .sort();
}
