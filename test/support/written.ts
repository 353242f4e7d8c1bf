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
  "claude-code": (of) => {
    const blocks = linesBelow(of, ".jsonl").flatMap((line) =>
      list(at(line, "message", "content")).map((block) => ({
        block,
        id: at(line, "message", "id"),
        by: at(line, "type"),
      })),
    );
    const texts = blocks.filter(({ by, block }) => by === "assistant" && at(block, "type") === "text");
    const ofType = (type: string) => blocks.map(({ block }) => block).filter((block) => at(block, "type") === type);
    return {
      answers: unique(texts, ({ id, block }) => `${id}${at(block, "text")}`).map(({ block }) =>
        text(at(block, "text")),
      ),
      calls: callsOf(
        ofType("tool_use").map((block) => [at(block, "id"), at(block, "input")]),
        ofType("tool_result").map((block) => [at(block, "tool_use_id"), plain(at(block, "content"))]),
      ),
    };
  },
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
  opencode: inDatabase,
  kilo: inDatabase,
};

/** OpenCode's database, and those of programs that are built from its code. */
function inDatabase(of: Replay): Written {
  const db = new Libsql(filesBelow(of.home, `${of.source}.db`)[0] ?? "", {});
  const rows = db
    .prepare("SELECT m.data AS message, p.data AS part FROM part p JOIN message m ON m.id = p.message_id")
    .all();
  db.close();
  const parts = rows.map((row) => ({
    role: at(JSON.parse(text(at(row, "message"))), "role"),
    part: JSON.parse(text(at(row, "part"))) as unknown,
  }));
  const tools = parts.map(({ part }) => part).filter((part) => at(part, "type") === "tool");
  return {
    answers: parts
      .filter(({ role, part }) => role === "assistant" && at(part, "type") === "text")
      .map(({ part }) => text(at(part, "text"))),
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
    default: {
      const fromHooks = of.calls
        .filter(({ event }) => /prompt|^BeforeAgent$/i.test(event))
        .filter(({ stdin }) => at(stdin, "agentId") === undefined)
        .flatMap(({ stdin }) => (typeof at(stdin, "prompt") === "string" ? [text(at(stdin, "prompt"))] : []));
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

type Pairs = readonly (readonly [unknown, unknown])[];

const callsOf = (given: Pairs, results: Pairs): Written["calls"] => {
  const ended = new Map(results.flatMap(([id, result]) => (text(result) === "" ? [] : [[id, text(result)]])));
  return new Map(given.map(([id, value]) => [text(id), { given: value, result: ended.get(id) }]));
};

const unique = <T>(items: readonly T[], key: (item: T) => string): readonly T[] => [
  ...new Map(items.map((item) => [key(item), item])).values(),
];

const linesBelow = (of: Replay, end: string): readonly unknown[] =>
  filesBelow(of.home, end).flatMap((path) =>
    readFileSync(path, "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as unknown),
  );

/** pi's messages, including those of its helpers, which are in a tool's result. */
const piMessages = (of: Replay): readonly unknown[] =>
  linesBelow(of, ".jsonl").flatMap((line) => {
    const results = list(at(line, "message", "details", "results"));
    return [at(line, "message"), ...results.flatMap((result) => list(at(result, "messages")))];
  });

const clineMessages = (of: Replay): readonly unknown[] =>
  filesBelow(of.home, ".messages.json").flatMap((path) => list(at(JSON.parse(readFileSync(path, "utf8")), "messages")));

function filesBelow(folder: string, end: string): readonly string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(end))
    .map((entry) => join(entry.parentPath, entry.name));
}
