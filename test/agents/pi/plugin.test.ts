// Runs the extension as pi does: loads the installed file and calls its handlers, for helpers in further processes.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { adapter, toEntries } from "#agents/pi/adapter.ts";
import installer from "#agents/pi/installer.ts";
import { parseInboxFile } from "#collect/intake/inbox-file.ts";
import type { Event } from "#core/model/event-schema.ts";
import type { TranscriptEntry } from "#core/model/transcript.ts";
import { extrasOf } from "#core/rules/extras.lazy.ts";

const { recognises, toEvents } = adapter;

const HERE = dirname(fileURLToPath(import.meta.url));
const PROJECT = "/home/dev/acme-shop";
const target = { home: "/home/dev", project: PROJECT, env: {} };

/** One call of a handler: the event's name, the event, and the session of the process. */
interface Call {
  readonly event: string;
  readonly stdin: { readonly event: object; readonly context: Readonly<Record<string, unknown>> };
  readonly pid?: number;
}

let home = "";
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "openhook-pi-"));
  const folder = join(home, ".local", "share", "openhook-otel");
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, "hook.conf"),
    `state='${home}/state'\nnode='${process.execPath}'\nprogram='${home}/none'\n`,
  );
  const registration = { scope: "user", target, command: () => "", version: undefined } as const;
  const [file] = installer.add([{ path: "", text: undefined }], registration);
  writeFileSync(join(home, "extension.mjs"), file?.text ?? "");
  writeFileSync(join(home, "host.mjs"), HOST);
});
afterEach(() => rmSync(home, { recursive: true, force: true, maxRetries: 10 }));

/** A process that loads the extension, passes it events, and can start further processes. */
const HOST = `
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
const { default: extension } = await import("./extension.mjs");
const handlers = {};
extension({ on: (name, handler) => { (handlers[name] ??= []).push(handler); } });
for (const line of JSON.parse(readFileSync(process.argv[2], "utf8"))) {
  if (line.run !== undefined) {
    spawnSync(process.execPath, [process.argv[1], line.run], { stdio: "inherit" });
    continue;
  }
  const { context } = line.stdin;
  const sessionManager = { getSessionId: () => context.session_id, getSessionFile: () => context.session_file };
  for (const handler of handlers[line.event] ?? []) {
    const answer = await handler(line.stdin.event, { cwd: context.cwd, sessionManager });
    if (answer !== undefined) throw new Error("it answered");
  }
}
`;

/** Plays calls in a separate process. @returns what a drain finds in the inbox */
function play(calls: readonly (Call | { readonly run: string })[], env: NodeJS.ProcessEnv = {}) {
  const script = join(home, "calls.json");
  writeFileSync(script, JSON.stringify(calls));
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(home, "host.mjs"), script], {
    encoding: "utf8",
    env: { PATH: process.env["PATH"], HOME: home, OPENHOOK_OTEL_DRAIN: "off", ...env },
  });
  expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: "", stderr: "" });
  return written();
}

function written() {
  const inbox = join(home, "state", "inbox");
  const texts = existsSync(inbox) ? readdirSync(inbox).map((name) => readFileSync(join(inbox, name))) : [];
  const payloads = texts.map((text) => {
    const parsed = parseInboxFile(text, 0);
    if (!parsed.ok) throw new Error(parsed.reason);
    return { facts: parsed.facts, payload: JSON.parse(parsed.payload.toString()) };
  });
  const events = payloads.flatMap(({ payload, facts }) => {
    expect(recognises(payload, facts)).toBe("certain");
    return toEvents(payload, facts);
  });
  const entries = payloads.flatMap(({ payload, facts }) => toEntries(payload, facts));
  return { events, entries, texts: texts.map(String) };
}

const recorded = (name: string): readonly Call[] =>
  readFileSync(join(HERE, name, "hooks.jsonl"), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Call);

const typesOf = (events: readonly Event[]): readonly string[] => events.map(({ type }) => type).sort();
const callsIn = (entries: readonly TranscriptEntry[]) => [
  ...new Map(
    entries.flatMap((entry) => (entry.kind === "model_call" ? [[entry.key, entry.usage] as const] : [])),
  ).entries(),
];

describe("recordings", () => {
  const names = readdirSync(HERE, { withFileTypes: true }).flatMap((e) => (e.isDirectory() ? [e.name] : []));

  test.each(names)("%s: its files have no text, and give the same events and calls as pi's own", (name) => {
    const main = recorded(name).filter(({ stdin }) => stdin.context["session_file"] !== undefined);
    const direct = main.map(({ event, stdin }) => {
      const facts = { event, timeMs: 0, env: {}, payloadBytes: 0, truncated: false };
      return { events: toEvents(stdin, facts), entries: toEntries(stdin, facts) };
    });
    const { events, entries, texts } = play(main);
    const essence = (all: readonly Event[]) =>
      [...new Map(all.map((event) => [`${event.type} ${event.id}`, event])).values()]
        .filter(({ type }) => type !== "turn.error")
        .map((event) => ({ type: event.type, data: "data" in event ? event.data : undefined }))
        .map((event) => JSON.stringify(event))
        .sort();
    expect(essence(events)).toEqual(essence(direct.flatMap((one) => one.events)));
    expect(callsIn(entries).sort()).toEqual(callsIn(direct.flatMap((one) => one.entries)).sort());
    for (const text of texts)
      expect(text).not.toMatch(/acme-shop demo|A tiny demo|euros|Reading first|helper:|echo hi/);
  });
});

const PARENT = "01a210bf-0000-7000-8000-000000000001";
const context = {
  cwd: PROJECT,
  session_id: PARENT,
  session_file: `/home/dev/.pi/agent/sessions/--x--/t_${PARENT}.jsonl`,
};
const at = (event: object & { readonly type: string }, of: object = context): Call => ({
  event: event.type,
  stdin: { event, context: of as Call["stdin"]["context"] },
});
const answer = (timestamp: number, more: object = {}) => ({
  type: "message_end",
  message: {
    role: "assistant",
    timestamp,
    responseId: `r${timestamp}`,
    model: "coder",
    stopReason: "stop",
    usage: { input: 100, output: 10, cacheRead: 0, cacheWrite: 0 },
    ...more,
  },
});
const user = (timestamp: number) => ({
  type: "message_end",
  message: { role: "user", timestamp, content: "Sell apples" },
});
const alone = { cwd: PROJECT, session_id: "01a210bf-0000-7000-8000-000000000002" };

/** As pi 1.6.0 writes it when it compacts in the middle of a turn. */
const splitSummary = (before: string): string =>
  `${before}\n\n---\n\n**Turn Context (split turn):**\n\nApples are sold.`;

test.each([
  ["one request", "Apples are sold.", undefined],
  ["one request, as nothing was before the turn", splitSummary("No prior history."), undefined],
  ["the sum of two requests", splitSummary("Pears were sold."), "turn"],
])("the usage of a compaction can be %s; its text is not written", (_, summary, covers) => {
  const usage = { input: 70, output: 7, cacheRead: 0, cacheWrite: 0 };
  const compactionEntry = { id: "c1", timestamp: "2026-11-28T10:00:00.000Z", summary, usage };
  const { entries, texts } = play([at({ type: "session_compact", compactionEntry } as never)]);
  const [call, ...others] = entries.filter(({ kind }) => kind === "model_call");
  expect(others).toEqual([]);
  expect(call).toMatchObject({ purpose: "compaction", usage: { input: 70, output: 7 } });
  expect((call as { readonly covers?: string }).covers).toBe(covers);
  expect(texts.join()).not.toMatch(/Apples|Pears|Turn Context/);
});

describe("helpers", () => {
  test("a process without a file that a tool started belongs to the session and its call", () => {
    const script = join(home, "helper.json");
    const helper = [
      at({ type: "session_start" }, alone),
      at(user(2_000), alone),
      at(answer(2_100, { stopReason: "toolUse" }), alone),
      at({ type: "tool_execution_start", toolCallId: "call_2", toolName: "read" } as never, alone),
      at({ type: "tool_execution_end", toolCallId: "call_2", toolName: "read", isError: false } as never, alone),
      at(answer(2_200), alone),
      at({ type: "agent_end", messages: [] } as never, alone),
      at({ type: "session_shutdown", reason: "quit" } as never, alone),
    ];
    writeFileSync(script, JSON.stringify(helper));
    const { events, entries } = play([
      at({ type: "session_start" }),
      at(user(1_000)),
      at(answer(1_100, { stopReason: "toolUse" })),
      at({ type: "tool_execution_start", toolCallId: "call_1", toolName: "subagent" } as never),
      { run: script },
      at({ type: "tool_execution_end", toolCallId: "call_1", toolName: "subagent", isError: false } as never),
    ]);
    const ofHelper = events.filter((event) => event.session_id === "2100:r2100");
    expect(typesOf(ofHelper)).toEqual(
      ["model.end", "model.end", "subagent.end", "subagent.start", "tool.end", "tool.start"].sort(),
    );
    for (const event of ofHelper) expect(extrasOf(event).parent_session_id).toBe(PARENT);
    expect(new Set(events.map((event) => event.session_id))).toEqual(new Set([PARENT, "2100:r2100"]));
    expect(entries).toContainEqual(
      expect.objectContaining({ kind: "subagent", agentId: "2100:r2100", parentCallId: "call_1", timeMs: 2_000 }),
    );
    expect(callsIn(entries)).toHaveLength(3);
  });

  test("a process without a file that the user started is a session", () => {
    const { events } = play([at({ type: "session_start" }, alone), at(user(1_000), alone), at(answer(1_100), alone)]);
    expect(typesOf(events)).toEqual(["model.end", "prompt.submit", "session.start"]);
    expect(new Set(events.map((event) => event.session_id))).toEqual(new Set([alone.session_id]));
  });

  test("a process with a file is a session, no matter what started it", () => {
    const { events } = play([at({ type: "session_start" }), at(user(1_000))], { OPENHOOK_OTEL_PI_PARENT: "another" });
    for (const event of events) expect(extrasOf(event).parent_session_id).toBeUndefined();
    expect(typesOf(events)).toEqual(["prompt.submit", "session.start"]);
  });

  test("raw events of a helper, which our extension did not mark, are not needed: its parent reports it", () => {
    const facts = { event: "message_end", timeMs: 0, env: {}, payloadBytes: 0, truncated: false };
    const payload = at(answer(1_000), alone).stdin;
    expect(recognises(payload, facts)).toBe("certain");
    expect(toEvents(payload, facts)).toEqual([]);
    expect(toEntries(payload, facts)).toEqual([]);
  });
});

describe("failures", () => {
  const failed = (timestamp: number, errorMessage: string) =>
    answer(timestamp, { stopReason: "error", errorMessage, usage: {} });
  const end = (timestamp: number, errorMessage?: string) =>
    at({
      type: "agent_end",
      messages: [(errorMessage === undefined ? answer(timestamp) : failed(timestamp, errorMessage)).message],
    } as never);

  test("a request that pi repeats does not end the turn; the answer does", () => {
    const { events } = play([
      at(user(1_000)),
      at(failed(1_100, "503 overloaded")),
      end(1_100, "503 overloaded"),
      at({ type: "agent_start" }),
      at(answer(1_200)),
      end(1_200),
    ]);
    expect(typesOf(events).filter((type) => type.startsWith("turn"))).toEqual(["turn.end"]);
  });

  test("a failure that pi does not repeat, or no longer repeats, fails the turn", () => {
    const final = play([at(user(1_000)), at(failed(1_100, "400 bad")), end(1_100, "400 bad")]);
    expect(final.events.find(({ type }) => type === "turn.error")?.extensions).toMatchObject({ error_type: "400" });
    expect(final.entries.filter(({ kind }) => kind === "model_error")).toHaveLength(1);
    rmSync(join(home, "state"), { recursive: true });
    const tries = [1, 2, 3, 4].flatMap((n) => [
      at({ type: "agent_start" }),
      at(failed(n * 1_000, "503 overloaded")),
      end(n * 1_000, "503 overloaded"),
    ]);
    const givenUp = play([at(user(500)), ...tries]);
    expect(typesOf(givenUp.events).filter((type) => type.startsWith("turn"))).toEqual(["turn.error"]);
    expect(givenUp.entries.filter((entry) => entry.kind === "model_error")).toEqual([
      expect.objectContaining({ errorType: "503", httpStatus: 503, final: true }),
    ]);
  });
});

test("neither odd arguments nor a missing installation disturb pi", () => {
  const odd = [
    undefined,
    null,
    0,
    "x",
    [],
    {},
    { message: { role: "assistant", content: 7 } },
    { messages: [null, 1] },
  ];
  const names = [
    "session_start",
    "message_end",
    "tool_execution_start",
    "tool_result",
    "tool_execution_end",
    "agent_end",
  ];
  const calls = [...names, "session_shutdown"].flatMap((event) =>
    odd.map((value) => ({ event, stdin: { event: value, context: { session_id: "s" } } }) as never),
  );
  play(calls);
  rmSync(join(home, ".local"), { recursive: true });
  rmSync(join(home, "state"), { recursive: true, force: true });
  expect(play(calls).texts).toEqual([]);
});

test("the installer has one file in each scope, and keeps another file of that name", async () => {
  expect(await installer.paths("user", target)).toEqual(["/home/dev/.pi/agent/extensions/openhook-otel.js"]);
  expect(await installer.paths("project", target)).toEqual([`${PROJECT}/.pi/extensions/openhook-otel.js`]);
  const moved = { ...target, env: { PI_CODING_AGENT_DIR: "~/pi" } };
  expect(await installer.paths("user", moved)).toEqual(["/home/dev/pi/extensions/openhook-otel.js"]);
  const text = readFileSync(join(home, "extension.mjs"), "utf8");
  expect(text).toMatch(/^\/\/ openhook-otel extension for pi\n/);
  expect(installer.remove([{ path: "", text }])).toEqual([{ path: "", text: undefined }]);
  const foreign = "export default () => {};\n";
  expect(installer.remove([{ path: "", text: foreign }])).toEqual([{ path: "", text: foreign }]);
});
