import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import { type ConvertOptions, convert } from "#commands/convert.ts";
import { placesOf } from "#config/places.ts";
import { Envelope } from "#core/model/envelope.ts";
import { UserError } from "#kit/errors.ts";
import { contextAt } from "../support/context.ts";
import { CASES } from "../support/replay.ts";

const NOW_MS = Date.UTC(2026, 10, 21, 9);

async function run(input: string | Buffer, options: Partial<ConvertOptions> = {}, file?: string) {
  const places = placesOf({ env: {}, home: "/home/dev", platform: "linux" });
  const { context, out, err } = contextAt(places, { now: () => NOW_MS, cwd: import.meta.dirname });
  const stdin = Readable.from([Buffer.from(input)]);
  const code = await convert(file, { validate: false, ...options }, { ...context, stdin });
  const lines = out().split("\n").slice(0, -1);
  return { code, lines, err: err() };
}
const json = (lines: readonly string[]): readonly Envelope[] => lines.map((line) => Envelope.parse(JSON.parse(line)));

const recording = (name: string): string => join(CASES, "claude-code", name, "hooks.jsonl");
const startOf = (id: string, change: object = {}) => ({
  hook_event_name: "PreToolUse",
  session_id: "c-0001",
  transcript_path: "/home/dev/.claude/projects/-home-dev-acme/c-0001.jsonl",
  cwd: "/home/dev/acme",
  tool_name: "Bash",
  tool_use_id: id,
  tool_input: { command: "ls sk-secret" },
  ...change,
});

describe("native payloads become envelopes", () => {
  test("a recording: the five types in order, with times of receipt, each valid by the specification", async () => {
    const { code, lines, err } = await run("", {}, recording("subagent"));
    expect(code).toBe(0);
    const envelopes = json(lines);
    expect(new Set(envelopes.map(({ type }) => type))).toEqual(
      new Set(["session.start", "prompt.submit", "tool.start", "tool.end", "session.end"]),
    );
    const first = JSON.parse(readFileSync(recording("subagent"), "utf8").split("\n")[0] ?? "");
    expect(envelopes[0]).toMatchObject({ openhook: "0.1", source: "claude-code", time: first.received_at });
    for (const line of lines) {
      const { openhook, id, source, type, time, session_id, data, cwd, extensions, ...rest } = JSON.parse(line);
      expect(rest).toEqual({});
      expect([openhook, id, source, type, time, session_id].every((field) => typeof field === "string")).toBe(true);
    }
    expect(err).toMatch(/^openhook-otel: \d+ envelopes; left out: .*\d+ subagent\.start.*OpenHook has no such types/);
  });

  test("one payload over several lines with a byte order mark, or one per line; without content", async () => {
    const one = await run(`\uFEFF${JSON.stringify(startOf("t-1"), null, 2)}\n`);
    expect(one).toMatchObject({ code: 0, err: "" });
    expect(json(one.lines)).toEqual([
      expect.objectContaining({
        type: "tool.start",
        time: new Date(NOW_MS).toISOString(),
        data: { tool_name: "Bash", tool_call_id: "t-1" },
      }),
    ]);
    const two = await run(`${JSON.stringify(startOf("t-1"))}\r\n\n${JSON.stringify(startOf("t-2"))}`);
    expect(json(two.lines).map(({ time }) => Date.parse(time))).toEqual([NOW_MS, NOW_MS + 1]);
    expect(one.lines.join() + two.lines.join()).not.toContain("sk-secret");
  });

  test("deduplicates events; reports unknown payloads with their line and exit code", async () => {
    const line = JSON.stringify(startOf("t-1"));
    const { code, lines, err } = await run(`${line}\nsk-secret\n\n{"unknown":"sk-secret"}\n${line}\n`);
    expect(code).toBe(1);
    expect(lines).toHaveLength(1);
    expect(err.split("\n").slice(0, -1)).toEqual([
      expect.stringMatching(/^openhook-otel: line 2: the payload is not JSON/),
      "openhook-otel: line 4: no agent recognises it",
      "openhook-otel: 1 envelope; left out: 1 duplicate event; 2 payloads not understood",
    ]);
    expect(err).not.toContain("sk-secret");
  });

  test("reads raw bytes of a recording as a hook does; reports an unreadable line", async () => {
    const at = "2026-09-14T09:00:00.000Z";
    const raw = {
      received_at: at,
      event: "PreToolUse",
      argv: ["hook"],
      stdin_raw: `\uFEFF${JSON.stringify(startOf("t-1"))}`,
    };
    const { code, lines, err } = await run(`${JSON.stringify(raw)}\n${JSON.stringify({ ...raw, stdin_raw: "" })}\n`);
    expect(code).toBe(1);
    expect(json(lines)[0]).toMatchObject({ time: at, data: { tool_call_id: "t-1" } });
    expect(err).toContain("line 2: the payload is empty");
  });

  test("--source and --event fill in what payloads lack; a recording's own values win", async () => {
    const bare = { tool_name: "Shell", tool_input: { command: "ls" } };
    for (const type of ["tool.start", "tool.end"]) {
      const event = type === "tool.start" ? "preToolUse" : "postToolUse";
      const result = await run(JSON.stringify(bare), { source: "hook-contract", event });
      expect(json(result.lines)).toEqual([expect.objectContaining({ type })]);
    }
    const recorded = {
      received_at: "2026-09-14T09:00:00Z",
      event: "preToolUse",
      argv: ["hook", "--source", "hook-contract"],
      stdin: bare,
    };
    const own = await run(JSON.stringify(recorded), { source: "openhook", event: "postToolUse" });
    expect(json(own.lines)).toEqual([expect.objectContaining({ type: "tool.start" })]);
    await expect(run("{}", { source: "nobody" })).rejects.toThrow(/unknown agent "nobody"; known are: /);
    await expect(run("{}", { source: "clade" })).rejects.toThrow(/"clade" \(did you mean claude-code\?\); known/);
  });

  test("tool calls without an id get one, the same for start and end", async () => {
    const of = (event: string, command: string, at: string) =>
      JSON.stringify({
        received_at: `2026-09-14T09:00:0${at}Z`,
        event,
        argv: ["hook", "--source", "hook-contract", "--event", event],
        ppid: 4101,
        stdin: { tool_name: "Shell", tool_input: { command } },
      });
    const { lines } = await run(
      [
        of("preToolUse", "ls", "1"),
        of("preToolUse", "pwd", "2"),
        of("postToolUse", "pwd", "3"),
        of("postToolUse", "ls", "4"),
      ].join("\n"),
    );
    const ids = json(lines).map((one) =>
      one.type === "tool.start" || one.type === "tool.end" ? one.data?.tool_call_id : "",
    );
    expect(ids[0]).toBeTruthy();
    expect(ids[3]).toBe(ids[0]);
    expect(ids[2]).toBe(ids[1]);
    expect(ids[1]).not.toBe(ids[0]);
    const { code, lines: reported } = await run(lines.join("\n"), { validate: true });
    expect([code, reported[1]]).toEqual([0, "4 valid envelopes, 0 errors, 0 remarks"]);
  });

  test("converts what a truncated payload contains, and a complete one of many megabytes", async () => {
    const whole = JSON.stringify(startOf("t-1", { tool_input: { command: "x".repeat(5 << 20) } }));
    expect(json((await run(whole)).lines)).toHaveLength(1);
    expect(json((await run(whole.slice(0, -100))).lines)).toHaveLength(1);
  });

  test("reports missing input; empty input is neither a payload nor an error", async () => {
    await expect(run("", {}, "nowhere.jsonl")).rejects.toThrow(UserError);
    await expect(run("", {}, ".")).rejects.toThrow(/it is a directory/);
    expect(await run("\n \n")).toEqual({ code: 0, lines: [], err: "" });
  });
});

describe("--validate", () => {
  const envelope = (type: string, change: object = {}) => ({
    openhook: "0.1",
    id: crypto.randomUUID(),
    source: "acme-agent",
    type,
    time: "2026-09-14T09:00:00+02:00",
    session_id: "s-1",
    ...change,
  });
  const call = { data: { tool_name: "Bash", tool_call_id: "t-1" } };
  const whole = [
    envelope("session.start"),
    envelope("prompt.submit"),
    envelope("tool.start", call),
    envelope("tool.end", call),
    envelope("session.end", { data: { transcript_path: "/home/dev/s-1.jsonl" } }),
  ];
  const check = (lines: readonly unknown[], options: Partial<ConvertOptions> = {}) =>
    run(lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n"), {
      validate: true,
      ...options,
    });

  test("reports the level of the specification that a sender reaches, and what the next one needs", async () => {
    const level = async (...of: Parameters<typeof check>) => (await check(...of)).lines.at(-1);
    expect(await level([envelope("session.end")])).toBe(
      "acme-agent: OpenHook v0.1, both texts: level 1 (minimal); level 2 needs a session.start, a prompt.submit, a tool.start, " +
        "a tool.end, data.transcript_path on session.end, where there is a transcript",
    );
    expect(await level(whole)).toMatch(/level 2 \(observable\); level 3 needs discovery through \.openhook\.json/);
    expect(await level(whole, { discovery: "convert/all.openhook.json" })).toBe(
      "acme-agent: OpenHook v0.1, both texts: level 3 (discoverable)",
    );
    expect(await level(whole, { discovery: "convert/ends.openhook.json" })).toMatch(
      /level 2 .*needs hooks in \.openhook\.json for session\.start, prompt\.submit, tool\.start, tool\.end$/,
    );
    expect(await level(whole.slice(0, -1))).toMatch(/does not conform; needed a session\.end$/);
    await expect(check(whole, { discovery: "convert/wrong.openhook.json" })).rejects.toThrow(
      /not an OpenHook discovery file: hooks\.0\.command/,
    );
  });

  test("accepts one envelope over many lines", async () => {
    const { code, lines } = await check([JSON.stringify(envelope("session.end"), null, 2)]);
    expect(code).toBe(0);
    expect(lines).toEqual([
      "line 1: both texts",
      "1 valid envelope, 0 errors, 0 remarks",
      expect.stringMatching(/level 1/),
    ]);
    expect((await check([JSON.stringify(whole, null, 2)])).lines).toEqual([
      "line 1: error: not a JSON object",
      "line 1: no text",
      "0 valid envelopes, 1 error, 0 remarks",
    ]);
  });

  test("rates each source separately", async () => {
    const { code, lines } = await check([...whole, envelope("session.end", { source: "other", time: "yesterday" })]);
    expect(code).toBe(1);
    expect(lines.slice(-2)).toEqual([
      expect.stringMatching(/^acme-agent: .* level 2/),
      "other: OpenHook v0.1, both texts: does not conform; " +
        "needed no errors (line 6: time: must be ISO 8601 with a time zone)",
    ]);
  });

  test.each<[string, unknown, RegExp]>([
    ["no JSON", "{ sk-secret", /^line 2: error: not JSON$/],
    ["no object", "[]", /^line 2: error: not a JSON object$/],
    ["no envelope", { hook_event_name: "Stop" }, /error: openhook is missing: this is not an OpenHook envelope$/],
    ["a missing id", { ...envelope("session.end"), id: undefined }, /error: id: is missing$/],
    ["a missing session", { ...envelope("session.end"), session_id: undefined }, /error: session_id: is missing$/],
    ["a source in capitals", envelope("session.end", { source: "Acme" }), /error: source: /],
    ["a time without zone", envelope("session.end", { time: "2026-09-14T09:00:00" }), /error: time: /],
    ["an unknown type", envelope("session.pause"), /error: type: "session.pause" is not a type of OpenHook v0.1$/],
    ["no type", { ...envelope("x"), type: undefined }, /error: type: is missing$/],
    ["a wrong reason", envelope("session.end", { data: { reason: "bored" } }), /error: data\.reason: /],
    ["a fraction", envelope("tool.end", { data: { duration_ms: 1.5 } }), /error: data\.duration_ms: /],
    ["a version of three parts", envelope("session.end", { openhook: "0.1.0" }), /error: openhook: /],
  ])("%s is an error, with its line", async (_name, line, message) => {
    const { code, lines } = await check([envelope("session.end"), line]);
    expect(code).toBe(1);
    expect(lines.filter((one) => /^line \d+: (?:error|remark)/.test(one))).toEqual([expect.stringMatching(message)]);
    expect(lines).toContain("line 2: no text");
    expect(lines.join("\n")).not.toContain("sk-secret");
  });

  test("remarks do not break conformance", async () => {
    const [first] = whole;
    const { code, lines } = await check([
      ...whole,
      first,
      envelope("session.end", { id: "not-a-uuid", data: { transcript_path: "here.jsonl", mood: "fine" } }),
      envelope("tool.end", { data: { tool_call_id: "t-9" } }),
      envelope("doc.write", { openhook: "0.2" }),
    ]);
    expect(code).toBe(0);
    expect(lines).toEqual([
      "line 6: remark: id: the same event as in line 1",
      "line 7: remark: id: is not a UUID",
      "line 7: remark: data.transcript_path: is not absolute",
      'line 7: remark: data: "mood" is not a field of this type; vendor fields belong under extensions',
      "line 8: remark: data.tool_call_id: no earlier tool.start has it",
      "line 9: remark: openhook: version 0.2 is read as 0.1",
      'line 9: remark: type: "doc.write" is not a type of OpenHook v0.1',
      "lines 1-9: both texts",
      "8 valid envelopes, 0 errors, 7 remarks",
      expect.stringMatching(/level 2/),
    ]);
  });

  test("says which text each line and each source conforms to, and why not", async () => {
    const inFolder = whole.map((one) => ({ ...one, cwd: "/home/dev/project" }));
    expect((await check(inFolder)).lines).toEqual([
      "lines 1-5: text cwd",
      "5 valid envelopes, 0 errors, 0 remarks",
      expect.stringMatching(/^acme-agent: OpenHook v0\.1, text cwd: level 2/),
      "acme-agent: OpenHook v0.1, text context: does not conform; " +
        'needed no errors (line 1: "cwd" is not a member, and 4 more)',
    ]);
    const write = envelope("file.write", { data: { path: "src/x.ts", tool_call_id: "t-1" } });
    const newer = [...whole.slice(0, 4), write, ...whole.slice(4)];
    const inContext = newer.map((one) => ({ ...one, context: "file:///home/dev/project" }));
    const { code, lines } = await check(inContext, { discovery: "convert/all.openhook.json" });
    expect(code).toBe(0);
    expect(lines).toEqual([
      "lines 1-6: text context",
      "6 valid envelopes, 0 errors, 0 remarks",
      "acme-agent: OpenHook v0.1, text cwd: does not conform; " +
        'needed no errors (line 1: "context" is not a member, and 5 more)',
      "acme-agent: OpenHook v0.1, text context: level 3 (discoverable)",
    ]);
    // Each line conforms to a text, the source to none
    const mixed = await check([inFolder[0], inContext[5]]);
    expect(mixed.code).toBe(1);
    expect(mixed.lines.slice(0, 2)).toEqual(["line 1: text cwd", "line 2: text context"]);
  });

  test.each<[string, object, RegExp]>([
    [
      "cwd and context together",
      { cwd: "/x", context: "file:///x" },
      /^line 1: error: text cwd: "context" is not a member$/,
    ],
    ["another member", { subject: "x" }, /^line 1: error: "subject" is not a member$/],
    [
      "a file.write without path",
      { type: "file.write", data: {} },
      /^line 1: error: text context: data\.path: is missing$/,
    ],
    ["line 0", { type: "file.write", data: { path: "x", start_line: 0 } }, /data\.start_line: /],
    ["a context that is no URI", { context: "here" }, /^line 1: remark: context: is not a URI$/],
    [
      "lines in reverse",
      { type: "file.write", data: { path: "x", start_line: 4, end_line: 2 } },
      /^line 1: remark: data\.end_line: is before data\.start_line$/,
    ],
    ["a model without provider", { type: "file.write", data: { path: "x", model: "m" } }, /remark: data\.model: /],
  ])("%s is noted", async (_name, change, message) => {
    expect((await check([envelope("session.end", change)])).lines).toContainEqual(expect.stringMatching(message));
  });

  test("one id for two events is an error", async () => {
    const [first, second] = whole;
    const { lines } = await check([first, { ...second, id: first?.id }]);
    expect(lines[0]).toBe("line 2: error: id: line 1 uses it for another event");
  });

  test("empty input is not valid; the output of convert is", async () => {
    expect((await run("", { validate: true })).code).toBe(1);
    for (const name of ["basic", "subagent", "two-sessions-at-once", "permission-denied"]) {
      const made = await run("", {}, recording(name));
      const { code, lines } = await run(made.lines.join("\n"), { validate: true });
      expect(lines.slice(0, 2), name).toEqual([
        `lines 1-${made.lines.length}: text cwd`,
        `${made.lines.length} valid envelopes, 0 errors, 0 remarks`,
      ]);
      expect(code).toBe(0);
    }
  });
});
