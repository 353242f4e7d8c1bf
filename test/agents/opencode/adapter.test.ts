import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import opencode from "#agents/opencode/index.ts";
import { idTimeMs, isCopy, isOlderCopy } from "#agents/shared/opencode/ids.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import { extrasOf } from "#core/rules/extras.lazy.ts";
import fc from "../../support/properties.ts";

const { recognises, toEntries, toEvents } = opencode;

const HERE = dirname(fileURLToPath(import.meta.url));
const S = "ses_e0353a808ffe1kcC0bzNbPqEgM";
const at = (rest: Partial<IntakeFacts> = {}): IntakeFacts => ({
  timeMs: Date.UTC(2026, 10, 21, 9),
  env: { HOME: "/home/dev" },
  payloadBytes: 2,
  truncated: false,
  ...rest,
});
const bus = (type: string, properties: object, more: object = {}) => ({
  input: { event: { id: "evt_1", type, properties } },
  output: null,
  ...more,
});

interface Line {
  readonly event: string;
  readonly stdin: Readonly<Record<string, unknown>>;
}
const recorded = (name: string): readonly Line[] =>
  readFileSync(join(HERE, name, "hooks.jsonl"), "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Line);
const recordedEvents = (name: string) =>
  recorded(name).flatMap(({ event, stdin }) => toEvents(stdin, at({ source: "opencode", event })));

describe("recordings", () => {
  const cases = readdirSync(HERE, { withFileTypes: true }).flatMap((e) => (e.isDirectory() ? [e.name] : []));
  test("are complete", () => expect(cases).toHaveLength(13));

  test.each(cases)("%s: gives the same with and without the command line's agent name", (name) => {
    for (const { event, stdin } of recorded(name)) {
      const events = toEvents(stdin, at({ source: "opencode", event }));
      const facts = at({ source: "opencode" });
      if (event === "dispose") expect(events).toEqual([]);
      else expect(toEvents(stdin, facts)).toEqual(events);
      if (events.length > 0) expect(recognises(stdin, at())).toBe("certain");
      else expect(recognises(stdin, at({ source: "opencode", event }))).not.toBe("no");
    }
  });

  test("a fork's copies give no events", () => {
    const fork = "ses_e03517e00ffe09ztzjTv5di4no";
    const events = recordedEvents("fork").filter((event) => event.session_id === fork);
    expect(events.filter(({ type }) => type === "tool.start" || type === "tool.end")).toHaveLength(2);
    expect(events.filter(({ type }) => type === "model.end")).toHaveLength(2);
    expect(recorded("fork").filter(({ stdin }) => JSON.stringify(stdin).includes("call_f1")).length).toBeGreaterThan(3);
  });

  test("tools that failed, were denied or do not exist", () => {
    const ends = [...recordedEvents("denied"), ...recordedEvents("parallel-tools")].flatMap((event) =>
      event.type === "tool.end"
        ? [[event.data?.tool_call_id, event.data?.tool_name, event.data?.status, extrasOf(event).denied]]
        : [],
    );
    expect(ends.sort()).toEqual([
      ["call_d1", "bash", "error", true],
      ["call_d2", "bash", "success", undefined],
      ["call_d3", "write", "error", true],
      ["call_p1", "bash", "success", undefined],
      ["call_p2", "read", "error", undefined],
      ["call_p3", "bash", "error", undefined],
      ["call_p4", "write", "success", undefined],
      ["call_p5", "no_such_tool", "error", undefined],
      ["call_p6", "edit", "error", undefined],
    ]);
  });

  test("a session of the task tool has its parent's id, in any event that reports it", () => {
    const starts = recordedEvents("subagent").filter(({ type }) => type === "subagent.start");
    expect(new Set(starts.map(({ id }) => id)).size).toBe(1);
    expect(starts.length).toBeGreaterThan(1);
    expect(starts[0]).toMatchObject({
      session_id: "ses_e0353e6e1ffeeE0CbC0D2sMnfB",
      extensions: { parent_session_id: "ses_e0353f104ffe4ZZOKx6Zyg0gDf", agent_type: "general" },
    });
  });

  test("failed attempts, which the database lacks, are model errors that are retried", () => {
    const entries = recorded("api-error").flatMap(({ event, stdin }) => toEntries(stdin, at({ event })));
    expect(entries.filter((entry) => entry.kind === "model_error")).toMatchObject([
      { errorType: "_OTHER", final: false },
      { errorType: "rate_limit", final: false },
      { errorType: "400", httpStatus: 400, final: true },
    ]);
    expect(entries.filter((entry) => entry.kind === "model_call")).toHaveLength(3);
  });
});

describe("one by one", () => {
  test("times come from the payload, the database path from the environment", () => {
    const [event] = toEvents(
      bus("session.created", {
        info: { id: S, directory: "/home/dev/acme", version: "1.18.33", time: { created: 1_795_240_515_576 } },
      }),
      at(),
    );
    expect(event).toMatchObject({
      type: "session.start",
      time: "2026-11-21T05:55:15.576Z",
      cwd: "/home/dev/acme",
      extensions: { transcript_path: "/home/dev/.local/share/opencode/opencode.db", agent_version: "1.18.33" },
    });
  });

  test.each<[Record<string, string>, string | undefined]>([
    [{ HOME: "/home/dev", XDG_DATA_HOME: "/data" }, "/data/opencode/opencode.db"],
    [{ HOME: "/home/dev", OPENCODE_DB: "work.db" }, "/home/dev/.local/share/opencode/work.db"],
    [{ HOME: "/home/dev", OPENCODE_DB: "/srv/work.db" }, "/srv/work.db"],
    [{ HOME: "/home/dev", OPENCODE_DB: ":memory:" }, undefined],
    [{}, undefined],
  ])("%j", (env, path) => {
    const [event] = toEvents(bus("session.idle", { sessionID: S }), at({ env }));
    expect(event === undefined ? "no event" : extrasOf(event).transcript_path).toBe(path);
  });

  test("a failed turn goes idle twice, and both events are reported once", () => {
    const idle = toEvents(bus("session.idle", { sessionID: S }), at());
    expect(idle).toMatchObject([{ type: "turn.end" }]);
    expect(toEvents(bus("session.idle", { sessionID: S }), at({ timeMs: 5 })).map(({ id }) => id)).toEqual(
      idle.map(({ id }) => id),
    );
    const error = { name: "APIError", data: { statusCode: 400, message: "secret words" } };
    const [failed] = toEvents(bus("session.error", { sessionID: S, error }), at());
    expect(failed).toMatchObject({ type: "turn.error", extensions: { error_type: "400", http_status: 400 } });
    expect(JSON.stringify(failed)).not.toContain("secret");
    expect(toEvents(bus("session.error", { error }), at())).toEqual([]);
  });

  test("reads the members that our plugin adds", () => {
    const own = { directory: "/home/dev/acme", plugin: { at: 1_795_240_600_000, sequence: 7, promptID: "msg_1" } };
    expect(toEvents({ input: { sessionID: S }, output: null, ...own }, at({ event: "dispose" }))).toMatchObject([
      {
        type: "session.end",
        time: "2026-11-21T05:56:40.000Z",
        cwd: "/home/dev/acme",
        data: { reason: "completed" },
        extensions: { prompt_id: "msg_1", native_reason: "dispose" },
      },
    ]);
    expect(toEvents({ input: { sessionID: S }, output: null, ...own }, at({ event: "session.resumed" }))).toMatchObject(
      [{ type: "session.start", extensions: { start_origin: "resume", continues: "same-session" } }],
    );
    const child = { plugin: { at: 1, sequence: 8, parentID: "ses_parent" } };
    expect(toEvents(bus("session.idle", { sessionID: S }, child), at())).toMatchObject([
      { type: "subagent.end", extensions: { parent_session_id: "ses_parent" } },
    ]);
    const message = { message: { id: "msg_2", time: { created: 1 } }, parts: [{ type: "text", text: "Count" }] };
    expect(toEvents({ input: { sessionID: S }, output: message, ...child }, at())).toEqual([]);
  });

  test("a prompt is the user's text, without added parts", () => {
    const promptsOf = (parts: object[]) =>
      toEvents({ input: { sessionID: S }, output: { message: { id: "msg_1" }, parts } }, at());
    const typed = { type: "text", text: "Sell 🍐" };
    const added = { type: "text", text: "Called the Read tool …", synthetic: true };
    expect(promptsOf([added, typed, { type: "file", url: "file:///x" }])).toMatchObject([
      { type: "prompt.submit", data: { prompt_length: 7 }, extensions: { prompt_id: "msg_1" } },
    ]);
    expect(promptsOf([{ type: "text", length: 7 }])).toMatchObject([{ data: { prompt_length: 7 } }]);
    expect(promptsOf([added])).toEqual([]);
    expect(promptsOf([{ type: "text", text: "shown to the user alone", ignored: true }])).toEqual([]);
    expect(promptsOf([{ type: "file", url: "file:///x" }])[0]).not.toHaveProperty("data.prompt_length");
  });

  test("accepts the other form, with a folder next to the two arguments", () => {
    const input = { tool: "bash", sessionID: "ses_0001", callID: "call_0001" };
    const before = { input, output: { args: { command: "ls" } }, directory: "/home/dev/acme-shop" };
    const after = {
      input,
      output: { title: "ls", output: "a.ts", metadata: { exit: 1 } },
      directory: "/home/dev/acme",
    };
    expect(recognises(before, at())).toBe("certain");
    expect(toEvents(before, at())).toMatchObject([
      {
        type: "tool.start",
        cwd: "/home/dev/acme-shop",
        data: { tool_name: "bash", tool_call_id: "call_0001" },
        extensions: { executable: "ls" },
      },
    ]);
    expect(toEvents(after, at())).toMatchObject([
      { type: "tool.end", data: { status: "error" }, extensions: { exit_code: 1 } },
    ]);
    expect(recognises({ input: { ...input, sessionID: "s" }, output: {} }, at())).toBe("likely");
  });

  test("the failure of a slash command's subtask has the id of its start", () => {
    const input = { tool: "task", sessionID: S, callID: "prt_1fcaf9b210010qJ0so00Gx9TYJ" };
    const [start] = toEvents({ input, output: { args: {} } }, at());
    const part = {
      type: "tool",
      tool: "task",
      id: "prt_1fcaf9b210010qJ0so00Gx9TYJ",
      callID: "01KAHS3Q1V0YQ4N6C7X8Z9ABCD",
      state: {
        status: "error",
        error: "Tool execution failed",
        time: { start: 1_795_240_729_390, end: 1_795_240_729_990 },
      },
    };
    const [end] = toEvents(bus("message.part.updated", { sessionID: S, part }), at());
    expect(start).toMatchObject({ data: { tool_call_id: part.id } });
    expect(end).toMatchObject({ data: { tool_call_id: part.id, status: "error", duration_ms: 600 } });
    // A hook without a result does not report a status
    expect(toEvents({ input: { ...input, args: {} } }, at())[0]).not.toHaveProperty("data.status");
  });
});

test("an answer without a model is no call, unless it has tokens", () => {
  const entriesOf = (info: object) => {
    const answer = {
      id: "msg_1",
      role: "assistant",
      finish: "tool-calls",
      time: { created: 5, completed: 9 },
      ...info,
    };
    const properties = { sessionID: "ses_a", info: answer };
    return toEntries({ input: { event: { id: "evt_1", type: "message.updated", properties } } }, at({}));
  };
  expect(entriesOf({ isAsked: false })).toEqual([]);
  expect(entriesOf({ isAsked: false, tokens: { input: 7, output: 1 } })).toMatchObject([{ kind: "model_call" }]);
  expect(entriesOf({ isAsked: true })).toMatchObject([{ kind: "model_call", complete: true }]);
  expect(entriesOf({})).toHaveLength(1);
});

describe("ids", () => {
  test("contain their creation time, also after the counter wraps around", () => {
    expect(idTimeMs("msg_1fcac58930016OazC8Elscp443", 1_795_240_515_731)).toBe(1_795_240_515_731);
    expect(idTimeMs("call_1", 0)).toBeUndefined();
    fc.assert(
      fc.property(fc.integer({ min: 1.5e12, max: 4e12 }), fc.integer({ min: -1e10, max: 1e10 }), (ms, off) => {
        const stamp = (BigInt(ms) * 4096n + 1n) & 0xffffffffffffn;
        const id = `msg_${stamp.toString(16).padStart(12, "0")}AcmeShopAcmeSh`;
        expect(idTimeMs(id, ms + off)).toBe(ms);
        expect(isCopy(id, ms + 10)).toBe(false);
        expect(isCopy(id, ms - 1_000)).toBe(true);
        expect(isOlderCopy(id, ms + 10)).toBe(false);
        expect(isOlderCopy(id, ms + 2_000)).toBe(true);
      }),
    );
  });
});
