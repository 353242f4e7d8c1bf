import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import Libsql from "libsql";
import type { Replay } from "./replay.ts";

/** What an agent wrote in a recording, parsed independently of the program's readers. */
export interface Written {
  readonly answers: readonly string[];
  /** By call id. `result` is absent, and not compared, if it is not text. */
  readonly calls: ReadonlyMap<string, { readonly given: unknown; readonly result: string | undefined }>;
}

export const WRITTEN: Readonly<Record<string, (of: Replay) => Written>> = {
  "claude-code": inBlocks,
  droid: inBlocks,
  codex: (of) => {
    const items = linesBelow(of, ".jsonl")
      .filter((line) => at(line, "type") === "response_item")
      .map((line) => at(line, "payload"));
    const ending = (end: string) => items.filter((item) => text(at(item, "type")).endsWith(end));
    return {
      answers: items
        .filter((item) => at(item, "type") === "message" && at(item, "role") === "assistant")
        .map((item) => plain(at(item, "content")) ?? ""),
      calls: callsOf(
        ending("_call").map((item) => [
          at(item, "call_id"),
          at(item, "arguments") === undefined ? at(item, "input") : JSON.parse(text(at(item, "arguments")) || "{}"),
        ]),
        ending("_output").map((item) => [at(item, "call_id"), plain(at(item, "output"))]),
      ),
    };
  },
  "gemini-cli": (of) => {
    const messages = linesBelow(of, ".jsonl").filter((line) => at(line, "type") === "gemini");
    const calls = messages.flatMap((message) => list(at(message, "toolCalls")));
    const spoken = messages.filter((message) => plain(at(message, "content")) && at(message, "tokens"));
    return {
      answers: unique(spoken, (message) => text(at(message, "id"))).map(
        (message) => plain(at(message, "content")) ?? "",
      ),
      calls: callsOf(
        calls.map((call) => [at(call, "id"), at(call, "args")]),
        calls.map((call) => {
          const response = at(call, "result", 0, "functionResponse", "response");
          return [at(call, "id"), at(response, "output") ?? at(response, "error")];
        }),
      ),
    };
  },
  copilot: (of) => {
    const events = linesBelow(of, "events.jsonl");
    const data = (type: string) => events.filter((line) => at(line, "type") === type).map((line) => at(line, "data"));
    return {
      answers: data("assistant.message")
        .map((one) => text(at(one, "content")))
        .filter((answer) => answer !== ""),
      calls: callsOf(
        data("tool.execution_start").map((one) => [at(one, "toolCallId"), at(one, "arguments")]),
        data("tool.execution_complete").map((one) => [at(one, "toolCallId"), at(one, "result", "content")]),
      ),
    };
  },
  cline: (of) => {
    const blocks = clineMessages(of).flatMap((message) =>
      list(at(message, "content")).map((block) => ({ block, by: at(message, "role") })),
    );
    const uses = blocks.filter(({ block }) => at(block, "type") === "tool_use");
    return {
      answers: blocks
        .filter(({ block, by }) => by === "assistant" && at(block, "type") === "text")
        .map(({ block }) => text(at(block, "text"))),
      calls: callsOf(
        uses.map(({ block }) => [at(block, "id"), at(block, "input")]),
        [],
      ),
    };
  },
  pi: (of) => {
    const messages = piMessages(of);
    const blocks = messages
      .filter((message) => at(message, "role") === "assistant")
      .flatMap((message) => list(at(message, "content")));
    return {
      answers: blocks.filter((block) => at(block, "type") === "text").map((block) => text(at(block, "text"))),
      calls: callsOf(
        blocks
          .filter((block) => at(block, "type") === "toolCall")
          .map((block) => [at(block, "id"), at(block, "arguments")]),
        messages
          .filter((message) => at(message, "role") === "toolResult")
          .map((message) => [at(message, "toolCallId"), plain(at(message, "content"))]),
      ),
    };
  },
  kimi: (of) => {
    const events = linesBelow(of, "wire.jsonl").map((line) => at(line, "event"));
    const calls = withType(events, "tool.call");
    const results = withType(events, "tool.result");
    const parts = withType(events, "content.part").map((event) => at(event, "part"));
    return {
      answers: textsIn(parts),
      calls: callsOf(
        calls.map((call) => [at(call, "toolCallId"), at(call, "args")]),
        results.map((result) => [at(result, "toolCallId"), at(result, "result", "output")]),
      ),
    };
  },
  grok: (of) => {
    const updates = linesBelow(of, "updates.jsonl").map((line) => at(line, "params", "update"));
    const named = (name: string) => updates.filter((update) => at(update, "sessionUpdate") === name);
    return {
      answers: named("agent_message_chunk").map((update) => text(at(update, "content", "text"))),
      calls: callsOf(
        named("tool_call").map((update) => [at(update, "toolCallId"), at(update, "rawInput")]),
        [],
      ),
    };
  },
  "qwen-code": (of) => {
    const parts = linesBelow(of, ".jsonl").flatMap((line) =>
      list(at(line, "message", "parts")).map((part) => ({ part, by: at(line, "type") })),
    );
    const inside = (name: string) => parts.flatMap(({ part }) => at(part, name) ?? []);
    const said = parts.filter(({ by, part }) => by === "assistant" && at(part, "thought") !== true);
    return {
      answers: said.map(({ part }) => text(at(part, "text"))).filter((answer) => answer !== ""),
      calls: callsOf(
        inside("functionCall").map((call) => [at(call, "id"), at(call, "args")]),
        inside("functionResponse").map((one) => [at(one, "id"), at(one, "response", "output")]),
      ),
    };
  },
  openhands: (of) => {
    const events = linesBelow(of, ".json");
    const kind = (name: string) => events.filter((event) => at(event, "kind") === name);
    const said = kind("MessageEvent").filter((event) => at(event, "source") === "agent");
    return {
      answers: [
        ...said.map((event) => plain(at(event, "llm_message", "content"))),
        ...kind("ActionEvent").map((event) => plain(at(event, "thought"))),
      ].flatMap((answer) => answer ?? []),
      calls: callsOf(
        kind("ActionEvent").map((event) => [at(event, "tool_call_id"), at(event, "action")]),
        kind("ObservationEvent").map((event) => [
          at(event, "tool_call_id"),
          plain(at(event, "observation", "content")),
        ]),
      ),
    };
  },
  auggie: (of) => {
    const exchanges = objectsBelow(of, ".json").filter((one) => at(one, "isHistorySummary") !== true);
    const said = exchanges.flatMap((one) => list(at(one, "exchange", "response_nodes")));
    const objects = objectsBelow(of, ".json");
    return {
      answers: said.filter((node) => at(node, "type") === 0).map((node) => text(at(node, "content"))),
      calls: callsOf(
        objects.flatMap((one) =>
          at(one, "input_json") === undefined ? [] : [[at(one, "tool_use_id"), parsed(at(one, "input_json"))]],
        ),
        objects.map((one) => [at(one, "tool_result_node", "tool_use_id"), at(one, "tool_result_node", "content")]),
      ),
    };
  },
  vibe: (of) => {
    const objects = vibeObjects(of);
    const calls = withType(objects, "tool_call");
    return {
      answers: unique(
        objects.filter((one) => at(one, "role") === "assistant").flatMap((one) => textsIn(list(at(one, "content")))),
        (answer) => answer,
      ),
      calls: callsOf(
        calls.map((call) => [at(call, "id"), at(call, "arguments", "value") ?? parsed(at(call, "arguments_json"))]),
        objects.map((one) => [at(one, "tool_call_id"), plain(at(one, "content"))]),
      ),
    };
  },
  crush: (of) => {
    const parts = rowsOf(of, "crush.db", "SELECT role, parts FROM messages").flatMap((row) =>
      list(parsed(at(row, "parts"))).map((part) => ({
        type: at(part, "type"),
        data: at(part, "data"),
        by: at(row, "role"),
      })),
    );
    const named = (type: string) => parts.filter((part) => part.type === type);
    return {
      answers: named("text")
        .filter(({ by }) => by === "assistant")
        .map(({ data }) => text(at(data, "text"))),
      calls: callsOf(
        named("tool_call").map(({ data }) => [at(data, "id"), parsed(at(data, "input"))]),
        named("tool_result").map(({ data }) => [at(data, "tool_call_id"), at(data, "content")]),
      ),
    };
  },
  goose: (of) => {
    const rows = rowsOf(of, "sessions.db", "SELECT role, content_json FROM messages");
    const blocks = (role: string) =>
      rows.filter((row) => at(row, "role") === role).flatMap((row) => list(parsed(at(row, "content_json"))));
    return {
      answers: textsIn(blocks("assistant")),
      calls: callsOf(
        withType(blocks("assistant"), "toolRequest").map((call) => [
          at(call, "id"),
          at(call, "toolCall", "value", "arguments"),
        ]),
        withType(blocks("user"), "toolResponse").map((one) => [
          at(one, "id"),
          plain(at(one, "toolResult", "value", "content")),
        ]),
      ),
    };
  },
  opencode: inOpenCode,
  kilo: inOpenCode,
};

/** Claude Code's lines, and those of agents that write the same. */
function inBlocks(of: Replay): Written {
  const blocks = linesBelow(of, ".jsonl").flatMap((line) =>
    list(at(line, "message", "content")).map((block) => ({
      block,
      id: at(line, "message", "id") ?? at(line, "id"),
      by: at(line, "message", "role"),
    })),
  );
  const texts = blocks.filter(({ by, block }) => by === "assistant" && at(block, "type") === "text");
  const ofType = (type: string) =>
    withType(
      blocks.map(({ block }) => block),
      type,
    );
  return {
    answers: textsIn(unique(texts, ({ id, block }) => `${id}${at(block, "text")}`).map(({ block }) => block)),
    calls: callsOf(
      ofType("tool_use").map((block) => [at(block, "id"), at(block, "input")]),
      ofType("tool_result").map((block) => [at(block, "tool_use_id"), plain(at(block, "content"))]),
    ),
  };
}

/** OpenCode's database, and those of programs that are built from its code. */
function inOpenCode(of: Replay): Written {
  const rows = rowsOf(
    of,
    `${of.source}.db`,
    "SELECT m.data AS message, p.data AS part FROM part p JOIN message m ON m.id = p.message_id",
  );
  const parts = rows.map((row) => ({
    role: at(parsed(at(row, "message")), "role"),
    part: parsed(at(row, "part")),
  }));
  const tools = withType(
    parts.map(({ part }) => part),
    "tool",
  );
  return {
    answers: textsIn(parts.filter(({ role }) => role === "assistant").map(({ part }) => part)),
    calls: callsOf(
      tools.map((part) => [at(part, "callID"), at(part, "state", "input")]),
      tools.map((part) => [at(part, "callID"), at(part, "state", "output") ?? at(part, "state", "error")]),
    ),
  };
}

/** What the user typed: from hooks, else from the transcript. */
export function promptsOf(of: Replay): readonly string[] {
  switch (of.source) {
    case "opencode":
    case "kilo":
      return of.calls
        .filter(({ event, stdin }) => event === "chat.message" && at(stdin, "plugin", "parentID") === undefined)
        .map(({ stdin }) => text(at(stdin, "output", "parts", 0, "text")));
    case "pi":
      return linesBelow(of, ".jsonl").flatMap((line) =>
        at(line, "message", "role") === "user" ? [plain(at(line, "message", "content")) ?? ""] : [],
      );
    case "cline":
      return clineMessages(of).flatMap((message) => {
        const typed = /<user_input[^>]*>([\s\S]*?)<\/user_input>/.exec(plain(at(message, "content")) ?? "")?.[1];
        return typed ?? [];
      });
    case "crush":
      return rowsOf(
        of,
        "crush.db",
        "SELECT parts FROM messages JOIN sessions s ON s.id = session_id WHERE role = 'user' AND parent_session_id IS NULL",
      ).flatMap((row) => list(parsed(at(row, "parts"))).map((part) => text(at(part, "data", "text"))));
    case "droid":
      // Without a parent are what the program itself says and the tasks of helpers
      return linesBelow(of, ".jsonl").flatMap((line) =>
        at(line, "message", "role") === "user" && at(line, "parentId") !== undefined
          ? textsIn(list(at(line, "message", "content")))
          : [],
      );
    case "vibe":
      return vibeObjects(of)
        .filter((one) => at(one, "method") === "turn/start" || at(one, "source") === "turn_start")
        .flatMap((one) => plain(at(one, "content") ?? at(one, "params", "message")) ?? []);
    default: {
      const fromHooks = of.calls
        .filter(({ event }) => /prompt|^BeforeAgent$/i.test(event))
        .filter(({ stdin }) => at(stdin, "agentId") === undefined)
        .flatMap(({ stdin }) => plain(at(stdin, "prompt") ?? at(stdin, "message") ?? at(stdin, "user_prompt")) ?? []);
      if (fromHooks.length > 0) return fromHooks;
      const lines = linesBelow(of, ".jsonl").map((line) => at(line, "payload"));
      return lines.flatMap((line) => (at(line, "type") === "user_message" ? [text(at(line, "message"))] : []));
    }
  }
}

// --- internal ---

/** A nested member, or `undefined` if any part of the path is missing. */
const at = (value: unknown, ...path: readonly (string | number)[]): unknown =>
  path.reduce<unknown>(
    (inner, name) =>
      typeof inner === "object" && inner !== null ? (inner as Readonly<Record<string, unknown>>)[name] : undefined,
    value,
  );

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const text = (value: unknown): string => (typeof value === "string" ? value : "");

function plain(content: unknown): string | undefined {
  if (typeof content === "string") return content === "" ? undefined : content;
  const texts = list(content).flatMap((block) =>
    typeof at(block, "text") === "string" ? [text(at(block, "text"))] : [],
  );
  return texts.length === 0 ? undefined : texts.join("\n");
}

/** The value of a text that is JSON. Some agents write no text for a call without arguments. */
const parsed = (json: unknown): unknown => JSON.parse(text(json) || "{}");

const withType = (items: readonly unknown[], type: string): readonly unknown[] =>
  items.filter((item) => at(item, "type") === type);

const textsIn = (blocks: readonly unknown[]): readonly string[] =>
  withType(blocks, "text").map((block) => text(at(block, "text")));

type Pairs = readonly (readonly [unknown, unknown])[];

const callsOf = (given: Pairs, results: Pairs): Written["calls"] => {
  const ended = new Map(results.flatMap(([id, result]) => (text(result) === "" ? [] : [[id, text(result)]])));
  return new Map(given.map(([id, value]) => [text(id), { given: value, result: ended.get(id) }]));
};

const unique = <T>(items: readonly T[], key: (item: T) => string): readonly T[] => [
  ...new Map(items.map((item) => [key(item), item])).values(),
];

/** The JSON values in files: one in a `.json` file, else one per line. */
const linesBelow = (of: Replay, end: string): readonly unknown[] =>
  filesBelow(of.home, end).flatMap((path) => {
    const read = readFileSync(path, "utf8");
    return (path.endsWith(".json") ? [read] : read.split("\n"))
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as unknown);
  });

/** Every object in the files, however deep, an outer one before those in it. */
const objectsBelow = (of: Replay, end: string): readonly unknown[] => linesBelow(of, end).flatMap(objectsIn);

const objectsIn = (value: unknown): readonly unknown[] =>
  typeof value !== "object" || value === null
    ? []
    : [...(Array.isArray(value) ? [] : [value]), ...Object.values(value).flatMap(objectsIn)];

function rowsOf(of: Replay, name: string, query: string): readonly unknown[] {
  const db = new Libsql(filesBelow(of.home, name)[0] ?? "", {});
  const rows = db.prepare(query).all();
  db.close();
  return rows;
}

/** pi's messages, including those of its helpers, which are in a tool's result. */
const piMessages = (of: Replay): readonly unknown[] =>
  linesBelow(of, ".jsonl").flatMap((line) => {
    const results = list(at(line, "message", "details", "results"));
    return [at(line, "message"), ...results.flatMap((result) => list(at(result, "messages")))];
  });

/** Vibe's journals and, for those it deleted, its lists of what was said. */
const vibeObjects = (of: Replay): readonly unknown[] => [".json", ".jsonl"].flatMap((end) => objectsBelow(of, end));

const clineMessages = (of: Replay): readonly unknown[] =>
  linesBelow(of, ".messages.json").flatMap((file) => list(at(file, "messages")));

function filesBelow(folder: string, end: string): readonly string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(end))
    .map((entry) => join(entry.parentPath, entry.name));
}
