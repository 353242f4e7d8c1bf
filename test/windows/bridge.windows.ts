// Envelopes for the commands of .openhook.json, which cmd runs.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { NODE, newProfile, onDisk, otel, runAll, type Step } from "./lab.ts";

const PROJECT = "C:\\work\\bridged shop";
const FOLDER = onDisk("work", "bridged shop");
const TYPES = ["session.start", "prompt.submit", "tool.start", "tool.end", "session.end"];

/** A command that keeps what it gets, and its folder and environment. */
const KEEP = `const { appendFileSync, readFileSync } = require("fs");
appendFileSync("got.jsonl", readFileSync(0));
appendFileSync("seen.jsonl", JSON.stringify({ folder: process.cwd(), secret: process.env.AWS_SECRET ?? null }) + "\\n");
`;

test("every envelope arrives once, in order, in the file's folder; a command that hangs is killed with what it started", () => {
  const { env } = newProfile("bridge");
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(join(FOLDER, "keep.cjs"), KEEP);
  writeFileSync(join(FOLDER, "late.cjs"), `setTimeout(() => require("fs").writeFileSync("late.txt", ""), 20_000);\n`);
  // A repository's program of a system's name. Wine's cmd starts a node.cmd here although the bridge forbids it: it does not know
  // NoDefaultCurrentDirectoryInExePath
  writeFileSync(join(FOLDER, "taskkill.cmd"), "@echo started> started.txt\r\n");
  const hooks = [
    { command: "node keep.cjs" },
    { command: "node late.cjs & rem", events: ["session.end"], async: true },
    { command: "echo no & exit 3", events: ["session.start"] },
  ];
  const file = join(FOLDER, ".openhook.json");
  writeFileSync(file, JSON.stringify({ openhook: "0.1", hooks }));
  const secret = { ...env, AWS_SECRET: "s3cret" };
  const hook = (fields: Readonly<Record<string, unknown>>): Step => ({
    argv: [NODE, `${env.LOCALAPPDATA}\\openhook-otel\\hook.cjs`, "--source", "claude-code", "--drain", "no"],
    env: secret,
    stdin: JSON.stringify({ session_id: "bridged", cwd: PROJECT, ...fields }),
  });
  const tool = { tool_name: "Bash", tool_use_id: "t1", tool_input: { command: "dir" } };
  const events = [
    hook({ hook_event_name: "SessionStart", source: "startup" }),
    hook({ hook_event_name: "UserPromptSubmit", prompt: "Hello" }),
    hook({ hook_event_name: "PreToolUse", ...tool }),
    hook({ hook_event_name: "PostToolUse", ...tool, tool_response: { stdout: "" } }),
    hook({ hook_event_name: "SessionEnd", reason: "prompt_input_exit" }),
  ];
  const drain = otel(["drain"], { env: secret });
  const results = runAll([
    otel(["enable", "claude-code"], { env }),
    otel(["config", "set", "bridge.timeoutMs", "4000"], { env }),
    otel(["bridge", "allow", "--yes"], { env, cwd: PROJECT }),
    ...events,
    drain,
    otel(["bridge", "--json"], { env, cwd: PROJECT }),
  ]);
  expect(results.map(({ code, stderr }) => [code, stderr])).toEqual(results.map(() => [0, ""]));
  const kept = linesOf("got.jsonl");
  expect(kept.map(({ type }) => type)).toEqual(TYPES);
  expect(new Set(kept.map(({ id }) => id)).size).toBe(TYPES.length);
  expect(linesOf("seen.jsonl")).toEqual(TYPES.map(() => ({ folder: PROJECT, secret: null })));
  const [{ state, commands }] = JSON.parse(results.at(-1)?.stdout ?? "").files;
  expect(state).toBe("allowed");
  expect(commands).toMatchObject([
    { delivered: TYPES.length, queued: 0 },
    { delivered: 0, queued: 1 },
    { delivered: 0, queued: 1 },
  ]);

  // One byte of the file changes: nothing runs until it is allowed again
  writeFileSync(file, `${readFileSync(file, "utf8")} `);
  const [, , changed] = runAll([events[1] ?? drain, drain, otel(["bridge", "--json"], { env, cwd: PROJECT })]);
  expect(JSON.parse(changed?.stdout ?? "").files[0].state).not.toBe("allowed");
  expect(linesOf("got.jsonl")).toHaveLength(TYPES.length);
  expect(existsSync(join(FOLDER, "started.txt"))).toBe(false);
  expect(existsSync(join(FOLDER, "late.txt"))).toBe(false);
});

const linesOf = (name: string): readonly Record<string, unknown>[] =>
  readFileSync(join(FOLDER, name), "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
