import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import reader from "#agents/vibe/transcript.ts";
import { INITIAL_OFFSET } from "#core/model/initial-offset.ts";
import { type Offset, TranscriptEntry } from "#core/model/transcript.ts";
import { withoutKnownCalls } from "#core/rules/calls.ts";
import { mergeEntries } from "#core/rules/merge.ts";
import { locateAll } from "../../support/located.ts";
import { CASES } from "../../support/replay.ts";

const SESSION = "5f8637b7-83b3-60f7-0aa4-36b3c0655083";
const T = 1_795_578_839_000;
let home = "";
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "openhook-vibe-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true, maxRetries: 10 }));

const unified = (): string => join(home, ".vibe", "logs", "session", "unified");
const folderOf = (session = SESSION): string => join(unified(), session);
function put(path: string, content: unknown): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
}

/** Entries by key, merged as in the store, over all readings of a test. */
class Reading {
  readonly byKey = new Map<string, TranscriptEntry>();
  #next = new Map<string, Offset>();

  async read(session = SESSION): Promise<this> {
    const roots = reader.roots(home, {});
    for (const file of await reader.files({ sessionId: session, home, roots })) {
      for await (const batch of reader.read({ ...file, roots }, this.#next.get(file.path) ?? INITIAL_OFFSET)) {
        this.#next.set(file.path, JSON.parse(JSON.stringify(batch.next)) as Offset);
        for (const entry of batch.entries) {
          expect(TranscriptEntry.safeParse(entry).error).toBeUndefined();
          const known = this.byKey.get(entry.key);
          this.byKey.set(entry.key, known === undefined ? entry : mergeEntries(known, entry));
        }
      }
    }
    return this;
  }

  /** The entries that count: sums exclude the calls that are known. */
  get entries(): readonly TranscriptEntry[] {
    return withoutKnownCalls([...this.byKey.values()]);
  }

  get calls() {
    return this.entries.filter((entry) => entry.kind === "model_call");
  }

  of<K extends TranscriptEntry["kind"]>(kind: K) {
    return this.entries.filter((entry): entry is Extract<TranscriptEntry, { kind: K }> => entry.kind === kind);
  }

  get tokens() {
    const sum = (kind: "input" | "output"): number => this.calls.reduce((n, { usage }) => n + (usage?.[kind] ?? 0), 0);
    return { input: sum("input"), output: sum("output") };
  }
}

/** A session's folder that grows like the agent's. */
class Folder {
  #sequence = 0;
  #journal = 1;
  #lines: string[] = [];
  #tokens = { inputTokens: 0, outputTokens: 0 };
  #ms = T;
  readonly #session: string;

  constructor(session = SESSION) {
    this.#session = session;
    put(join(folderOf(session), "meta.json"), { config: { model_name: "acme-coder-1" } });
    this.generation("turn-0");
  }

  get path(): string {
    return folderOf(this.#session);
  }

  line(type: string, payload: unknown): this {
    this.#lines.push(`${JSON.stringify({ payload, sequence: ++this.#sequence, type })}\n`);
    put(this.#journalPath(this.#journal), this.#lines.join(""));
    return this;
  }

  input(command: unknown, observations: readonly string[] = []): this {
    this.#ms += 10;
    const input = { command, determinism: { time_unix_ms: this.#ms } };
    return this.line("core_input", { input, transition_shape: { observations } });
  }

  prompt(turn: string, text = "Say hi", more: object = {}): this {
    const content = [{ type: "text", text }];
    return this.input({ type: "user_message", mode: "queue", turn_id: turn, content, ...more }, ["turn_started"]);
  }

  asks(id: string, turn: string, more: object = {}): this {
    return this.line("action_intent", { request: { type: "llm_call", action_id: id, turn_id: turn, ...more } });
  }

  answers(id: string, input: number, output: number, parts: readonly unknown[] = []): this {
    this.#tokens = {
      inputTokens: this.#tokens.inputTokens + input,
      outputTokens: this.#tokens.outputTokens + output,
    };
    const usage = { input_tokens: input, output_tokens: output, cached_input_tokens: 0 };
    const event = { type: "completion_succeeded", action_id: id, result: { parts, usage } };
    return this.line("action_result", { action_id: id, result: event }).input(event);
  }

  ends(): this {
    return this.input({ type: "hook_completed" }, ["turn_completed"]);
  }

  turn(name: string, input: number, output: number): this {
    return this.prompt(name).asks(`ask-${name}`, name).answers(`ask-${name}`, input, output).ends().generation(name);
  }

  /** Writes a generation, and an empty journal for the lines after it. */
  generation(turn: string): this {
    const name = String(this.#sequence).padStart(16, "0");
    const session = {
      createdAt: T,
      updatedAt: this.#ms,
      rootSessionId: SESSION,
      ...(this.#session !== SESSION && { parentSessionId: SESSION }),
      tokenUsage: this.#sequence === 0 ? null : { ...this.#tokens, cachedInputTokens: 0 },
    };
    const snapshot = { session, latestTurn: { id: turn, status: "completed", completedAt: this.#ms } };
    put(join(this.path, "generations", name, "projection-state.json"), { snapshot, snapshot_sequence: this.#sequence });
    put(join(this.path, "CURRENT"), { generation: name, snapshot_sequence: this.#sequence });
    this.#journal = this.#sequence + 1;
    this.#lines = [];
    put(this.#journalPath(this.#journal), "");
    return this;
  }

  /** Deletes all journals except the last ones, as Vibe does. */
  forget(keep: number): this {
    const names = readdirSync(join(this.path, "journal")).sort();
    for (const name of names.slice(0, names.length - keep)) rmSync(join(this.path, "journal", name));
    return this;
  }

  #journalPath(first: number): string {
    return join(this.path, "journal", `${String(first).padStart(16, "0")}.jsonl`);
  }
}

const call = (id: string, name: string, args: object = {}) => ({
  type: "tool_call",
  id,
  name,
  arguments_json: JSON.stringify(args),
});
const runs = (actionId: string, callId: string, name: string, turn = "turn-1") => ({
  request: {
    type: "runtime_builtin_tool_call",
    action_id: actionId,
    call_id: callId,
    turn_id: turn,
    call: { type: "runtime_builtin", name, arguments: {} },
  },
});

describe("deleted journals", () => {
  test("read at each turn's end: each call counts once, and there is no sum", async () => {
    const reading = new Reading();
    const folder = new Folder();
    for (const [at, name] of ["turn-1", "turn-2", "turn-3"].entries()) {
      folder.turn(name, 100 + at, 10 + at).forget(2);
      await reading.read();
    }
    expect(reading.calls.map(({ covers, usage }) => [covers, usage?.input])).toEqual([
      [undefined, 100],
      [undefined, 101],
      [undefined, 102],
    ]);
  });

  test.each([
    ["the first", [2, 3, 4]],
    ["the second", [1, 3, 4]],
    ["the first two", [3, 4]],
    ["all but the last", [4]],
    ["the second and the third", [1, 4]],
  ])("%s reading is missed: the rest of the sum counts, and nothing twice", async (_, readAfter) => {
    const reading = new Reading();
    const folder = new Folder();
    for (const turn of [1, 2, 3, 4]) {
      folder.turn(`turn-${turn}`, 100 * turn, 10 * turn).forget(1);
      if (readAfter.includes(turn)) await reading.read();
    }
    expect(reading.tokens).toEqual({ input: 1000, output: 100 });
    // Another reading finds nothing new
    expect((await reading.read()).tokens).toEqual({ input: 1000, output: 100 });
    // The sum has neither a model nor reasoning
    for (const { model, usage } of reading.calls.filter(({ covers }) => covers !== undefined))
      expect([model, usage?.reasoning]).toEqual([undefined, undefined]);
  });

  test("a journal that is read while it grows counts each call once", async () => {
    const reading = new Reading();
    const folder = new Folder().turn("turn-1", 100, 10).forget(1);
    await reading.read();
    folder.prompt("turn-2").asks("a", "turn-2").answers("a", 200, 20);
    await reading.read();
    folder.asks("b", "turn-2").answers("b", 300, 30).ends();
    await reading.read();
    folder.generation("turn-2");
    expect((await reading.read()).tokens).toEqual({ input: 600, output: 60 });
  });

  test("a session that was killed in its first turn is read from its only journal", async () => {
    new Folder().prompt("turn-1").asks("a", "turn-1").answers("a", 200, 20);
    expect((await new Reading().read()).tokens).toEqual({ input: 200, output: 20 });
  });

  test("a subagent's calls are not in its session's sum", async () => {
    const reading = new Reading();
    const main = new Folder().turn("turn-1", 100, 10).forget(1);
    new Folder("child-0123456789abcdef").turn("child:turn:1", 7, 3);
    expect((await reading.read()).tokens).toEqual({ input: 107, output: 13 });
    main.turn("turn-2", 50, 5).forget(1);
    expect((await reading.read()).tokens).toEqual({ input: 157, output: 18 });
  });
});

describe("prompts", () => {
  test("a message that steers the turn is none, and what the program puts in is not the user's", async () => {
    new Folder()
      .prompt("turn-1", "Say hi")
      .input({ type: "user_message", mode: "steer", turn_id: "turn-s", content: [] }, ["turn_steering_received"])
      .ends()
      .line("command_reserved", { params: { injected: true } })
      .prompt("turn-2", "From a loop");
    const prompts = (await new Reading().read()).of("prompt");
    expect(prompts.map(({ promptKey, origin, length }) => [promptKey, origin, length])).toEqual([
      ["turn-1", "human", 6],
      ["turn-2", "machine", undefined],
    ]);
  });

  test("a turn that a notification started is the program's", async () => {
    new Folder()
      .turn("turn-1", 1, 1)
      .input({ type: "notification" }, ["turn_started"])
      .asks("b", "turn-2")
      .answers("b", 2, 2);
    const reading = await new Reading().read();
    expect(reading.of("prompt").map(({ promptKey, origin }) => [promptKey, origin])).toEqual([
      ["turn-1", "human"],
      ["turn-2", "machine"],
    ]);
    expect(reading.calls.map(({ promptKey }) => promptKey)).toEqual(["turn-1", "turn-2"]);
  });
});

describe("tool calls", () => {
  const ended = (actionId: string, callId: string, result: object, type = "tool_succeeded") => ({
    type,
    action_id: actionId,
    call_id: callId,
    result,
  });
  const statuses = async () =>
    (await new Reading().read()).of("tool_result").map(({ callId, status }) => [callId, status]);

  test("each status; a command that was killed with the agent has none", async () => {
    const ids = ["a", "b", "c", "d"].map((letter) => `call_${letter.repeat(16)}`);
    const [a = "", b = "", c = "", d = ""] = ids;
    const failed = (code: string) => ({ type: "failure", error: { code } });
    const folder = new Folder()
      .prompt("turn-1")
      .asks("ask", "turn-1")
      .answers("ask", 1, 1, [call(a, "bash"), call(b, "read_file"), call(c, "edit"), call(d, "bash")]);
    for (const [at, id] of ids.entries()) folder.line("action_intent", runs(`act-${at}`, id, "file_system.bash"));
    folder
      .input(ended("act-0", a, { structured_content: { returncode: 3, timed_out: false } }))
      .input(ended("act-1", b, failed("not_found"), "tool_failed"))
      .input(ended("act-2", c, failed("tool_denied"), "tool_failed"))
      .input(ended("act-3", d, { structured_content: { returncode: -9, timed_out: false } }));
    expect(await statuses()).toEqual([
      [a, "success"],
      [b, "error"],
      [c, "denied"],
    ]);
  });

  test("a call that a hook refused is denied", async () => {
    const id = `call_${"a".repeat(16)}`;
    new Folder()
      .prompt("turn-1")
      .asks("ask", "turn-1")
      .answers("ask", 1, 1, [call(id, "bash")])
      .line("action_intent", {
        request: {
          type: "hook_call",
          action_id: "hook",
          hook: "pre_tool_call",
          turn_id: "turn-1",
          input: { tool_call: { call_id: id } },
        },
      })
      .input({
        type: "hook_completed",
        action_id: "hook",
        result: { hook: "pre_tool_call", output: { type: "skip" } },
      });
    expect(await statuses()).toEqual([[id, "denied"]]);
  });

  test("calls that run without an action get the status that the model is given", async () => {
    const [a, b] = ["a", "b"].map((letter) => `call_${letter.repeat(16)}`);
    const messages = [
      { role: "tool", tool_call_id: a, outcome: "success" },
      { role: "tool", tool_call_id: b, outcome: "failure" },
    ];
    new Folder()
      .prompt("turn-1")
      .asks("ask", "turn-1")
      .answers("ask", 1, 1, [call(a ?? "", "run_typescript"), call(b ?? "", "bash")])
      .asks("again", "turn-1", { model_input: { messages: { type: "append", messages } } });
    expect(await statuses()).toEqual([
      [a, "success"],
      [b, "error"],
    ]);
  });

  test("ids that the provider counts: each call of the session and of its subagent is another", async () => {
    const child = "child-0123456789abcdef";
    for (const folder of [new Folder(), new Folder(child)]) {
      for (const turn of ["turn-1", "turn-2"]) {
        folder
          .prompt(turn)
          .asks(`${folder.path}-${turn}`, turn)
          .answers(`${folder.path}-${turn}`, 1, 1, [call("call_0", "bash")])
          .line("action_intent", runs(`run-${turn}`, "call_0", "file_system.bash", turn))
          .input(ended(`run-${turn}`, "call_0", { structured_content: { returncode: 0 } }))
          .ends();
      }
      folder.generation("turn-2");
    }
    const reading = await new Reading().read();
    const uses = reading.of("tool_use");
    expect(uses.map(({ givenId, agentId }) => [givenId, agentId])).toEqual([
      ["call_0", undefined],
      ["call_0", undefined],
      ["call_0", child],
      ["call_0", child],
    ]);
    const ids = uses.map(({ callId }) => callId);
    expect(new Set(ids).size).toBe(4);
    expect(reading.of("tool_result").map(({ callId }) => callId)).toEqual(ids);
  });
});

describe("turns", () => {
  const failure = (code: string) => ({
    type: "completion_failed",
    action_id: "ask",
    error: { code, details: { httpStatus: 400 } },
  });

  test("an error ends the turn, or another attempt follows", async () => {
    new Folder()
      .prompt("turn-1")
      .asks("ask", "turn-1")
      .input(failure("model_stream_failed"))
      .asks("next", "turn-1")
      .input({ ...failure("refused"), action_id: "next" }, ["turn_failed"]);
    const errors = (await new Reading().read()).of("model_error");
    expect(errors.map(({ errorType, httpStatus, final }) => [errorType, httpStatus, final])).toEqual([
      ["model_stream_failed", 400, false],
      ["refused", 400, true],
    ]);
  });

  test("an interrupted turn has an interruption; a compaction's request has its purpose", async () => {
    new Folder()
      .prompt("turn-1")
      .asks("short", "turn-1", { purpose: "compaction", trigger: "automatic" })
      .answers("short", 900, 9)
      .input({ type: "hook_completed" }, ["context_compacted"])
      .input({ type: "interrupt" }, ["turn_interrupted"]);
    const reading = await new Reading().read();
    expect(reading.calls.map(({ purpose, usage }) => [purpose, usage?.input])).toEqual([["compaction", 900]]);
    expect(reading.of("compaction").map(({ trigger }) => trigger)).toEqual(["automatic"]);
    expect(reading.of("interruption")).toHaveLength(1);
  });
});

describe("recorded folders", () => {
  const copy = (name: string): void => cpSync(join(CASES, "vibe", name, "transcripts"), home, { recursive: true });

  test("what is left of three turns: prompts, tool calls, ends, and the sum beside the last call", async () => {
    copy("multi-turn");
    const reading = await new Reading().read();
    expect(reading.of("prompt").map(({ origin, length }) => [origin, length])).toEqual([
      ["human", 21],
      ["human", 18],
      ["human", 7],
    ]);
    expect(reading.of("tool_result").map(({ status }) => status)).toEqual(["success", "success"]);
    expect(new Set(reading.of("turn_end").map(({ promptKey }) => promptKey)).size).toBe(3);
    expect(reading.calls.map(({ covers, usage }) => [covers, usage?.input])).toEqual([
      [undefined, 5415],
      ["removed", 20_619],
    ]);
  });

  test("a subagent whose session was deleted is found as that session", async () => {
    copy("subagent");
    const names = readdirSync(unified()).filter((name) => !name.startsWith("."));
    const main = names.find((name) => !name.startsWith("child-")) ?? "";
    const locate = async () =>
      (await locateAll(reader, home, reader.roots(home, {}))).sessions.map(({ sessionId }) => sessionId);
    expect(await locate()).toEqual([main]);
    rmSync(folderOf(main), { recursive: true });
    expect(await locate()).toEqual([main]);
    const reading = await new Reading().read(main);
    expect(reading.calls.every(({ agentId }) => agentId?.startsWith("child-") === true)).toBe(true);
    expect(reading.tokens).toEqual({ input: 4314, output: 101 });
  });

  test("a line that a resumed process writes again counts once", async () => {
    copy("basic");
    const reading = await new Reading().read("89e9dd34-0de7-30e0-e2e6-9336bea41ef3");
    const before = reading.tokens;
    const folder = join(folderOf("89e9dd34-0de7-30e0-e2e6-9336bea41ef3"), "journal");
    const path = join(folder, readdirSync(folder).sort()[0] ?? "");
    const lines = readFileSync(path, "utf8").trimEnd().split("\n");
    writeFileSync(path, `${[...lines, ...lines.slice(-9)].join("\n")}\n`);
    expect((await reading.read("89e9dd34-0de7-30e0-e2e6-9336bea41ef3")).tokens).toEqual(before);
  });
});
