import { describe, expect, test } from "vitest";
import { type LineState, lineState } from "#agents/claude-code/line-context.ts";
import { readLine } from "#agents/claude-code/lines.ts";
import { inputDigest } from "#agents/shared/payload/digest.ts";
import type { JsonLine } from "#agents/shared/transcript/json-line.ts";
import { TranscriptEntry } from "#core/model/transcript.ts";
import { limitEntries } from "#store/capture/limit-fields.ts";
import fc from "../../support/properties.ts";
import { runs } from "../../support/whole.ts";
import { readWith, shortLine, wholeLine } from "../shared/line.ts";

const AT_MS = Date.UTC(2026, 9, 5, 12);
const SECRET = "hunter2-in-the-orchard";
const FRESH: LineState = lineState(AT_MS - 1, { facts: "{}" });
type Json = Readonly<Record<string, unknown>>;

const line = (type: string, rest: Json = {}, ms = 0): Json => ({
  type,
  uuid: `uuid-${ms}`,
  timestamp: new Date(AT_MS + ms).toISOString(),
  ...rest,
});
const user = (content: unknown, rest: Json = {}, ms = 0) =>
  line("user", { message: { role: "user", content }, ...rest }, ms);
const assistant = (message: Json, rest: Json = {}, ms = 0) =>
  line(
    "assistant",
    { requestId: "req_1", message: { id: "msg_1", model: "claude-sonnet-4-5", ...message }, ...rest },
    ms,
  );
const result = (block: Json, rest: Json = {}, ms = 0) =>
  user([{ type: "tool_result", tool_use_id: "t1", ...block }], rest, ms);

/** Entries of consecutive lines. */
function entriesOf(lines: readonly Json[], state: LineState = FRESH, agentId?: string): readonly TranscriptEntry[] {
  let now = state;
  return lines.flatMap((o) => {
    const text = JSON.stringify(o);
    const read = readOne(wholeLine(text), now, agentId);
    // Cut long strings make no difference
    expect(readOne(shortLine(text), now, agentId)).toEqual(read);
    if (read === undefined) throw new Error(`unreadable: ${JSON.stringify(o)}`);
    now = read.state;
    return read.entries.map((entry) => TranscriptEntry.parse(entry));
  });
}

test("counts usage once if two answers of one request repeat it", () => {
  const usage = { input_tokens: 3, output_tokens: 60, cache_read_input_tokens: 5 };
  const of = (id: string, ms: number, rest: Json = {}, more: Json = usage): Json =>
    assistant({ id: `msg_${id}`, stop_reason: "tool_use", usage: more }, rest, ms);
  const outputs = (...lines: readonly Json[]) =>
    entriesOf(lines).map((entry) => (entry.kind === "model_call" ? entry.usage?.output : entry.kind));
  expect(outputs(of("a", 1), of("a", 2), of("b", 3), of("b", 4))).toEqual([60, 60, undefined, undefined]);
  expect(outputs(of("a", 1), of("b", 2), of("c", 3, { requestId: "req_2" }))).toEqual([60, undefined, 60]);
  expect(outputs(of("a", 1), of("b", 2, {}, { ...usage, output_tokens: 61 }))).toEqual([60, 61]);
  expect(outputs(of("a", 1), of("b", 2, { requestId: "req_2" }))).toEqual([60, 60]);
});

describe("user lines", () => {
  test("a prompt opens a turn, and later lines belong to it", () => {
    const [prompt, call] = entriesOf([
      user("Größe", { promptId: "p1" }),
      assistant({ stop_reason: "end_turn", usage: { input_tokens: 1, output_tokens: 2 } }, {}, 900),
    ]);
    expect(prompt).toMatchObject({ kind: "prompt", key: "prompt:uuid-0", promptKey: "p1", origin: "human", length: 5 });
    expect(call).toMatchObject({ kind: "model_call", promptKey: "p1", startMs: AT_MS, endMs: AT_MS + 900 });
  });

  test("old lines without prompt ids are identified by uuid, else by time and length", () => {
    expect(entriesOf([user("one")])[0]?.key).toBe("prompt:uuid-0");
    const nameless = { ...user("one"), uuid: undefined };
    const [first, again] = [entriesOf([nameless]), entriesOf([nameless])];
    expect(first[0]?.key).toBe(again[0]?.key);
    expect(entriesOf([{ ...user("other"), uuid: undefined }])[0]?.key).not.toBe(first[0]?.key);
  });

  test.each([
    ["<task-notification>done</task-notification>", {}, "machine"],
    ["watch", { promptSource: "system" }, "machine"],
    ["watch", { origin: { kind: "task-notification" } }, "machine"],
    ['<teammate-message teammate_id="ash">\nready\n</teammate-message>', {}, "machine"],
    ['<cross-session-message from-name="ash">ready</cross-session-message>', {}, "machine"],
    ["Another Claude session sent a message:\nready", {}, "machine"],
    ["Another Claude session sent a message: what is that?", {}, "human"],
    ["ready", { origin: { kind: "peer", name: "ash" } }, "machine"],
    ["ready", { promptId: "p1", isMeta: true, origin: { kind: "peer", name: "ash" } }, "machine"],
    ["go on", { promptId: "p1", isMeta: true, origin: { kind: "auto-continuation" } }, "machine"],
    ["watch", { origin: { kind: "human" }, promptSource: "sdk" }, "human"],
    ["watch", { origin: { kind: "channel", server: "chat" } }, "human"],
    ["<command-name>/clear</command-name>", {}, "command"],
    ["<command-name>/review</command-name>", { turnOrigin: "command" }, "human"],
    ["<command-message>review is running…</command-message>\n<command-name>/review</command-name>", {}, "human"],
    ["<bash-stdout>main</bash-stdout><bash-stderr></bash-stderr>", { turnOrigin: "human" }, "human"],
    ["fix it", {}, "human"],
  ])("%s %j has the origin %s", (text, rest, origin) => {
    expect(entriesOf([user(text, rest)])).toMatchObject([{ kind: "prompt", origin }]);
  });

  test.each([
    ["meta", { isMeta: true }],
    ["a summary", { isCompactSummary: true }],
    ["only for the screen", { isVisibleInTranscriptOnly: true }],
    ["next to a user's prompt", { isMeta: true, promptId: "p1", origin: { kind: "human" } }],
    ["next to a line that is no prompt", { isMeta: true, origin: { kind: "peer" } }],
  ])("a user line that the agent wrote for itself is no prompt: %s", (_, rest) => {
    expect(entriesOf([user("Caveat: …", rest)])).toEqual([]);
  });

  test("a message from another session during a turn starts no turn", () => {
    const sent = { isMeta: true, origin: { kind: "peer" } };
    const found = entriesOf([
      user("fix it", { promptId: "p1" }),
      user("ready", { ...sent, promptId: "p1" }, 1),
      user("ready", { ...sent, promptId: "p2" }, 2),
    ]);
    expect(found.map(({ promptKey }) => promptKey)).toEqual(["p1", "p2"]);
  });

  test("a user's shell command starts a turn only when it is sent to the model", () => {
    const printed = "<bash-stdout>main</bash-stdout><bash-stderr></bash-stderr>";
    expect(entriesOf([user("<bash-input>git branch</bash-input>"), user(printed)])).toEqual([]);
    const [prompt, call] = entriesOf([
      user("<bash-input>git branch</bash-input>", { promptId: "p2" }),
      user(printed, { promptId: "p2", turnOrigin: "human" }),
      assistant({ stop_reason: "end_turn", usage: { input_tokens: 1, output_tokens: 2 } }, {}, 900),
    ]);
    expect(prompt).toMatchObject({ kind: "prompt", promptKey: "p2", origin: "human" });
    expect(prompt).not.toHaveProperty("length"); // the length would be that of the output
    expect(call).toMatchObject({ kind: "model_call", promptKey: "p2" });
  });

  const REVIEW = "<command-message>review</command-message>\n<command-name>/review</command-name>";

  test.each([
    [REVIEW, "/review"],
    [`${REVIEW}\n<command-args></command-args>`, "/review"],
    [`${REVIEW}\n<command-args>a.ts\n<b></command-args>`, "/review a.ts\n<b>"],
    ['<command-message>The "sk" skill is running</command-message>\n<command-name>sk</command-name>', undefined],
  ])("a command that reaches the model has the length of the typed text: %j", (text, typed) => {
    const [prompt] = entriesOf([user(text)]);
    expect(prompt).toMatchObject({ kind: "prompt" });
    expect(prompt?.kind === "prompt" ? prompt.length : 0).toBe(typed?.length);
  });

  test.each([
    ["2.1.100", ["p1", "uuid-1", "uuid-2", "p1", "uuid-4"]],
    ["2.1.120", ["p1", "p1", "p1", "p1", "p1"]],
  ])("a command opens a separate turn also in versions that give it the previous prompt's id: %s", (version, keys) => {
    const lines = ["fix it", REVIEW, REVIEW, "and test it", "<command-name>/exit</command-name>"].map((text, ms) =>
      user(text, { promptId: "p1", version }, ms),
    );
    const prompts = entriesOf(lines).filter(({ kind }) => kind === "prompt");
    expect(prompts.map(({ promptKey }) => promptKey)).toEqual(keys);
  });

  test("a command that the model called is no prompt", () => {
    const launched = { toolUseResult: { success: true, commandName: "review" } };
    const found = entriesOf([
      user("fix it"),
      result({ content: "Launching command: /review" }, { ...launched, uuid: "launch" }, 1),
      user(REVIEW, { parentUuid: "launch" }, 2),
      user("Review it", { isMeta: true, parentUuid: "uuid-2" }, 2),
      user(REVIEW, { parentUuid: "another", sourceToolUseID: "t1" }, 3),
      user(REVIEW, { parentUuid: "uuid-3" }, 4),
    ]);
    expect(found.map(({ kind, key }) => [kind, key])).toEqual([
      ["prompt", "prompt:uuid-0"],
      ["tool_result", "result:t1"],
      ["prompt", "prompt:uuid-4"],
    ]);
  });

  test("an interruption is recognised by its text or its message id", () => {
    expect(entriesOf([user("[Request interrupted by user]")])).toMatchObject([{ kind: "interruption" }]);
    expect(entriesOf([user("no", { interruptedMessageId: "msg_1" })])).toMatchObject([{ kind: "interruption" }]);
  });

  test("a fork's copies use the original ids, and start a turn only if they are answered", () => {
    const copy = (from: string): Json => ({ promptId: "p1", forkedFrom: { sessionId: "s", messageUuid: from } });
    expect(entriesOf([user("fix it", copy("uuid-first"))])).toMatchObject([
      { kind: "prompt", key: "prompt:uuid-first", globalKey: "prompt:uuid-first", promptKey: "p1", origin: "command" },
    ]);
    expect(entriesOf([user("fix it", copy("uuid-0"))])).toMatchObject([{ key: "prompt:uuid-0", origin: "human" }]);
    expect(entriesOf([user("[Request interrupted by user]", copy("uuid-first"))])).toEqual([]);
    const boundary = { subtype: "compact_boundary", compactMetadata: { trigger: "auto" } };
    expect(entriesOf([line("system", { ...boundary, ...copy("uuid-first") })])).toEqual([]);
  });

  test("subagent files and sidechains have no prompts", () => {
    expect(entriesOf([user("look for it")], FRESH, "a1")).toEqual([]);
    expect(entriesOf([user("look for it", { isSidechain: true })])).toEqual([]);
  });
});

/** The agent writes this for a call that the user refused, and for one that was interrupted. */
const REFUSAL = { content: "The user doesn't want to proceed with this tool use.", is_error: true };
const DENIED_FILE = "File is in a directory that is denied by your permission settings.";
const FAILED = { status: "error" };
/** Wording of versions 1.0 to 2.1; most of them mark refusals in no other way. */
const REFUSED = [
  "Permission for this action was denied by the Claude Code auto mode classifier. Reason: [x].",
  "Hook PreToolUse:Bash denied this tool",
  "Bash operation blocked by hook:\n- [check.sh]: no",
  "This command requires approval",
  "This Bash command contains multiple operations. The following part requires approval: git push",
  "This PowerShell command contains multiple operations. The following parts require approval: a, b",
  "Agent type 'Explore' has been denied by permission rule 'Task(Explore)' from settings.",
  "ls in '/srv' was blocked. For security, Claude Code may only list files in the allowed working directories",
];
const REJECTED = { permissionDecision: { decision: "reject", source: "user_reject" } };

describe("tool results", () => {
  test.each([
    [{ content: "done" }, {}, { status: "success" }],
    [{ content: "Exit code 3\nno", is_error: true }, {}, { status: "error", exitCode: 3 }],
    [
      { content: "no", is_error: true },
      { toolUseResult: { interrupted: true } },
      { status: "error", errorType: "interrupted" },
    ],
    [{ content: "no", is_error: true }, { permissionDecision: { decision: "reject" } }, { status: "denied" }],
    [{ content: "no", is_error: true }, { toolDenialKind: "rule" }, { status: "denied" }],
    [{ content: "The user doesn't want to proceed", is_error: true }, {}, { status: "denied" }],
    [{ content: "Permission to use Bash has been denied", is_error: true }, {}, { status: "denied" }],
    [{ content: "Permission to read /home/dev/x has been denied.", is_error: true }, {}, { status: "denied" }],
    [{ content: `<tool_use_error>${DENIED_FILE}</tool_use_error>`, is_error: true }, {}, { status: "denied" }],
    [{ content: "<tool_use_error>File does not exist.</tool_use_error>", is_error: true }, {}, { status: "error" }],
    [{ content: "PreToolUse:Bash hook error: no", is_error: true }, {}, { status: "denied" }],
    [{ content: "cat: x\nls in '/srv' was blocked. For security, Claude Code may", is_error: true }, {}, FAILED],
    [{ content: "This command is not known", is_error: true }, {}, FAILED],
    [
      { content: "<tool_use_error>Sibling tool call errored</tool_use_error>", is_error: true },
      {},
      { status: "error", errorType: "interrupted" },
    ],
    [
      { content: "<tool_use_error>Cancelled: parallel tool call Bash(ls) errored</tool_use_error>", is_error: true },
      {},
      { status: "error", errorType: "interrupted" },
    ],
    [{ content: "[Tool call interrupted: the process ended]", is_error: true }, {}, { status: "unfinished" }],
    [{ content: "no", is_error: true }, { toolDenialKind: "interrupted" }, { status: "error" }],
    [{ content: "no", is_error: true }, { toolDenialKind: "cancelled" }, { status: "error", errorType: "interrupted" }],
    [REFUSAL, { toolDenialKind: "user-rejected", version: "2.1.329" }, { status: "error", errorType: "interrupted" }],
    [REFUSAL, { toolDenialKind: "user-rejected", version: "2.1.300" }, { status: "denied" }],
    [REFUSAL, { toolDenialKind: "user-rejected", version: "2.1.329", ...REJECTED }, { status: "denied" }],
    [REFUSAL, { toolDenialKind: "user-rejected", version: "2.1.329", toolDenialBeforeRun: true }, { status: "denied" }],
    [{ content: "Permission to use Bash, said the log" }, {}, { status: "success" }],
    [{ content: "ok" }, { toolUseResult: { agentId: "a1" } }, { status: "success", spawnedAgentId: "a1" }],
    [
      { content: "ok" },
      { toolUseResult: { structuredPatch: [{ lines: ["+a", "-b", "-c"] }] } },
      { linesAdded: 1, linesRemoved: 2 },
    ],
  ])("%j %j", (block, rest, expected) => {
    const found = entriesOf([result(block, rest)]).filter(({ kind }) => kind !== "session");
    expect(found).toMatchObject([{ kind: "tool_result", callId: "t1", ...expected }]);
  });

  test.each(REFUSED)("a refusal: %s", (content) => {
    expect(entriesOf([result({ content, is_error: true })])).toMatchObject([{ status: "denied" }]);
    expect(entriesOf([result({ content })])).toMatchObject([{ status: "success" }]);
  });

  test("ids that a provider numbers per conversation are not unique across sessions", () => {
    const namesOf = (id: string, answer: string, ms: number) =>
      entriesOf([
        assistant({ id: answer, content: [{ type: "tool_use", id, name: "Bash", input: {} }] }, {}, ms),
        result({ tool_use_id: id, content: "ok" }, {}, ms + 1),
      ]).flatMap(({ kind, key, globalKey }) => (kind === "model_call" ? [] : [[key, globalKey]]));
    for (const id of ["Bash:0", "functions.Bash:12", "call_0", "7"]) {
      const [one, other] = [namesOf(id, "msg_1", 0), namesOf(id, "msg_2", 5)];
      expect(one.map(([key]) => key)).toEqual([`use:${id}#msg_1:req_1`, `result:${id}#msg_1:req_1`]);
      // A fork's copy has the same key
      expect(namesOf(id, "msg_1", 0)).toEqual(one);
      expect(one.filter(([, name]) => other.some(([, another]) => another === name))).toEqual([]);
    }
    for (const id of ["toolu_01A8gq", "toolu_1", "call_00_Nb7Xk2QpLr9TzVw3Ys5M_0", "chatcmpl-tool-3f2a"]) {
      expect(namesOf(id, "msg_1", 0)).toEqual([`use:${id}`, `result:${id}`].map((key) => [key, key]));
    }
  });

  test("a result belongs to the last call with its id in the same agent", () => {
    const use = (answer: string, ms: number, rest: Json = {}) =>
      assistant({ id: answer, content: [{ type: "tool_use", id: "Bash:0", name: "Bash", input: {} }] }, rest, ms);
    const ok = (ms: number, rest: Json = {}) => result({ tool_use_id: "Bash:0", content: "ok" }, rest, ms);
    const [one, two, three] = [1, 2, 3].map((n) => `msg_01AbCdEfGhIj${n}`) as [string, string, string];
    const inside = { isSidechain: true, agentId: "a1" };
    const lines = [use(one, 1), ok(2), use(two, 3), use(three, 4, inside), ok(5), ok(6, inside), ok(7)];
    const calls = entriesOf(lines).flatMap((entry) =>
      entry.kind === "tool_use" || entry.kind === "tool_result" ? [[entry.kind, entry.callId, entry.agentId]] : [],
    );
    expect(calls).toEqual([
      ["tool_use", `Bash:0#${one}`, undefined],
      ["tool_result", `Bash:0#${one}`, undefined],
      ["tool_use", `Bash:0#${two}`, undefined],
      ["tool_use", `Bash:0#${three}`, "a1"],
      ["tool_result", `Bash:0#${two}`, undefined],
      ["tool_result", `Bash:0#${three}`, "a1"],
      ["tool_result", `Bash:0#${two}`, undefined],
    ]);
  });

  test("several results in one line are separate entries", () => {
    const blocks = ["t1", "t2"].map((id) => ({ type: "tool_result", tool_use_id: id, content: "ok" }));
    expect(entriesOf([user(blocks)]).map((e) => e.key)).toEqual(["result:t1", "result:t2"]);
  });
});

describe("assistant lines", () => {
  test("an answer whose counts are all zero has unknown usage", () => {
    const nothing = { input_tokens: 0, output_tokens: 0, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 };
    const [call] = limitEntries(
      entriesOf([assistant({ stop_reason: "end_turn", stop_details: null, usage: nothing })]),
    );
    expect(call).toMatchObject({ kind: "model_call", complete: true });
    expect(call).not.toHaveProperty("usage");
    const [cached] = entriesOf([
      assistant({ stop_reason: "end_turn", usage: { ...nothing, cache_read_input_tokens: 9 } }),
    ]);
    expect(cached).toMatchObject({ usage: { input: 9, output: 0, cacheRead: 9 } });
  });

  test("an answer in fast mode, another service tier or one region has its tier", () => {
    const tierOf = (speed?: unknown, rest: Json = {}) => {
      const usage = { input_tokens: 3, output_tokens: 9, ...(speed !== undefined && { speed }), ...rest };
      const [call] = entriesOf([assistant({ stop_reason: "end_turn", usage })]);
      return call?.kind === "model_call" && call.tier;
    };
    expect([tierOf("fast"), tierOf("standard"), tierOf(null), tierOf()]).toEqual([
      "fast",
      undefined,
      undefined,
      undefined,
    ]);
    for (const tier of ["priority", "batch", "flex"]) expect(tierOf("standard", { service_tier: tier })).toBe(tier);
    for (const tier of ["standard", null, ""]) expect(tierOf("standard", { service_tier: tier })).toBeUndefined();
    expect(tierOf("standard", { inference_geo: "us" })).toBeTruthy();
    for (const geo of ["not_available", "global", "", null])
      expect(tierOf("standard", { inference_geo: geo })).toBeUndefined();
  });

  test("cache writes by lifetime are their sum if it is missing, and cut to it if they exceed it", () => {
    const written = (rest: Json) => {
      const usage = {
        input_tokens: 10,
        output_tokens: 9,
        cache_read_input_tokens: 0,
        cache_creation: { ephemeral_5m_input_tokens: 20, ephemeral_1h_input_tokens: 30 },
        ...rest,
      };
      const [call] = limitEntries(entriesOf([assistant({ stop_reason: "end_turn", usage })]));
      return call?.kind === "model_call" ? call.usage : undefined;
    };
    expect(written({})).toMatchObject({ input: 60, cacheWrite: 50, cacheWrite5m: 20, cacheWrite1h: 30 });
    expect(written({ cache_creation_input_tokens: 0 })).toMatchObject({
      input: 10,
      cacheWrite: 0,
      cacheWrite5m: 0,
      cacheWrite1h: 0,
    });
  });

  test("advisor calls and server-side compactions count as separate model calls", () => {
    const pass = (type: string, input: number, output: number, rest: Json = {}) => ({
      type,
      input_tokens: input,
      output_tokens: output,
      cache_read_input_tokens: 7,
      ...rest,
    });
    const usage = {
      input_tokens: 412,
      output_tokens: 531,
      iterations: [
        pass("message", 412, 89),
        pass("advisor_message", 823, 1612, { model: "claude-opus-4-6" }),
        pass("compaction", 180_000, 3500),
        { type: "advisor_message", model: "claude-opus-4-6" },
        pass("message", 0, 442),
      ],
    };
    const message = { stop_reason: "tool_use", stop_details: null, usage };
    const calls = entriesOf([
      assistant({ ...message, content: [{ type: "text", text: "one" }] }),
      assistant({ ...message, content: [{ type: "text", text: "two" }] }, {}, 5),
    ]).filter(({ kind }) => kind === "model_call");
    const merged = [...new Set(calls.map(({ key }) => key))];
    expect(merged).toEqual(["response:msg_1:req_1", "response:msg_1:req_1:1", "response:msg_1:req_1:2"]);
    expect(calls.slice(0, 3)).toMatchObject([
      { model: "claude-sonnet-4-5", usage: { input: 412, output: 531 } },
      {
        model: "claude-opus-4-6",
        usage: { input: 830, output: 1612, cacheRead: 7 },
        complete: true,
        asksForTools: true,
      },
      { model: "claude-sonnet-4-5", usage: { input: 180_007, output: 3500 }, complete: true },
    ]);
  });

  test("a model's output before it refused counts separately from the fallback model's answer", () => {
    const pass = (type: string, model: string, output: number, rest: Json = {}) => ({
      type,
      model,
      input_tokens: 2,
      output_tokens: output,
      cache_read_input_tokens: 700,
      ...rest,
    });
    const answered = (...iterations: readonly Json[]) =>
      entriesOf([
        assistant({
          model: "claude-opus-4-8",
          stop_reason: "end_turn",
          stop_details: null,
          usage: { input_tokens: 2, output_tokens: 1365, cache_read_input_tokens: 790, iterations },
        }),
      ]).filter(({ kind }) => kind === "model_call");
    const last = pass("fallback_message", "claude-opus-4-8", 1365, { cache_read_input_tokens: 790 });
    expect(answered(pass("message", "claude-fable-5", 57, { cache_creation_input_tokens: 104 }), last)).toMatchObject([
      { model: "claude-opus-4-8", usage: { input: 792, output: 1365 } },
      {
        key: "response:msg_1:req_1:0",
        model: "claude-fable-5",
        usage: { input: 806, output: 57, cacheRead: 700, cacheWrite: 104 },
        complete: true,
      },
    ]);
    // Refused without output; the fallback model called first; several passes of one model
    expect(answered(pass("message", "claude-fable-5", 0), last)).toHaveLength(1);
    expect(answered(last)).toHaveLength(1);
    expect(answered(pass("message", "claude-opus-4-8", 900), pass("message", "claude-opus-4-8", 465))).toHaveLength(1);
  });

  test("input includes cache reads and writes; cache lifetimes and thinking are parts of the counts", () => {
    const usage = {
      input_tokens: 12,
      output_tokens: 96,
      cache_read_input_tokens: 100,
      cache_creation_input_tokens: 50,
      cache_creation: { ephemeral_5m_input_tokens: 20, ephemeral_1h_input_tokens: 30 },
      output_tokens_details: { thinking_tokens: 40 },
    };
    expect(entriesOf([assistant({ usage, stop_reason: "tool_use" })])).toMatchObject([
      {
        key: "response:msg_1:req_1",
        globalKey: "response:msg_1:req_1",
        complete: true,
        finishReason: "tool_use",
        usage: {
          input: 162,
          output: 96,
          cacheRead: 100,
          cacheWrite: 50,
          cacheWrite5m: 20,
          cacheWrite1h: 30,
          reasoning: 40,
        },
      },
    ]);
  });

  test.each([
    [{ version: "2.1.250" }, { iterations: [] }, {}, false],
    [{ version: "2.1.329" }, { iterations: null }, {}, false],
    [{ version: "2.1.250" }, { iterations: [] }, { stop_details: null }, true],
    [{ version: "2.1.120" }, { iterations: [] }, {}, true],
    [{ version: "2.1.329" }, {}, {}, true],
    [{}, { iterations: [] }, {}, true],
  ])("the stop reason of an answer whose stream broke off is ignored: %j %j %j", (rest, more, message, complete) => {
    const usage = { input_tokens: 12, output_tokens: 3, ...more };
    const entries = entriesOf([assistant({ usage, stop_reason: "end_turn", ...message }, rest)]);
    expect(entries.find(({ kind }) => kind === "model_call")).toMatchObject({ complete });
  });

  test("versions whose hooks have no call ids get an input digest, however long the input", () => {
    const input = { file_path: "/home/dev/shop/a.txt", content: "pears\n".repeat(5_000) };
    const digests = ["2.0.42", "2.0.44"].map((version) => {
      const content = [{ type: "tool_use", id: "t1", name: "Write", input }];
      const use = entriesOf([assistant({ content }, { version })]).find(({ kind }) => kind === "tool_use");
      return use?.kind === "tool_use" && use.inputDigest;
    });
    expect(digests).toEqual([inputDigest(input), undefined]);
  });

  test("an answer that was not streamed keeps its stop reason, also without stop details", () => {
    const usage = { input_tokens: 12, output_tokens: 30, iterations: [] };
    const content = [
      { type: "text", text: "Listing." },
      { type: "tool_use", id: "t1", name: "Bash", input: { command: "ls" } },
    ];
    const entries = entriesOf([assistant({ usage, content, stop_reason: "tool_use" }, { version: "2.1.329" })]);
    expect(entries.find(({ kind }) => kind === "model_call")).toMatchObject({ complete: true });
  });

  test("missing counts are unknown, not zero", () => {
    const [bare] = entriesOf([assistant({ usage: { input_tokens: 12, output_tokens: 3 } })]);
    expect(bare).toMatchObject({ usage: { input: 12, output: 3 }, complete: false });
    const [none] = entriesOf([assistant({})]);
    expect(none?.kind === "model_call" && none.usage).toBeUndefined();
  });

  test("tool uses name the executable if it is a known one", () => {
    const content = [
      { type: "text", text: SECRET },
      { type: "tool_use", id: "t1", name: "Bash", input: { command: `git log --author ${SECRET}` } },
      { type: "tool_use", id: "t2", name: "Bash", input: { command: `echo $(cat ${SECRET})` } },
    ];
    const [, first, second] = entriesOf([assistant({ content })]);
    expect(first).toMatchObject({ kind: "tool_use", callId: "t1", name: "Bash", executable: "git" });
    expect(second).not.toHaveProperty("executable");
  });

  test("a model call starts at the time of its request", () => {
    const [call] = entriesOf([
      line("api-request", { id: "r1" }, 50),
      assistant({ usage: { input_tokens: 1, output_tokens: 1 } }, { requestRef: "r1" }, 900),
    ]);
    expect(call).toMatchObject({ startMs: AT_MS + 50, endMs: AT_MS + 900 });
  });

  test("a synthetic answer is no model call; with an API error it fails the turn", () => {
    expect(entriesOf([assistant({ model: "<synthetic>" })])).toEqual([]);
    const failed = assistant(
      { model: "<synthetic>" },
      { isApiErrorMessage: true, apiErrorType: "rate_limit", apiErrorStatus: 429 },
    );
    expect(entriesOf([failed])).toMatchObject([
      { kind: "model_error", errorType: "rate_limit", httpStatus: 429, final: true },
    ]);
  });
});

describe("other lines", () => {
  test("structured output ends the turn, since no answer follows it", () => {
    const attached = (type: string) => line("attachment", { attachment: { type, data: { plums: 5 } } }, 5);
    const turnEnds = (type: string, agentId?: string) =>
      entriesOf([user("Count", { promptId: "p1" }), attached(type)], FRESH, agentId).filter(
        ({ kind }) => kind === "turn_end",
      );
    expect(turnEnds("structured_output")).toMatchObject([{ promptKey: "p1", timeMs: AT_MS + 5 }]);
    expect([turnEnds("todo_reminder"), turnEnds("structured_output", "a1")]).toEqual([[], []]);
  });

  test.each([
    [
      { subtype: "api_error", error: { status: 529 } },
      { kind: "model_error", errorType: "529", final: false },
    ],
    [
      { subtype: "compact_boundary", compactMetadata: { trigger: "auto" }, uuid: "u7" },
      { kind: "compaction", trigger: "auto", globalKey: "compaction:u7" },
    ],
    [
      { subtype: "turn_duration", durationMs: 1200 },
      { kind: "turn_end", durationMs: 1200 },
    ],
  ])("system %j", (rest, expected) => {
    expect(entriesOf([line("system", rest)])).toMatchObject([expected]);
  });

  test("sums reported by the agent are separate entries", () => {
    const modelUsage = {
      opus: { inputTokens: 1, cacheReadInputTokens: 2, cacheCreationInputTokens: 3, outputTokens: 4, costUSD: 0.5 },
    };
    expect(entriesOf([line("cost-state", { modelUsage })])).toMatchObject([
      { kind: "reported_usage", byModel: { opus: { input: 6, output: 4, cacheRead: 2, cacheWrite: 3, costUsd: 0.5 } } },
    ]);
  });

  test("session facts are recorded once, and again when they change", () => {
    const facts = { version: "2.1.329", cwd: "/home/dev/acme-shop", gitBranch: "main" };
    const lines = [user("one", facts), user("two", facts, 1), user("three", { ...facts, gitBranch: "fix" }, 2)];
    const found = entriesOf(lines, lineState(0)).filter((e) => e.kind === "session");
    expect(found).toMatchObject([{ gitBranch: "main", agentVersion: "2.1.329" }, { gitBranch: "fix" }]);
  });

  test("the branch in the stub HEAD of a repository with reftable references is unknown", () => {
    const facts = { version: "2.1.329", cwd: "/home/dev/acme-shop", gitBranch: ".invalid" };
    const [found] = entriesOf([user("one", facts)], lineState(0)).filter((e) => e.kind === "session");
    expect(found).toMatchObject({ cwd: "/home/dev/acme-shop" });
    expect(found).not.toHaveProperty("gitBranch");
  });

  test("ignored kinds and lines without a time give no entries", () => {
    expect(
      entriesOf([line("attachment"), line("summary"), line("file-history-snapshot"), { type: "user-like" }]),
    ).toEqual([]);
    expect(entriesOf([{ ...user("one"), timestamp: "yesterday" }])).toMatchObject([{ timeMs: AT_MS - 1 }]);
  });
});

describe("long strings", () => {
  // Readers check the beginning of some strings and the length of others
  const beginnings = [
    "",
    "<task-notification>",
    "[Tool use interrupted",
    "Exit code 2\n",
    "Permission to use ",
    `${"/home/dev".repeat(30)} was blocked. For security, Claude Code may only write below it\n`,
    "git ",
    "gh; ",
  ];
  const long = fc
    .tuple(
      fc.constantFrom(...beginnings),
      fc.constantFrom("x", "\\", '"', "\n", "ß", "漢", "🙂", "\u0000", " "),
      fc.nat(1_200),
    )
    .map(([beginning, letter, times]) => beginning + letter.repeat(times));
  const block = fc.record(
    {
      type: fc.constantFrom("text", "tool_use", "tool_result", "thinking"),
      id: fc.oneof(fc.constant("t1"), long),
      tool_use_id: fc.oneof(fc.constant("t1"), long),
      name: fc.oneof(fc.constant("Bash"), long),
      text: long,
      content: long,
      is_error: fc.boolean(),
      input: fc.record({ command: long, file_path: long }, { requiredKeys: [] }),
    },
    { requiredKeys: ["type"] },
  );
  const result = fc.oneof(
    long,
    fc.record(
      {
        type: fc.constantFrom("create", "update"),
        content: long,
        agentId: fc.oneof(fc.constant("a1"), long),
        interrupted: fc.boolean(),
        structuredPatch: fc.array(fc.record({ lines: fc.array(long, { maxLength: 3 }) }), { maxLength: 2 }),
      },
      { requiredKeys: [] },
    ),
  );
  const any = fc.record(
    {
      type: fc.constantFrom("user", "assistant", "system", "api-request", "cost-state", "attachment"),
      uuid: fc.oneof(fc.constant("u1"), long),
      promptId: fc.oneof(fc.constant("p1"), long),
      cwd: fc.oneof(fc.constant("/home/dev/shop"), long),
      id: fc.oneof(fc.constant("r1"), long),
      requestId: long,
      message: fc.record(
        {
          id: fc.oneof(fc.constant("m1"), long),
          model: fc.oneof(fc.constant("claude-sonnet-4-5"), long),
          stop_reason: fc.constantFrom("tool_use", "end_turn"),
          usage: fc.constant({ input_tokens: 1, output_tokens: 2 }),
          content: fc.oneof(long, fc.array(block, { maxLength: 3 })),
        },
        { requiredKeys: [] },
      ),
      toolUseResult: result,
      modelUsage: fc.dictionary(long, fc.constant({ inputTokens: 1, outputTokens: 1 }), { maxKeys: 2 }),
      timestamp: fc.constant("2026-10-05T12:00:00.000Z"),
    },
    { requiredKeys: ["type"] },
  );

  test("a line with them cut gives the entries of the whole line", () => {
    fc.assert(
      fc.property(any, (o) => {
        const text = JSON.stringify(o);
        expect(readOne(shortLine(text), FRESH, undefined)).toEqual(readOne(wholeLine(text), FRESH, undefined));
      }),
      { numRuns: runs(2_000) },
    );
  });

  test.each([
    ["", 0],
    ["x".repeat(100), 1],
  ])("an error is read without its rest if its first line is short enough: %j", (before, times) => {
    const error = `${before}Exit code 2\n${"x".repeat(1_000)}`;
    const content = [{ type: "tool_result", tool_use_id: "t1", is_error: true, content: error }];
    const text = JSON.stringify({ type: "user", uuid: "u1", message: { content }, toolUseResult: `Error: ${error}` });
    const { bytes, ...line } = shortLine(text);
    let wholeReads = 0;
    const counted = {
      ...line,
      get bytes() {
        wholeReads++;
        return bytes;
      },
    };
    expect(readOne(counted, FRESH, undefined)).toEqual(readOne(wholeLine(text), FRESH, undefined));
    expect(wholeReads).toBe(times);
  });
});

describe("robustness", () => {
  test.each(["", "{", '{"type":"user"', "null", "42", '"user"', '[{"type":"user"}]', "\u0000\u0001"])("%j", (text) => {
    const read = readOne(wholeLine(text), FRESH, undefined);
    expect(read === undefined || read.entries.length === 0).toBe(true);
  });

  test("NUL bytes before a line, as after a machine crash, are ignored", () => {
    const text = JSON.stringify(user(`look at this: ${"x".repeat(4_000)}`));
    const read = readOne(wholeLine(text), FRESH, undefined);
    expect(read?.entries).toHaveLength(1);
    for (const zeros of ["\0", "\0".repeat(4_096)]) {
      expect(readOne(wholeLine(zeros + text), FRESH, undefined)).toEqual(read);
      expect(readOne(shortLine(zeros + text), FRESH, undefined)).toEqual(read);
    }
    expect(readOne(wholeLine("\0".repeat(99)), FRESH, undefined)).toBeUndefined();
  });

  test("an incomplete line of a known type is unreadable", () => {
    expect(readOne(wholeLine('{"type":"user","mess'), FRESH, undefined)).toBeUndefined();
  });

  test("any JSON in the members gives valid entries", () => {
    const type = fc.constantFrom("user", "assistant", "system", "api-request", "cost-state");
    const names = [
      "message",
      "uuid",
      "timestamp",
      "toolUseResult",
      "subtype",
      "error",
      "modelUsage",
      "promptId",
      "origin",
    ];
    const rest = fc.dictionary(fc.constantFrom(...names), fc.jsonValue({ maxDepth: 4 }));
    fc.assert(
      fc.property(type, rest, fc.option(fc.constant("a1"), { nil: undefined }), (kind, fields, agentId) => {
        entriesOf([{ type: kind, ...fields }], FRESH, agentId);
      }),
      { numRuns: runs(500) },
    );
  });

  test("nesting as deep as JSON allows causes no stack overflow", () => {
    const nest = `${"[".repeat(20_000)}${"]".repeat(20_000)}`;
    const text = `{"type":"user","message":{"content":"hello","deep":${nest}},"toolUseResult":${nest}}`;
    expect(readOne(wholeLine(text), FRESH, undefined)?.entries).toMatchObject([{ kind: "prompt" }]);
  });

  test("entries have no content: no text, argument or result", () => {
    const content = [
      { type: "text", text: SECRET },
      { type: "thinking", thinking: SECRET },
      { type: "tool_use", id: "t1", name: "Bash", input: { command: SECRET, file_path: SECRET } },
    ];
    const entries = entriesOf([
      user(SECRET),
      assistant({ content, usage: { input_tokens: 1, output_tokens: 1 } }, {}, 1),
      result({ content: `Exit code 1\n${SECRET}`, is_error: true }, { toolUseResult: `Error: ${SECRET}` }, 2),
      line("system", { subtype: "api_error", error: { status: 500, message: SECRET } }, 3),
    ]);
    expect(entries.length).toBe(5);
    expect(JSON.stringify(entries)).not.toContain(SECRET);
  });
});

function readOne(line: JsonLine, state: LineState, agentId: string | undefined) {
  return readWith(state, (next, sink) => readLine(line, next, agentId, sink));
}
