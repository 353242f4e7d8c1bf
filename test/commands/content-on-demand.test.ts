// Prompts and calls that a person sees are read from the agent's own file: nothing of them is stored, and what the file contains can
// harm neither the terminal nor the program.
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { explain } from "#commands/explain.ts";
import { report } from "#commands/report.ts";
import { sessions } from "#commands/sessions.ts";
import { show } from "#commands/show.ts";
import { CONTROL, contextAt, SGR } from "../support/context.ts";
import { Replay } from "../support/replay.ts";

const SECRET = `ghp_${"a1B2c3D4e5F6".repeat(3)}`;
const PROMPT = `CANARY-PROMPT <img src=x onerror=alert(1)> \u001b]0;owned\u0007\u001b[2J \u202egnirts ${SECRET}`;
const COMMAND = `echo CANARY-COMMAND \u001b[31mred \u0007 token=${SECRET}`;
const TEXT = { json: false, envelopes: false, titles: true };
const isJsonl = (path: string): boolean => path.endsWith(".jsonl");

let replay: Replay;
let file: string;
beforeEach(async () => {
  replay = new Replay("claude-code", "parallel-tools", {
    edit: (text, path) => (path === "hooks.jsonl" ? text : text.split("\n").map(hostile).join("\n")),
  });
  await collect();
  file = join(
    replay.transcriptRoot,
    readdirSync(replay.transcriptRoot, { recursive: true, encoding: "utf8" }).find(isJsonl) ?? "",
  );
});
afterEach(() => replay.remove());

test("show, explain, report and search show them, without control characters and secrets, and store nothing of them", async () => {
  const texts = [await shown(), await explained(), await found("canary-prompt"), await found("canary-command")];
  texts.push(await reported());
  for (const text of texts) {
    expect(text).toMatch(/CANARY-(?:PROMPT|COMMAND)/);
    expect(text.replace(SGR, "")).not.toMatch(CONTROL);
    expect(text).not.toContain(SECRET);
    expect(text).not.toContain("\u202e");
  }
  expect(texts[0]).toContain("CANARY-PROMPT");
  expect(texts[0]).toContain("CANARY-COMMAND");
  for (const [path, text] of filesOf(replay.places.stateDir)) expect(text, path).not.toContain("CANARY");
});

test("secrets cannot be searched", async () => {
  expect(await found(SECRET)).toMatch(/no session/i);
});

test("JSON documents have none of them, unless they are asked for", async () => {
  expect(await shown({ json: true })).not.toContain("CANARY");
  const { turns, tool_calls: calls } = JSON.parse(await shown({ json: true, withContent: true }));
  expect(turns.map(({ content }: Line) => content)).toEqual([expect.stringContaining("CANARY-PROMPT")]);
  expect(calls.map(({ content }: Line) => content)).toContainEqual(expect.stringContaining("CANARY-COMMAND"));
  expect(JSON.stringify([turns, calls])).not.toContain(SECRET);
  await expect(shown({ withContent: true })).rejects.toThrow("--with-content is for --json");
  const { context, out } = contextAt(replay.places);
  await explain(undefined, { json: true, refresh: false, titles: true }, context);
  expect(out()).not.toContain("CANARY");
});

test.each([
  ["display.content is off", { display: { content: "off" } }],
  ["capture is none", { capture: "none" }],
])("nothing is read if %s", async (_, config) => {
  rmSync(replay.places.stateDir, { recursive: true });
  mkdirSync(dirname(replay.places.configPath), { recursive: true });
  writeFileSync(replay.places.configPath, JSON.stringify(config));
  await collect();
  expect(await shown()).not.toContain("CANARY");
  expect(await explained()).not.toContain("CANARY");
  expect(await reported()).not.toContain("CANARY");
  expect(await found("canary-prompt")).toMatch(/no session/i);
});

test("a file that is gone, shorter, longer, or ends in a very long line takes nothing away but the texts", async () => {
  const whole = await shown();
  appendFileSync(file, `{"type":"user","message":{"role":"user","content":"${"x".repeat(20 << 20)}`);
  expect(await shown()).toBe(whole);
  truncateSync(file, statSync(file).size >> 12);
  expect(await shown()).toContain("Turn 1");
  rmSync(file);
  const gone = await shown();
  expect(gone).toContain("Turn 1");
  expect(gone).not.toContain("CANARY");
});

// --- internal ---

async function collect(): Promise<void> {
  for (const call of replay.calls) replay.put(call);
  await replay.drain({ endIdle: true });
}

/** A line of the transcript, in which the person and the model are hostile. */
function hostile(line: string): string {
  if (line === "") return line;
  const record = JSON.parse(line) as Record_;
  if (record.type === "user" && typeof record.message?.content === "string") record.message.content = PROMPT;
  if (Array.isArray(record.message?.content))
    for (const block of record.message.content) if (block.input?.command !== undefined) block.input.command = COMMAND;
  return JSON.stringify(record);
}

interface Record_ {
  readonly type?: string;
  readonly message?: { content?: string | readonly { readonly input?: { command?: string } }[] };
}

interface Line {
  readonly content: string | null;
}

async function shown(options: { readonly json?: boolean; readonly withContent?: boolean } = {}): Promise<string> {
  const { context, out } = contextAt(replay.places);
  expect(await show(undefined, { ...TEXT, ...options }, context)).toBe(0);
  return out();
}

async function reported(): Promise<string> {
  const { context, out } = contextAt(replay.places, { env: { COLUMNS: "160" } });
  const options = { json: false, csv: false, refresh: false, titles: true, since: "2020-01-01" };
  expect(await report(["session"], options, context)).toBe(0);
  return out();
}

async function explained(): Promise<string> {
  const { context, out } = contextAt(replay.places);
  expect(await explain(undefined, { json: false, refresh: false, titles: true }, context)).toBe(0);
  return out();
}

async function found(search: string): Promise<string> {
  const { context, out } = contextAt(replay.places);
  await sessions({ json: false, limit: 10, search, titles: true }, context);
  return out();
}

/** Every file below a folder, as text. */
const filesOf = (folder: string): readonly (readonly [path: string, text: string])[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => [path, readFileSync(path, "latin1")] as const);
